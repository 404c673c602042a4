//! Shims that wait for an order: starting a program takes a millisecond that the next worker need not wait for.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard};

use cubeloom_domain::failpoint::hit;
use rustix::process::{Pid, PidfdFlags};

use crate::config::LocalConfig;
use crate::notes::Notes;
use crate::shim::SHIM_ARG;

/// So many wait.
const WAITING: usize = 2;

/// A shim that was given its order.
pub(crate) struct Spawned {
    /// To take its exit.
    pub(crate) child: Child,
    /// To wait for it and to signal it.
    pub(crate) pidfd: OwnedFd,
}

/// A shim that waits for its order. It ends by itself when the server does.
struct Spare {
    child: Child,
    order: ChildStdin,
    pidfd: OwnedFd,
}

/// The shims that wait.
#[derive(Default)]
pub(crate) struct Spares {
    waiting: Mutex<Vec<Spare>>,
}

impl Spares {
    fn waiting(&self) -> MutexGuard<'_, Vec<Spare>> {
        self.waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Has as many waiting as there should be. Blocking, and never in a worker's way.
    pub(crate) fn refill(&self, config: &LocalConfig, notes: &Notes) {
        while self.waiting().len() < WAITING {
            match Spare::start(config, notes) {
                Ok(spare) => self.waiting().push(spare),
                Err(error) => return tracing::debug!(%error, "no shim can wait"),
            }
        }
    }

    /// Hands an order to a shim that waits, or to a new one. A shim whose order is cut off by the server's death
    /// does nothing.
    pub(crate) fn order(&self, config: &LocalConfig, notes: &Notes, order: &[u8]) -> io::Result<Spawned> {
        // One that waited may have died meanwhile; then it has run nothing.
        while let Some(spare) = { self.waiting().pop() } {
            if let Ok(spawned) = spare.take(order) {
                return Ok(spawned);
            }
        }
        Spare::start(config, notes)?.take(order)
    }
}

impl Spare {
    fn start(config: &LocalConfig, notes: &Notes) -> io::Result<Self> {
        hit("local.spawn.before");
        let spawned = Command::new(&config.shim)
            .arg(SHIM_ARG)
            .env_clear()
            .envs(&config.shim_env)
            .stdin(Stdio::piped())
            .stdout(notes.write.try_clone()?)
            .stderr(Stdio::null())
            .spawn();
        hit("local.spawn.after");
        let mut child = spawned?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let opened = pid.map(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty()));
        match (opened, child.stdin.take()) {
            (Some(Ok(pidfd)), Some(order)) => Ok(Self { child, order, pidfd }),
            (opened, _) => {
                end(&mut child);
                Err(opened.and_then(Result::err).map_or(io::ErrorKind::Other.into(), Into::into))
            }
        }
    }

    fn take(self, order: &[u8]) -> io::Result<Spawned> {
        let Self { mut child, order: mut pipe, pidfd } = self;
        hit("local.order.before");
        let written = pipe.write_all(order);
        hit("local.order.written");
        drop(pipe);
        hit("local.order.after");
        match written {
            Ok(()) => Ok(Spawned { child, pidfd }),
            Err(error) => {
                end(&mut child);
                Err(error)
            }
        }
    }
}

impl Drop for Spares {
    fn drop(&mut self) {
        self.waiting().iter_mut().for_each(|spare| end(&mut spare.child));
    }
}

/// Ends a shim that has no order.
fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
