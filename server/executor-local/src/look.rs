//! A worker's state, from its folder. The worker's shim holds a lock on the folder itself.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use cubeloom_files::own;
use cubeloom_workers::place::{MOST_OF_A_RECORD, Place, is_absent};
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags};
use serde::de::DeserializeOwned;

use crate::shim::start_ticks;
use crate::spec::{EXIT, ExitRecord, STARTED, Started};

#[derive(Debug)]
pub(crate) enum Found {
    /// The folder never had a shim.
    Nothing,
    /// A shim holds the lock.
    Running(Shim),
    /// A shim holds the lock and has not recorded itself yet: wait for the lock.
    Locked,
    /// It may have run, and its shim is gone without a record.
    Dead(Option<Started>),
    /// It has ended.
    Done(ExitRecord),
}

/// A live shim.
#[derive(Debug)]
pub(crate) struct Shim {
    /// Its process.
    pub(crate) pidfd: OwnedFd,
    /// Its record from the start.
    pub(crate) started: Started,
}

/// Reads a worker's state from its folder.
pub(crate) fn look(folder: &Path) -> io::Result<Found> {
    if let Some(record) = exit_record(folder) {
        return Ok(Found::Done(record));
    }
    let lock = match own::open(folder) {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(error),
    };
    match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => Ok(living(folder)),
        Err(error) => Err(error.into()),
        Ok(()) => {
            drop(lock);
            Ok(ended(folder))
        }
    }
}

/// The state when no shim holds the lock.
fn ended(folder: &Path) -> Found {
    match exit_record(folder) {
        Some(record) => Found::Done(record),
        None if folder.join(STARTED).exists() => Found::Dead(started(folder)),
        None => Found::Nothing,
    }
}

/// The state when a shim holds the lock.
fn living(folder: &Path) -> Found {
    let Some(started) = started(folder) else { return Found::Locked };
    let pidfd = Pid::from_raw(started.pid)
        .and_then(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok())
        .filter(|_| start_ticks(started.pid) == Some(started.ticks));
    match pidfd {
        Some(pidfd) => Found::Running(Shim { pidfd, started }),
        None => Found::Locked,
    }
}

/// How a worker ended, if it has.
pub(crate) fn exit_record(folder: impl Into<Place>) -> Option<ExitRecord> {
    exit_written(folder).ok().flatten()
}

/// The same, with an error if the record is unreadable at present.
pub(crate) fn exit_written(folder: impl Into<Place>) -> io::Result<Option<ExitRecord>> {
    written(&folder.into().join(EXIT))
}

/// The record of a worker's start.
pub(crate) fn started(folder: impl Into<Place>) -> Option<Started> {
    written(&folder.into().join(STARTED)).ok().flatten()
}

/// Reads a record; `None` if it is missing or invalid.
pub(crate) fn written<T: DeserializeOwned>(place: &Place) -> io::Result<Option<T>> {
    match place.read(MOST_OF_A_RECORD) {
        Ok(text) => Ok(serde_json::from_slice(&text).ok()),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Blocks until no shim holds the worker's lock.
pub(crate) fn wait_for_lock(folder: &Path) -> io::Result<()> {
    let lock = own::open(folder)?;
    rustix::fs::flock(&lock, FlockOperation::LockShared)?;
    Ok(())
}
