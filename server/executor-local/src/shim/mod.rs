//! The shim: one small process per worker. It outlives the server, records how the worker ended, and
//! completes a stop in progress. It is single-threaded.
//!
//! `flock` on the worker's folder, and the exclusive creation of `started` under it, ensure that a worker
//! runs at most once.

mod cards;
mod disk;
mod fence;
mod now;
mod program;
mod record;
mod streams;
mod supervise;
mod tree;
mod usage;
mod view;
mod watch;

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::OnceLock;

use cubeloom_domain::Timestamp;
use cubeloom_domain::failpoint::hit;
use cubeloom_files::own;
use cubeloom_workers::ends::End;
use rustix::fs::FlockOperation;

use crate::spec::{self, ExitRecord, Note, ShimSpec, Started};
pub(crate) use fence::is_there as has_landlock;
pub(crate) use now::now;
pub(crate) use program::become_user;
use program::{Program, StartError};
pub(crate) use record::RecordFile;
use streams::Streams;
use supervise::Supervisor;
pub(crate) use tree::start_ticks;
pub(crate) use view::{hides_processes, try_it};

/// The first argument that makes `cubeloom` a shim, if no smaller binary is installed next to it.
pub const SHIM_ARG: &str = "__shim";

static SERVER: OnceLock<u32> = OnceLock::new();

/// In a shim, the server that started it: a failpoint kills that process.
#[must_use]
pub fn server_pid() -> Option<u32> {
    SERVER.get().copied()
}

/// Runs one worker to its end. The order arrives over standard input. Returns the exit code.
#[must_use]
pub fn shim_main() -> i32 {
    enter();
    let Some(order) = read_order() else { return spec::CODE_NO_ORDER };
    let _ = SERVER.set(order.server_pid);
    obey(&order)
}

/// Prepares a process to become a shim.
pub(crate) fn enter() {
    let _ = rustix::process::setsid();
    rustix::process::umask(rustix::fs::Mode::WGRP | rustix::fs::Mode::WOTH);
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    supervise::block_signals();
}

/// Runs the worker of an order to its end. Returns the exit code.
pub(crate) fn obey(order: &ShimSpec) -> i32 {
    match run(order) {
        Ok(()) => spec::CODE_DONE,
        Err(Refusal::LostRace) => spec::CODE_LOST_RACE,
        Err(Refusal::Files(error)) => {
            note(order, None, Some(files_sentence(order, &error)));
            spec::CODE_NO_FILES
        }
    }
}

/// Why a shim ran nothing.
enum Refusal {
    /// Another shim has, or had, the worker.
    LostRace,
    /// Its files could not be created.
    Files(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Files(error)
    }
}

/// The order, or `None` if it was incomplete.
fn read_order() -> Option<ShimSpec> {
    let mut text = Vec::with_capacity(8 << 10);
    io::stdin().lock().read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

fn files_sentence(order: &ShimSpec, error: &io::Error) -> String {
    let folder = order.folder.display();
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => format!("the disk of {folder} is full"),
        Some(libc::EROFS) => format!("the file system of {folder} is read-only"),
        _ => format!("the worker's files in {folder} cannot be created: {error}"),
    }
}

/// Everything from the lock to the record.
fn run(order: &ShimSpec) -> Result<(), Refusal> {
    let folder = &order.folder;
    let _lock = take_lock(order)?;
    hit("shim.lock.after");
    if folder.join(spec::STARTED).exists() || folder.join(spec::EXIT).exists() {
        return Err(Refusal::LostRace);
    }
    let streams = Streams::open(order)?;
    let record_file = write_started(order)?;
    hit("shim.started.after");
    let mut supervisor = Supervisor::new(order, streams);
    let record = supervisor.run(|supervisor| work(order, supervisor));
    supervisor.write_series();
    if let Err(error) = streams::mask_outputs(&order.outputs, &order.masks) {
        // Outputs with unmasked secrets are worse than none.
        let _ = own::write(&order.outputs, format!("masking: {error}\n"));
    }
    // Remove the masked copy, which the server reads until now, only after the outputs themselves are masked.
    drop(supervisor);
    record_file.write(&record);
    if let Some(cgroup) = &order.cgroup {
        cgroup.remove();
    }
    // Here and not in the server, which may be gone: it contains secrets.
    if let Some(terminal) = &order.terminal {
        let _ = own::remove_dir_all(&terminal.scratch);
    }
    Ok(())
}

/// Runs setup, then the program.
fn work(order: &ShimSpec, supervisor: &mut Supervisor<'_>) -> (End, Option<Timestamp>) {
    let cannot = |error: StartError| End::CouldNotStart { message: error.sentence() };
    if let Some(Err(error)) = order.cgroup.as_ref().map(|cgroup| cgroup.create(&order.limits)) {
        let message = format!("its control group could not be created: {error}; see `cubeloom check`");
        return (End::CouldNotStart { message }, None);
    }
    if !order.setup.is_empty() {
        let began = Program::new(order, &order.setup).and_then(|program| supervisor.start(&program));
        let ended = match began {
            Ok(pid) => supervisor.wait(pid),
            Err(error) => return (cannot(error.of_setup()), None),
        };
        match ended {
            End::Exit { code: 0 } => {}
            End::Exit { code } => return (End::SetupFailed { code: Some(code), signal: None }, None),
            End::Signal { signal } => return (End::SetupFailed { code: None, signal: Some(signal) }, None),
            other => return (other, None),
        }
        if supervisor.stopping() {
            return (End::NeverRan, None);
        }
    }
    hit("shim.fork.before");
    let pid = match Program::new(order, &order.argv).and_then(|program| supervisor.start(&program)) {
        Ok(pid) => pid,
        Err(error) => return (cannot(error), None),
    };
    let at = now();
    hit("shim.fork.after");
    note(order, Some(at), None);
    (supervisor.wait(pid), Some(at))
}

/// The lock that marks this worker's shim as alive; the kernel releases it when the process ends. It is on
/// the folder, which no worker can open.
fn take_lock(order: &ShimSpec) -> Result<File, Refusal> {
    let lock = own::open(&order.folder)?;
    match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(lock),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(Refusal::LostRace),
        Err(error) => Err(Refusal::Files(error.into())),
    }
}

/// Records the shim of this worker. From here on the worker counts as having run.
fn write_started(order: &ShimSpec) -> Result<RecordFile, Refusal> {
    let pid = rustix::process::getpid().as_raw_nonzero().get();
    let started =
        Started { pid, ticks: start_ticks(pid).unwrap_or(0), at: now(), cgroup: order.cgroup.clone() };
    match RecordFile::create(&order.folder, &started) {
        Ok(file) => Ok(file),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Refusal::LostRace),
        Err(error) => Err(Refusal::Files(error)),
    }
}

/// Sends a message to the server, if it is alive, over the pipe shared by all its shims.
fn note(order: &ShimSpec, started_at: Option<Timestamp>, error: Option<String>) {
    if order.alone {
        let _ = error.map(|error| writeln!(io::stderr(), "{error}"));
        return;
    }
    let note = Note { attempt: order.attempt.clone(), rank: order.rank, started_at, error };
    if let Ok(mut line) = serde_json::to_vec(&note) {
        line.push(b'\n');
        let _ = rustix::io::write(rustix::stdio::stdout(), &line);
    }
}

impl ExitRecord {
    /// A record of a worker that never ran.
    #[must_use]
    pub fn without_run(end: End, stopped: bool, at: Timestamp) -> Self {
        Self { end, stopped, started_at: None, ended_at: at, usage: Default::default() }
    }
}
