//! What the workers of an attempt are at.
//!
//! No process is traced: that needs a privilege that containers do not have (`CAP_SYS_PTRACE`, or a permissive Yama), which
//! py-spy and gdb cannot do without. Instead a program of Python that has `cubeloom` in it, by itself or by the template that
//! started it, writes the frames of all its threads to its log when it gets [`ASKED`] (`faulthandler`), whatever its threads wait for,
//! the interpreter's lock included.
//! Others would end of that signal, also such as catch it: the run-time system of Go catches all. So only a process is asked that
//! says that it answers, by a lock in [`ANSWERING`]. Of the others it is told what the kernel says of their threads.

use std::fmt::Write;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use cubeloom_domain::AttemptKey;
use cubeloom_domain::hang::WorkerStack;
use cubeloom_domain::outcome::WorkerName;
use cubeloom_files::own;
use cubeloom_workers::logs;
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::log_files::{OUTPUTS, workers};
use crate::machine::Machine;
use crate::spec::STDERR;
use crate::start::cgroup;
use crate::watch::processes_of;

/// What a program is asked with. Linux itself never sends it.
const ASKED: Signal = Signal::STKFLT;
/// Where processes say that they answer, below the worker's folder. Each locks the byte that has its number: the kernel knows
/// whose a lock is, and it is gone when its process has ended or has become another program.
const ANSWERING: &str = "work/.cubeloom-answers";
/// Processes of a worker that are looked at, and workers of an attempt.
const PROCESSES: usize = 16;
const WORKERS: usize = 64;
/// Threads of a process that are looked at.
const THREADS: usize = 64;
/// How much is kept of one worker, in bytes.
const KEPT: usize = 32 << 10;
/// How long a program may take to answer, and how long it must have been silent to have answered.
const PATIENCE: Duration = Duration::from_secs(2);
const SILENCE: Duration = Duration::from_millis(200);
/// How long it may take to look at one worker, and at all: who asks waits for little longer, and has nothing then.
const LIMITS: Limits = Limits { worker: Duration::from_secs(5), all: Duration::from_secs(45) };
/// So many workers are looked at together: [`WORKERS`] that take as long as they may are looked at in the time for all.
const AT_ONCE: usize = 8;

/// What is said of a worker of which not all was told.
const LATE: &str = "the rest could not be looked at in time\n";

/// How long it may take.
#[derive(Clone, Copy, Debug)]
struct Limits {
    worker: Duration,
    all: Duration,
}

/// Looks at all workers. Blocking, for seconds.
pub(crate) fn take(machine: &Arc<Machine>, key: &AttemptKey) -> Vec<WorkerStack> {
    let dir = machine.layout.attempt(key);
    let names: Vec<WorkerName> = workers(&dir).unwrap_or_default().into_iter().take(WORKERS).collect();
    let (machine, key) = (Arc::clone(machine), key.clone());
    gather(&names, LIMITS, move |name, until, tell| {
        let folder = dir.join(name.to_string());
        let cgroup = cgroup(&machine, &key, name);
        for pid in processes_of(cgroup.as_ref(), &folder.join(OUTPUTS)).into_iter().take(PROCESSES) {
            if Instant::now() >= until || !tell(look_at(pid, &folder, until)) {
                return false;
            }
        }
        true
    })
}

/// What `look` tells of each worker, piece by piece, until its time is over; it says whether that was all. Each is looked at by a
/// thread of its own: the kernel may keep who reads of a process waiting for as long as that one changes its memory.
fn gather<L>(names: &[WorkerName], limits: Limits, look: L) -> Vec<WorkerStack>
where
    L: Fn(&WorkerName, Instant, &dyn Fn(String) -> bool) -> bool + Send + Sync + 'static,
{
    let (look, end) = (Arc::new(look), Instant::now() + limits.all);
    let mut found = Vec::new();
    for some in names.chunks(AT_ONCE) {
        let until = end.min(Instant::now() + limits.worker);
        let begin = |name: &WorkerName| {
            let (sender, told) = channel();
            let (look, name) = (Arc::clone(&look), name.clone());
            let work = move || {
                if look(&name, until, &|piece| sender.send(Some(piece)).is_ok()) {
                    let _ = sender.send(None);
                }
            };
            let _ = thread::Builder::new().name("stacks".into()).spawn(work);
            told
        };
        let looks: Vec<_> = some.iter().map(begin).collect();
        for (name, told) in some.iter().zip(looks) {
            let left = || until.saturating_duration_since(Instant::now());
            let (mut text, mut is_whole) = (String::new(), false);
            while let Ok(piece) = told.recv_timeout(left()) {
                match piece {
                    Some(piece) => text += &piece,
                    None => is_whole = true,
                }
            }
            let mut text = cut(&text);
            if !is_whole {
                text += LATE;
            }
            if !text.is_empty() {
                found.push(WorkerStack { worker: name.to_string(), text });
            }
        }
    }
    found
}

/// One process, with its threads.
fn look_at(pid: i32, folder: &Path, until: Instant) -> String {
    let said = answer(pid, folder, until);
    let said = if said.is_empty() { threads(pid) } else { said };
    let end = if said.ends_with('\n') { "" } else { "\n" };
    format!("process {pid}: {}\n{said}{end}", name(pid))
}

/// What a process is called: by its program, and by itself where that is not the same. Not its arguments, which may be secrets, and
/// everybody who may see the task reads this.
fn name(pid: i32) -> String {
    let line = own::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    // A process may have written its arguments into the place of its name.
    let word = line.split(|byte| *byte == 0 || byte.is_ascii_whitespace()).next().unwrap_or_default();
    let word = String::from_utf8_lossy(word);
    let program = Path::new(&*word).file_name().unwrap_or_default().to_string_lossy();
    let own = own::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let own = own.trim_end();
    match () {
        () if program.is_empty() => own.to_owned(),
        // The kernel keeps 15 bytes.
        () if program.starts_with(own) => program.into_owned(),
        () => format!("{program} ({own})"),
    }
}

/// Asks a process that has said that it answers, and still does.
fn ask(pid: i32, folder: &Path) -> bool {
    let Some(pid) = Pid::from_raw(pid) else { return false };
    // Opened before the rest is looked at: another process that gets this number meanwhile is not asked.
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    let answers = catches(pid) && has_said(pid, &folder.join(ANSWERING)).unwrap_or(false);
    answers && pidfd_send_signal(&process, ASKED).is_ok()
}

/// Whether a process would not end of it.
fn catches(pid: Pid) -> bool {
    let status = own::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    caught & (1 << (ASKED.as_raw() - 1)) != 0
}

/// Whether a process itself has said that it answers. The file is the worker's, so it may be anything; nothing in it is read.
fn has_said(pid: Pid, path: &Path) -> io::Result<bool> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let number = pid.as_raw_nonzero().get();
    // SAFETY: plain numbers, of which zeros are a value.
    #[allow(unsafe_code)]
    let mut place: libc::flock = unsafe { std::mem::zeroed() };
    (place.l_type, place.l_whence) = (libc::F_WRLCK as _, libc::SEEK_SET as _);
    (place.l_start, place.l_len) = (number.into(), 1);
    // SAFETY: the file is open, and the call fills in `place`, which outlives it. That of rustix takes no lock without a
    // process, which a worker can hold.
    #[allow(unsafe_code)]
    let asked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETLK, &raw mut place) };
    if asked != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(i32::from(place.l_type) != libc::F_UNLCK && place.l_pid == number)
}

/// What a process writes to the worker's log when it is asked.
fn answer(pid: i32, folder: &Path, until: Instant) -> String {
    let log = folder.join(STDERR);
    let from = logs::len(&log).unwrap_or_default();
    if !ask(pid, folder) {
        return String::new();
    }
    let (mut silent, mut length) = (Duration::ZERO, from);
    let step = Duration::from_millis(20);
    let until = until.min(Instant::now() + PATIENCE);
    while Instant::now() < until && (length == from || silent < SILENCE) {
        sleep(step);
        let now = logs::len(&log).unwrap_or(length);
        silent = if now == length { silent + step } else { Duration::ZERO };
        length = now;
    }
    let piece = logs::range(&log, from, KEPT);
    piece.map(|piece| String::from_utf8_lossy(&piece.bytes).into_owned()).unwrap_or_default()
}

/// What the kernel says of the threads of a process.
fn threads(pid: i32) -> String {
    let folder = format!("/proc/{pid}/task");
    let mut all: Vec<i32> = own::read_dir(&folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    all.sort_unstable();
    all.into_iter().take(THREADS).map(|thread| told(&format!("{folder}/{thread}"), thread)).collect()
}

/// One thread: its name, its state, where in the kernel it waits, and how it came there, which only root is told.
fn told(folder: &str, thread: i32) -> String {
    let read = |name: &str| own::read_to_string(format!("{folder}/{name}")).unwrap_or_default();
    let status = read("status");
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.map(|value| value.trim().to_owned()).unwrap_or_default()
    };
    let place = read("wchan");
    let place = if place.is_empty() || place == "0" { String::new() } else { format!(", in {place}") };
    let mut text = format!("  thread {thread} ({}): {}{place}\n", field("Name:"), field("State:"));
    for frame in read("stack").lines() {
        let _ = writeln!(text, "    {frame}");
    }
    text
}

/// The beginning of a text, up to the end of a line.
fn cut(text: &str) -> String {
    if text.len() <= KEPT {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(KEPT);
    let end = text[..end].rfind('\n').map_or(end, |at| at + 1);
    format!("{}…\n", &text[..end])
}

#[cfg(test)]
mod tests;
