//! A folder of this machine. Everything is reached from it by `cubeloom_files`, so that neither a path nor a link that a task
//! left behind leads out of it, also when it is exchanged at the worst moment.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;

use cubeloom_files::{Dir, Links, give};
use rustix::fs::{FileType, OFlags, Stat};
use rustix::io::Errno;

use super::entry::{Entry, Kind, modified_us};
use super::path::{clean, split};
use super::{BrowseError, Order, Upload};

/// Folders that are made here: the owner's alone, as those that tasks are given.
const FOLDER: u32 = 0o750;

/// A folder that people look into.
#[derive(Debug)]
pub struct Folder {
    dir: Dir,
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
        match Dir::open(path) {
            Ok(dir) => Ok(Some(Self { dir, owner })),
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
        if let Some(there) = Self::open(path, owner)? {
            return Ok(there);
        }
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(BrowseError::NotFound(shown.into()));
        };
        let above = Dir::open(above).map_err(BrowseError::of(&shown))?;
        let dir = above.make(Path::new(name), FOLDER, |made| give(made, owner));
        Ok(Self { dir: dir.map_err(BrowseError::of_io(&shown))?, owner })
    }

    /// A folder below it, as a folder of its own: nothing leads out of that either.
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn sub(&self, path: &str) -> Result<Self, BrowseError> {
        Ok(Self { dir: self.folder(&clean(path)?)?, owner: self.owner })
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
        let made = parent.make_new(OsStr::new(name), FOLDER, |made| give(made, self.owner));
        made.map(|_| ()).map_err(BrowseError::of_io(&path))
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
        let folder = self.parent(above)?.into();
        Upload::begin(folder, name, token, self.owner).map_err(BrowseError::of_io(&path))
    }

    /// Removes a file, or a folder with all that is in it. Of a link, only the link.
    ///
    /// # Errors
    /// When there is no such thing.
    pub fn remove(&self, path: &str) -> Result<(), BrowseError> {
        let path = clean(path)?;
        let (above, name) = split(&path)?;
        self.folder(above)?.remove(OsStr::new(name)).map_err(BrowseError::of_io(&path))
    }

    /// Opens something below; links are followed as long as they stay inside.
    pub(super) fn beneath(&self, path: &str, flags: OFlags) -> Result<OwnedFd, BrowseError> {
        self.dir.at(Path::new(path), flags, Links::Inside).map_err(BrowseError::of(path))
    }

    fn folder(&self, path: &str) -> Result<Dir, BrowseError> {
        self.dir.enter(Path::new(path), Links::Inside).map_err(BrowseError::of(path))
    }

    pub(super) fn stat(&self, path: &str) -> Result<Stat, BrowseError> {
        let fd = self.beneath(path, OFlags::PATH)?;
        rustix::fs::fstat(&fd).map_err(BrowseError::of(path))
    }

    /// The folder that something new goes into; made where it is missing.
    fn parent(&self, path: &str) -> Result<Dir, BrowseError> {
        match self.folder(path) {
            Err(BrowseError::NotFound(_)) => {
                let (above, name) = split(path)?;
                let parent = self.parent(above)?;
                let made = parent.make(Path::new(name), FOLDER, |made| give(made, self.owner));
                made.map_err(BrowseError::of_io(path))
            }
            other => other,
        }
    }
}
