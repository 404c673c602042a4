//! The only way to access files where a project may have changed the path.
//!
//! A task owns the folders that it writes to. It can replace anything in them by a link, a pipe or another
//! folder, even between two system calls of the server. So nothing here relies on an earlier check of a path.
//! A [`Dir`] is an open folder, and everything below is resolved from its descriptor by openat2(2), which
//! never leaves it. Modes and owners are changed through the descriptor of what the same call has created.

pub mod own;

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, ResolveFlags, Stat, Uid};
use rustix::io::Errno;

/// Number of retries of a look-up that raced with a rename: openat2(2) fails with `EAGAIN` then.
const TRIES: usize = 16;

/// How symbolic links in or at the end of a path are treated. Those of `/proc` are never followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// Rejected with `ELOOP`.
    Refused,
    /// Followed as long as they stay inside, otherwise rejected with `EXDEV`.
    Inside,
}

/// An open folder. Nothing outside can be reached from it.
#[derive(Debug)]
pub struct Dir(OwnedFd);

impl Dir {
    /// Opens a folder whose path, including its parents, is controlled by the server only.
    ///
    /// # Errors
    /// It does not exist, or access is denied.
    pub fn open(path: &Path) -> rustix::io::Result<Self> {
        rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).map(Self)
    }

    /// Opens anything below; the folder itself for the empty path.
    ///
    /// # Errors
    /// It does not exist, is outside, or is behind a link that is not followed.
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
    /// As [`Self::at`]; also if it is not a folder.
    pub fn enter(&self, below: &Path, links: Links) -> rustix::io::Result<Self> {
        self.at(below, OFlags::PATH | OFlags::DIRECTORY, links).map(Self)
    }

    /// Opens a regular file for reading. A pipe or a device is not opened in a way that could block.
    ///
    /// # Errors
    /// As [`Self::at`]; `InvalidInput` if it is not a regular file.
    pub fn read(&self, below: &Path, links: Links) -> io::Result<File> {
        let found = self.at(below, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY, links)?;
        if FileType::from_raw_mode(rustix::fs::fstat(&found)?.st_mode) != FileType::RegularFile {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        Ok(found.into())
    }

    /// Creates a folder below and its missing parents, and opens it. Each folder that this process has
    /// created gets the mode, whatever the umask, and is passed to `give`. So is one whose creator died
    /// before it could do that.
    ///
    /// # Errors
    /// A link or another non-folder is in the way, the path leads upwards, or creation or `give` fails.
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

    /// Creates one folder in this one, in the same way.
    ///
    /// # Errors
    /// As [`Self::make`]; `AlreadyExists` if the name exists.
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

    /// Opens a folder in this one. Sets its mode and owner if it is in the state in which this process
    /// creates it.
    fn take_over(
        &self,
        name: &OsStr,
        mode: u32,
        made: bool,
        give: &impl Fn(BorrowedFd<'_>) -> io::Result<()>,
    ) -> io::Result<Self> {
        // Not opened with `O_PATH`: fchmod(2) requires a regular descriptor.
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

    /// Opens a file in this folder for writing, and creates it if missing. With `EXCL` in the flags, it must
    /// be new.
    ///
    /// # Errors
    /// It is a link, or cannot be written.
    pub fn write(&self, name: &OsStr, flags: OFlags, mode: u32) -> io::Result<File> {
        if flags.contains(OFlags::EXCL) {
            match rustix::fs::unlinkat(&self.0, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        // Without NONBLOCK, opening a pipe would block until a reader opens it.
        let flags = flags | OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file =
            rustix::fs::openat(&self.0, name, flags | OFlags::CLOEXEC, Mode::from_raw_mode(mode & 0o7777))?;
        if FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) != FileType::RegularFile {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        Ok(file.into())
    }

    /// Removes an entry: a link itself, a folder with its content.
    ///
    /// # Errors
    /// It does not exist, or cannot be removed.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.0, name, AtFlags::empty()) {
            // The standard library follows no link below the name; the name itself is resolved through the
            // descriptor.
            Err(Errno::ISDIR) => {
                std::fs::remove_dir_all(format!("/proc/self/fd/{}/{}", self.0.as_raw_fd(), name.display()))
            }
            other => Ok(other?),
        }
    }

    /// Renames an entry of this folder.
    ///
    /// # Errors
    /// The new name is a folder that is not empty, or renaming fails.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> rustix::io::Result<()> {
        rustix::fs::renameat(&self.0, from, &self.0, to)
    }

    /// Metadata of an entry; of a link, the link's own.
    ///
    /// # Errors
    /// It does not exist.
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

/// Changes the owner of an open file or folder to this uid, and its group to the gid of the same number.
/// `None` changes nothing.
///
/// # Errors
/// This process lacks permission.
pub fn give(what: impl AsFd, user: Option<u32>) -> io::Result<()> {
    let Some(user) = user else { return Ok(()) };
    Ok(rustix::fs::fchown(what, Some(Uid::from_raw(user)), Some(Gid::from_raw(user)))?)
}

/// Whether a folder is in the state in which this process's account creates it with this mode: same owner,
/// and no bits set by others. The set-group-ID bit is ignored, because a folder inherits it from its parent.
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
