//! Ports for test servers, reserved as in `tests/support/ports.py`: each is locked by a file.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::MetadataExt;

/// Below the ports that the kernel assigns and those that Cubeloom leases to workers.
const FIRST: u16 = 10_000;
const COUNT: u16 = 10_000;

/// A port of this machine that no other test has while the lock is open, here or in a process that inherited
/// it.
#[derive(Debug)]
pub struct Port {
    pub number: u16,
    pub lock: File,
}

/// Reserves a port that is not in use.
///
/// # Errors
/// A message, if there is none or the locks cannot be created.
pub fn reserve() -> Result<Port, String> {
    let owner = fs::metadata("/proc/self").map_err(|error| format!("/proc/self: {error}"))?.uid();
    let folder = std::env::temp_dir().join(format!("cubeloom-test-ports-{owner}"));
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    // Processes that start together have different pids.
    let begin = (std::process::id() % u32::from(COUNT)) as u16;
    for step in 0..COUNT {
        let number = FIRST + (begin + step) % COUNT;
        let path = folder.join(number.to_string());
        let lock = File::create(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        if lock.try_lock().is_ok() && TcpListener::bind((Ipv4Addr::UNSPECIFIED, number)).is_ok() {
            return Ok(Port { number, lock });
        }
    }
    Err(format!("there is no free port from {FIRST} to {}", FIRST + COUNT - 1))
}
