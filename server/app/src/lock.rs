//! The lock `engine.lock`: its holder is the engine of the data folder.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use tokio::time::{Instant, sleep};

use crate::paths;

/// Any process that can open the file can lock it: a worker could prevent the next server from starting.
const MODE: u32 = 0o600;

/// The timeout for short-lived holders.
const SOON: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_millis(5);

/// The right to be the engine, until dropped.
#[derive(Debug)]
pub struct EngineLock {
    _file: File,
}

/// Another process is the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its pid, if it has written it already.
    pub pid: Option<u32>,
}

impl EngineLock {
    /// Takes the lock, with a short wait. A client that checks for an engine has it for an instant, and so
    /// has a shim whose server was killed while it started the shim.
    pub async fn take_soon(path: &Path) -> anyhow::Result<Result<Self, Holder>> {
        let deadline = Instant::now() + SOON;
        loop {
            match Self::take(path)? {
                Err(_) if Instant::now() < deadline => sleep(AGAIN).await,
                taken => return Ok(taken),
            }
        }
    }

    /// Takes the lock, if it is free.
    pub fn take(path: &Path) -> anyhow::Result<Result<Self, Holder>> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(MODE)
            .open(path)
            .map_err(|error| refused(path, &error))?;
        // An earlier version created it readable for all. Not every server owns the file that it may lock.
        let _ = file.set_permissions(Permissions::from_mode(MODE));
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
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let lock = EngineLock::take(&path).unwrap().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, MODE);
        assert_eq!(EngineLock::take(&path).unwrap().unwrap_err(), Holder { pid: Some(std::process::id()) });
        drop(lock);
        assert!(EngineLock::take(&path).unwrap().is_ok());
    }

    #[tokio::test]
    async fn who_has_it_only_for_an_instant_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engine.lock");
        let looking = EngineLock::take(&path).unwrap().unwrap();
        let (taken, ()) = tokio::join!(EngineLock::take_soon(&path), async {
            sleep(Duration::from_millis(50)).await;
            drop(looking);
        });
        assert!(taken.unwrap().is_ok());
    }
}
