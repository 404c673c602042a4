//! Pre-started shims: starting a program takes a millisecond, which the next worker saves.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard};

use cubeloom_domain::failpoint::hit;
use rustix::process::{Pid, PidfdFlags};

use crate::config::LocalConfig;
use crate::notes::Notes;
use crate::shim::SHIM_ARG;

/// Number of waiting shims.
const WAITING: usize = 2;

/// A shim with an order.
pub(crate) struct Spawned {
    /// For reaping it.
    pub(crate) child: Child,
    /// For waiting and signalling.
    pub(crate) pidfd: OwnedFd,
}

/// A waiting shim. It ends by itself when the server does.
struct Spare {
    child: Child,
    order: ChildStdin,
    pidfd: OwnedFd,
}

/// The waiting shims.
#[derive(Default)]
pub(crate) struct Spares {
    waiting: Mutex<Vec<Spare>>,
}

impl Spares {
    fn waiting(&self) -> MutexGuard<'_, Vec<Spare>> {
        self.waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Refills the pool. Blocking, and never in a worker's way.
    pub(crate) fn refill(&self, config: &LocalConfig, notes: &Notes) {
        while self.waiting().len() < WAITING {
            match Spare::start(config, notes) {
                Ok(spare) => self.waiting().push(spare),
                Err(error) => return tracing::debug!(%error, "no standby shim can be started"),
            }
        }
    }

    /// Sends an order to a waiting shim, or to a new one. A shim with an incomplete order, cut off by the
    /// server's death, does nothing.
    pub(crate) fn order(&self, config: &LocalConfig, notes: &Notes, order: &[u8]) -> io::Result<Spawned> {
        // A waiting shim may have died meanwhile; then it has run nothing.
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

/// Ends a shim without an order.
fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
