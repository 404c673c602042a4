//! Terminals on this machine: a shell under its own shim, started like the worker that it replaces, in a
//! scratch folder below `terminals/`. The server holds the other end of its pty. When that closes, for
//! whatever reason, the shim kills everything and removes the folder.

mod open;
mod pty;
mod sweep;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use cubeloom_domain::executor::BoxFuture;
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::terminal::{Terminal, TerminalOrder, TerminalSize, Terminals};
use cubeloom_workers::screen::Screen;
use rustix::process::Signal;
use tokio::sync::watch as latch;

use crate::executor::LocalExecutor;
use pty::Pty;
pub(crate) use sweep::sweep;

/// The parent of scratch folders, below the data folder.
pub(crate) const FOLDER: &str = "terminals";

struct LocalTerminal {
    pty: Pty,
    screen: Screen,
    shim: Arc<OwnedFd>,
    /// Becomes true when nothing of it is left.
    gone: latch::Receiver<bool>,
}

impl Terminals for LocalExecutor {
    fn open(&self, order: TerminalOrder) -> BoxFuture<'_, Result<Arc<dyn Terminal>, Failure>> {
        let machine = Arc::clone(&self.machine);
        Box::pin(async move {
            let opened = open::open(machine, order).await?;
            Ok(Arc::new(opened) as Arc<dyn Terminal>)
        })
    }
}

impl LocalTerminal {
    fn hang_up(&self) {
        let _ = rustix::process::pidfd_send_signal(&self.shim, Signal::TERM);
    }
}

impl Terminal for LocalTerminal {
    fn read(&self) -> BoxFuture<'_, io::Result<Vec<u8>>> {
        Box::pin(self.screen.next(|| self.pty.read()))
    }

    fn write<'a>(&'a self, typed: &'a [u8]) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(self.pty.write(typed))
    }

    fn resize(&self, size: TerminalSize) -> BoxFuture<'_, io::Result<()>> {
        Box::pin(std::future::ready(self.pty.resize(size)))
    }

    fn end(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.hang_up();
            let _ = self.gone.clone().wait_for(|gone| *gone).await;
        })
    }
}

impl Drop for LocalTerminal {
    fn drop(&mut self) {
        self.hang_up();
    }
}
