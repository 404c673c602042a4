//! Stack traces of an attempt's workers.
//!
//! No process is traced: py-spy and gdb need a privilege that containers lack (`CAP_SYS_PTRACE`, or a
//! permissive Yama). Instead, Python programs with `cubeloom`, imported by themselves or by the template that
//! starts them, handle [`ASKED`] (`faulthandler`). They write the frames of all threads to their log,
//! whatever the threads wait for, even the interpreter's lock. Other programs would die of that signal, even
//! some that catch it: the Go runtime catches all signals. So only processes that declare support, by a lock
//! in [`ANSWERING`], are signalled. For the others, the kernel's information about their threads is reported.

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

/// The signal that requests a trace. Linux itself never sends it.
const ASKED: Signal = Signal::STKFLT;
/// The file in which processes declare support, below the worker's folder. Each locks the byte at its pid.
/// The kernel knows the owner of a lock, and drops it when the process ends or executes another program.
const ANSWERING: &str = "work/.cubeloom-answers";
/// Maximum number of processes per worker, and of workers per attempt.
const PROCESSES: usize = 16;
const WORKERS: usize = 64;
/// Maximum number of threads per process.
const THREADS: usize = 64;
/// Maximum output per worker, in bytes.
const KEPT: usize = 32 << 10;
/// How long a program may take to respond, and how long it must be silent to have finished.
const PATIENCE: Duration = Duration::from_secs(2);
const SILENCE: Duration = Duration::from_millis(200);
/// Timeouts per worker, and in total: the caller waits for little longer, and gets nothing after that.
const LIMITS: Limits = Limits { worker: Duration::from_secs(5), all: Duration::from_secs(45) };
/// Number of concurrent workers: [`WORKERS`] at their timeout fit into the total one.
const AT_ONCE: usize = 8;

/// The note on a worker with an incomplete trace.
const LATE: &str = "the rest did not respond in time\n";

/// Timeouts.
#[derive(Clone, Copy, Debug)]
struct Limits {
    worker: Duration,
    all: Duration,
}

/// Collects the traces of all workers. Blocking, for seconds.
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

/// Collects the output of `look` for each worker, piece by piece, until the timeout; `look` returns whether
/// it was complete. Each worker has its own thread: reading about a process may block in the kernel while
/// that process changes its memory.
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

/// The name of a process: its program, and its own name if that differs. Not its arguments, which may be
/// secrets: every user with access to the task sees this.
fn name(pid: i32) -> String {
    let line = own::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    // A process may have overwritten its name with its arguments.
    let word = line.split(|byte| *byte == 0 || byte.is_ascii_whitespace()).next().unwrap_or_default();
    let word = String::from_utf8_lossy(word);
    let program = Path::new(&*word).file_name().unwrap_or_default().to_string_lossy();
    let own = own::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let own = own.trim_end();
    match () {
        () if program.is_empty() => own.to_owned(),
        // The kernel truncates to 15 bytes.
        () if program.starts_with(own) => program.into_owned(),
        () => format!("{program} ({own})"),
    }
}

/// Signals a process that has declared support, and still does.
fn ask(pid: i32, folder: &Path) -> bool {
    let Some(pid) = Pid::from_raw(pid) else { return false };
    // Open it before the checks: another process that gets this pid meanwhile is not signalled.
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    let answers = catches(pid) && has_said(pid, &folder.join(ANSWERING)).unwrap_or(false);
    answers && pidfd_send_signal(&process, ASKED).is_ok()
}

/// Whether a process would survive the signal.
fn catches(pid: Pid) -> bool {
    let status = own::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    caught & (1 << (ASKED.as_raw() - 1)) != 0
}

/// Whether the process itself has declared support. The file is the worker's, so it may be anything; its
/// content is not read.
fn has_said(pid: Pid, path: &Path) -> io::Result<bool> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let number = pid.as_raw_nonzero().get();
    // SAFETY: plain numbers, for which zero is valid.
    #[allow(unsafe_code)]
    let mut place: libc::flock = unsafe { std::mem::zeroed() };
    (place.l_type, place.l_whence) = (libc::F_WRLCK as _, libc::SEEK_SET as _);
    (place.l_start, place.l_len) = (number.into(), 1);
    // SAFETY: the file is open, and the call fills in `place`, which outlives it. rustix's own function does
    // not accept a lock without a process, which a worker can hold.
    #[allow(unsafe_code)]
    let asked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETLK, &raw mut place) };
    if asked != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(i32::from(place.l_type) != libc::F_UNLCK && place.l_pid == number)
}

/// What a process writes to the worker's log after the signal.
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

/// The kernel's information about the threads of a process.
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

/// One thread: its name, its state, its wait channel, and its kernel stack, which only root can read.
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
