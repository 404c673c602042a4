//! A folder of this machine. Everything is opened relative to it with `RESOLVE_BENEATH`, so that neither a path nor a
//! link that a task left behind leads out of it, also when it is exchanged at the worst moment.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, ResolveFlags, Stat, Uid};
use rustix::io::Errno;

use super::entry::{Entry, Kind, modified_us};
use super::path::{clean, split};
use super::{BrowseError, Order, Upload};

/// Folders that are made here: the owner's alone, as those that tasks are given.
const FOLDER: Mode = Mode::from_raw_mode(0o750);

/// A folder that people look into.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    /// The uid and gid that new files get, where the server may choose it.
    owner: Option<u32>,
}

/// A file that was opened for reading.
#[derive(Debug)]
pub struct OpenFile {
    /// The file.
    pub file: File,
    /// Its length in bytes when it was opened.
    pub size: u64,
    /// When it was last changed, in microseconds since the epoch.
    pub modified_us: i64,
}

impl Folder {
    /// Opens a folder of the server's own choosing; `owner` is the uid and gid that new files in it get. `None` when
    /// there is no such folder yet.
    ///
    /// # Errors
    /// When it is no folder, or may not be entered.
    pub fn open(path: &Path, owner: Option<u32>) -> Result<Option<Self>, BrowseError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(fd) => Ok(Some(Self { fd, owner })),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(BrowseError::of(&path.to_string_lossy())(errno)),
        }
    }

    /// Opens a folder of the server's own choosing, and makes it first where it is missing. What lies above it must be
    /// there, and the server's alone.
    ///
    /// # Errors
    /// When it cannot be made or entered.
    pub fn make(path: &Path, owner: Option<u32>) -> Result<Self, BrowseError> {
        let shown = path.to_string_lossy();
        match rustix::fs::mkdir(path, FOLDER) {
            Ok(()) => {
                if let Some(owner) = owner {
                    let (uid, gid) = (Some(Uid::from_raw(owner)), Some(Gid::from_raw(owner)));
                    rustix::fs::chown(path, uid, gid).map_err(BrowseError::of(&shown))?;
                }
            }
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(BrowseError::of(&shown)(errno)),
        }
        Self::open(path, owner)?.ok_or_else(|| BrowseError::NotFound(shown.into()))
    }

    /// A folder below it, as a folder of its own: nothing leads out of that either.
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn sub(&self, path: &str) -> Result<Self, BrowseError> {
        let fd = self.beneath(&clean(path)?, OFlags::PATH | OFlags::DIRECTORY)?;
        Ok(Self { fd, owner: self.owner })
    }

    /// What lies at a path; the folder itself at the empty one.
    ///
    /// # Errors
    /// When nothing does, or it lies outside.
    pub fn entry(&self, path: &str) -> Result<Entry, BrowseError> {
        let path = clean(path)?;
        let found = self.stat(&path)?;
        Ok(Entry::new(path.rsplit('/').next().unwrap_or_default(), &found, false))
    }

    /// Whether there is a file at a path; where it ends with a slash, whether there is a folder that holds something.
    ///
    /// # Errors
    /// When that cannot be seen, or lies outside.
    pub fn holds(&self, path: &str) -> Result<bool, BrowseError> {
        let found = match path.strip_suffix('/') {
            Some(folder) => self.list(folder, Order::default(), None, 1).map(|found| !found.is_empty()),
            None => self.entry(path).map(|found| found.kind == Kind::File),
        };
        match found {
            Err(BrowseError::NotFound(_) | BrowseError::NotAFolder(_) | BrowseError::NotAFile(_)) => {
                Ok(false)
            }
            other => other,
        }
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// When there is none, or it is no plain file.
    pub fn file(&self, path: &str) -> Result<OpenFile, BrowseError> {
        let path = clean(path)?;
        // Without NONBLOCK, opening a pipe would wait for somebody who writes to it.
        let fd = self.beneath(&path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        let found = rustix::fs::fstat(&fd).map_err(BrowseError::of(&path))?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => Ok(OpenFile {
                file: fd.into(),
                size: u64::try_from(found.st_size).unwrap_or(0),
                modified_us: modified_us(&found),
            }),
            FileType::Directory => Err(BrowseError::NotAFile(path)),
            _ => Err(BrowseError::Special(path)),
        }
    }

    /// Makes a folder, with those that are missing above it.
    ///
    /// # Errors
    /// When there is something of this name already.
    pub fn make_folder(&self, path: &str) -> Result<(), BrowseError> {
        let path = clean(path)?;
        let (above, name) = split(&path)?;
        let parent = self.parent(above)?;
        self.make_in(&parent, name).map_err(BrowseError::of(&path))
    }

    /// Begins to write a file; it appears when it is whole. `token` must be unique.
    ///
    /// # Errors
    /// When a folder is in its place, or it cannot be written.
    pub fn upload(&self, path: &str, token: &str) -> Result<Upload, BrowseError> {
        let path = clean(path)?;
        let (above, name) = split(&path)?;
        match self.stat(&path).map(|found| FileType::from_raw_mode(found.st_mode)) {
            Ok(FileType::Directory) => return Err(BrowseError::NotAFile(path)),
            Ok(FileType::RegularFile) | Err(BrowseError::NotFound(_)) => {}
            Ok(_) => return Err(BrowseError::Special(path)),
            Err(error) => return Err(error),
        }
        Upload::begin(self.parent(above)?, name, token, self.owner).map_err(BrowseError::of(&path))
    }

    /// Removes a file, or a folder with all that is in it. Of a link, only the link.
    ///
    /// # Errors
    /// When there is no such thing.
    pub fn remove(&self, path: &str) -> Result<(), BrowseError> {
        let path = clean(path)?;
        let (above, name) = split(&path)?;
        let parent = self.beneath(above, OFlags::PATH | OFlags::DIRECTORY)?;
        match rustix::fs::unlinkat(&parent, name, AtFlags::empty()) {
            // The standard library follows no link below the name; the name itself is found through the descriptor.
            Err(Errno::ISDIR) => {
                let place = format!("/proc/self/fd/{}/{name}", parent.as_raw_fd());
                std::fs::remove_dir_all(place).map_err(BrowseError::of_io(&path))
            }
            other => other.map_err(BrowseError::of(&path)),
        }
    }

    /// Opens something below; links are followed as long as they stay inside.
    pub(super) fn beneath(&self, path: &str, flags: OFlags) -> Result<OwnedFd, BrowseError> {
        let inside = if path.is_empty() { "." } else { path };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let opened = loop {
            match rustix::fs::openat2(&self.fd, inside, flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
                Err(Errno::INTR) => {}
                other => break other,
            }
        };
        opened.map_err(BrowseError::of(path))
    }

    pub(super) fn stat(&self, path: &str) -> Result<Stat, BrowseError> {
        let fd = self.beneath(path, OFlags::PATH)?;
        rustix::fs::fstat(&fd).map_err(BrowseError::of(path))
    }

    /// The folder that something new goes into; made where it is missing.
    fn parent(&self, path: &str) -> Result<OwnedFd, BrowseError> {
        match self.beneath(path, OFlags::PATH | OFlags::DIRECTORY) {
            Err(BrowseError::NotFound(_)) => {
                let (above, name) = split(path)?;
                let parent = self.parent(above)?;
                match self.make_in(&parent, name) {
                    Ok(()) | Err(Errno::EXIST) => self.beneath(path, OFlags::PATH | OFlags::DIRECTORY),
                    Err(errno) => Err(BrowseError::of(path)(errno)),
                }
            }
            other => other,
        }
    }

    fn make_in(&self, parent: &OwnedFd, name: &str) -> Result<(), Errno> {
        rustix::fs::mkdirat(parent, name, FOLDER)?;
        match self.owner {
            Some(owner) => {
                let (uid, gid) = (Some(Uid::from_raw(owner)), Some(Gid::from_raw(owner)));
                rustix::fs::chownat(parent, name, uid, gid, AtFlags::SYMLINK_NOFOLLOW)
            }
            None => Ok(()),
        }
    }
}
