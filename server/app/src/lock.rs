//! Which process is the engine of a data folder: the one that holds `engine.lock`.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::Path;

use anyhow::Context;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::paths;

/// The right to be the engine, until it is dropped.
#[derive(Debug)]
pub struct EngineLock {
    _file: File,
}

/// Somebody else is the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its process, where it has written that down already.
    pub pid: Option<u32>,
}

impl EngineLock {
    /// Takes the lock, if it is free.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn take(path: &Path) -> anyhow::Result<Result<Self, Holder>> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|error| refused(path, &error))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                write_pid(&mut file).map_err(|error| refused(path, &error))?;
                Ok(Ok(Self { _file: file }))
            }
            Err(Errno::WOULDBLOCK) => {
                let mut text = String::new();
                let _ = file.read_to_string(&mut text);
                Ok(Err(Holder { pid: text.trim().parse().ok() }))
            }
            Err(error) => Err(error).with_context(|| format!("{} cannot be locked", path.display())),
        }
    }
}

fn write_pid(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn refused(path: &Path, error: &std::io::Error) -> anyhow::Error {
    anyhow::anyhow!("{} cannot be written: {}", path.display(), paths::reason(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holder_at_a_time_who_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engine.lock");
        let lock = EngineLock::take(&path).unwrap().unwrap();
        assert_eq!(EngineLock::take(&path).unwrap().unwrap_err(), Holder { pid: Some(std::process::id()) });
        drop(lock);
        assert!(EngineLock::take(&path).unwrap().is_ok());
    }
}
