//! The server's end of a pseudo-terminal.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use cubeloom_domain::terminal::TerminalSize;
use rustix::fs::{Gid, Mode, Uid};
use rustix::io::Errno;
use rustix::pty::OpenptFlags;
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::descriptor::registered;

/// Read size, in bytes.
const PIECE: usize = 16 << 10;

/// The end that is read from and typed into.
pub(super) struct Pty(AsyncFd<Arc<OwnedFd>>);

impl Pty {
    /// Creates one of this size; returns it and the name of its other end, which belongs to `user`.
    ///
    /// # Errors
    /// The system has no more of them.
    pub(super) fn open(size: TerminalSize, user: Option<u32>) -> io::Result<(Self, PathBuf)> {
        let master = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        rustix::pty::grantpt(&master)?;
        rustix::pty::unlockpt(&master)?;
        let name = rustix::pty::ptsname(&master, Vec::new())?;
        let name = name.into_string().map_err(io::Error::other)?;
        if let Some(user) = user {
            // So that programs like `tmux` may open `/dev/tty` or its name.
            rustix::fs::chown(&name, Some(Uid::from_raw(user)), Some(Gid::from_raw(user)))?;
            rustix::fs::chmod(&name, Mode::RUSR | Mode::WUSR)?;
        }
        tcsetwinsize(&master, winsize(size))?;
        rustix::io::ioctl_fionbio(&master, true)?;
        let pty = registered(&Arc::new(master), Interest::READABLE | Interest::WRITABLE)?;
        Ok((Self(pty), name.into()))
    }

    /// Reads available output, as soon as there is some; empty once the other end is closed.
    pub(super) async fn read(&self) -> io::Result<Vec<u8>> {
        let mut buffer = vec![0; PIECE];
        let read = self.0.async_io(Interest::READABLE, |master| Ok(rustix::io::read(master, &mut buffer)?));
        let count = match read.await {
            Err(error) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => 0,
            other => other?,
        };
        buffer.truncate(count);
        Ok(buffer)
    }

    /// Types all of it.
    pub(super) async fn write(&self, typed: &[u8]) -> io::Result<()> {
        let mut rest = typed;
        while !rest.is_empty() {
            let write = self.0.async_io(Interest::WRITABLE, |master| Ok(rustix::io::write(master, rest)?));
            rest = &rest[write.await?..];
        }
        Ok(())
    }

    pub(super) fn resize(&self, size: TerminalSize) -> io::Result<()> {
        Ok(tcsetwinsize(self.0.get_ref(), winsize(size))?)
    }
}

fn winsize(size: TerminalSize) -> Winsize {
    Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 }
}
