//! The one way to touch files where a project may have changed what lies there.
//!
//! A task owns the folders that it writes to. It can put a link, a pipe or another folder in the place of anything in them,
//! also between two system calls of the server. So nothing here takes a path for what was seen at it before: a [`Dir`] is an
//! open folder, everything below is reached from its descriptor by openat2(2), no step leads out of it, and modes and owners
//! are changed through the descriptor of what the same call has made.

pub mod own;

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, ResolveFlags, Stat, Uid};
use rustix::io::Errno;

/// How often a look-up is tried again that something else was renamed past: openat2(2) on `EAGAIN`.
const TRIES: usize = 16;

/// What a symbolic link on the way, or at its end, is worth. Those of `/proc` are never followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// It is refused, with `ELOOP`.
    Refused,
    /// It is followed as long as it stays inside, and refused with `EXDEV` where it does not.
    Inside,
}

/// An open folder. Nothing that is reached from it lies outside.
#[derive(Debug)]
pub struct Dir(OwnedFd);

impl Dir {
    /// Opens a folder whose path the server alone decides on, with all that is above it.
    ///
    /// # Errors
    /// There is none, or it may not be entered.
    pub fn open(path: &Path) -> rustix::io::Result<Self> {
        rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).map(Self)
    }

    /// Opens what lies below, whatever it is; the folder itself for the empty path.
    ///
    /// # Errors
    /// There is none, it lies outside, or is behind a link that is not followed.
    pub fn at(&self, below: &Path, flags: OFlags, links: Links) -> rustix::io::Result<OwnedFd> {
        let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
        let (flags, resolve) = match links {
            Links::Refused => (flags | OFlags::NOFOLLOW, ResolveFlags::NO_SYMLINKS),
            Links::Inside => (flags, ResolveFlags::empty()),
        };
        let resolve = resolve | ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let mut tries = 0;
        loop {
            match rustix::fs::openat2(&self.0, below, flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if tries < TRIES => tries += 1,
                other => return other,
            }
        }
    }

    /// Opens a folder below.
    ///
    /// # Errors
    /// As [`Self::at`]; also where it is no folder.
    pub fn enter(&self, below: &Path, links: Links) -> rustix::io::Result<Self> {
        self.at(below, OFlags::PATH | OFlags::DIRECTORY, links).map(Self)
    }

    /// Opens a plain file for reading. Nothing else is opened so that it would wait for somebody: a pipe, a device.
    ///
    /// # Errors
    /// As [`Self::at`]; `InvalidInput` where it is no plain file.
    pub fn read(&self, below: &Path, links: Links) -> io::Result<File> {
        let found = self.at(below, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY, links)?;
        if FileType::from_raw_mode(rustix::fs::fstat(&found)?.st_mode) != FileType::RegularFile {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"));
        }
        Ok(found.into())
    }

    /// Makes a folder below and those that are missing above it, and opens it. Each that this process has made gets the
    /// mode, whatever the umask, and is passed to `give`; one that a process made that died before it could give it, too.
    ///
    /// # Errors
    /// A link or something else that is no folder is in the way, the path leads upwards, or it cannot be made or given.
    pub fn make(
        &self,
        below: &Path,
        mode: u32,
        give: impl Fn(BorrowedFd<'_>) -> io::Result<()>,
    ) -> io::Result<Self> {
        let mut at = Self(self.0.try_clone()?);
        for part in below.components() {
            let Component::Normal(name) = part else { return Err(leads_out(below)) };
            let made = match at.make_one(name, mode) {
                Ok(()) => true,
                Err(Errno::EXIST) => false,
                Err(errno) => return Err(errno.into()),
            };
            at = at.take_over(name, mode, made, &give)?;
        }
        Ok(at)
    }

    /// Makes one folder in this one, in the same way.
    ///
    /// # Errors
    /// As [`Self::make`]; also where something has that name, which is `AlreadyExists`.
    pub fn make_new(
        &self,
        name: &OsStr,
        mode: u32,
        give: impl Fn(BorrowedFd<'_>) -> io::Result<()>,
    ) -> io::Result<Self> {
        self.make_one(name, mode)?;
        self.take_over(name, mode, true, &give)
    }

    fn make_one(&self, name: &OsStr, mode: u32) -> rustix::io::Result<()> {
        rustix::fs::mkdirat(&self.0, name, Mode::from_raw_mode(mode))
    }

    /// Opens a folder in this one, and sees to its mode and owner if it is as this process makes it.
    fn take_over(
        &self,
        name: &OsStr,
        mode: u32,
        made: bool,
        give: &impl Fn(BorrowedFd<'_>) -> io::Result<()>,
    ) -> io::Result<Self> {
        // Not by its path alone: fchmod(2) wants it open.
        let folder = Self(self.at(Path::new(name), OFlags::RDONLY | OFlags::DIRECTORY, Links::Refused)?);
        let found = rustix::fs::fstat(&folder.0)?;
        if is_as_made(&found, mode) {
            let whole = mode | found.st_mode & 0o2000;
            if made && found.st_mode & 0o7777 != whole {
                rustix::fs::fchmod(&folder.0, Mode::from_raw_mode(whole))?;
            }
            give(folder.0.as_fd())?;
        }
        Ok(folder)
    }

    /// Makes a file in this folder, or opens it, for writing. With `EXCL` in the flags it is a new one, whatever was there.
    ///
    /// # Errors
    /// A link stands there, or it cannot be written.
    pub fn write(&self, name: &OsStr, flags: OFlags, mode: u32) -> io::Result<File> {
        if flags.contains(OFlags::EXCL) {
            match rustix::fs::unlinkat(&self.0, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        // Without NONBLOCK, opening a pipe would wait for somebody who reads from it.
        let flags = flags | OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file =
            rustix::fs::openat(&self.0, name, flags | OFlags::CLOEXEC, Mode::from_raw_mode(mode & 0o7777))?;
        if FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) != FileType::RegularFile {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"));
        }
        Ok(file.into())
    }

    /// Removes what has this name: of a link the link, of a folder all that is in it.
    ///
    /// # Errors
    /// There is none, or it cannot be removed.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.0, name, AtFlags::empty()) {
            // The standard library follows no link below the name; the name itself is found through the descriptor.
            Err(Errno::ISDIR) => {
                std::fs::remove_dir_all(format!("/proc/self/fd/{}/{}", self.0.as_raw_fd(), name.display()))
            }
            other => Ok(other?),
        }
    }

    /// Gives what is in this folder another name there.
    ///
    /// # Errors
    /// A folder that holds something has that name, or it cannot be given.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> rustix::io::Result<()> {
        rustix::fs::renameat(&self.0, from, &self.0, to)
    }

    /// What is known of what has this name here; of a link, of the link.
    ///
    /// # Errors
    /// There is none.
    pub fn stat(&self, name: &OsStr) -> rustix::io::Result<Stat> {
        rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)
    }
}

impl From<Dir> for OwnedFd {
    fn from(dir: Dir) -> Self {
        dir.0
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Gives an open file or folder to this uid, and the gid of the same number; nothing where there is none.
///
/// # Errors
/// This process may not.
pub fn give(what: impl AsFd, user: Option<u32>) -> io::Result<()> {
    let Some(user) = user else { return Ok(()) };
    Ok(rustix::fs::fchown(what, Some(Uid::from_raw(user)), Some(Gid::from_raw(user)))?)
}

/// Whether a folder is as this process's account makes them with this mode: nobody else's, and with no bit that somebody chose.
/// The set-group-ID bit is nobody's choice: a folder has it from the one above.
#[must_use]
pub fn is_as_made(found: &Stat, mode: u32) -> bool {
    const CHOSEN: u32 = 0o5777;
    found.st_uid == rustix::process::geteuid().as_raw() && found.st_mode & CHOSEN & !mode == 0
}

fn leads_out(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("`{}` leads out of the folder", path.display()))
}

#[cfg(test)]
mod tests;
