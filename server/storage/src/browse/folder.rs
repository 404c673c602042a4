//! A folder of this machine. All access goes through `cubeloom_files`. So no path leads out of it, nor does a
//! symlink of a task, even if it is swapped at the worst moment.

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

/// Mode of new folders: for the owner only, like those that tasks get.
const FOLDER: u32 = 0o750;

/// A folder that users browse.
#[derive(Debug)]
pub struct Folder {
    dir: Dir,
    /// Uid and gid of new files, if the server can change owners.
    owner: Option<u32>,
}

/// A file opened for reading.
#[derive(Debug)]
pub struct OpenFile {
    pub file: File,
    /// Its length in bytes when it was opened.
    pub size: u64,
    /// Time of the last change, in microseconds since the epoch.
    pub modified_us: i64,
}

impl Folder {
    /// Opens a folder that the server chose; `owner` is the uid and gid of new files in it. Returns `None` if
    /// it does not exist yet.
    ///
    /// # Errors
    /// It is not a folder, or cannot be entered.
    pub fn open(path: &Path, owner: Option<u32>) -> Result<Option<Self>, BrowseError> {
        match Dir::open(path) {
            Ok(dir) => Ok(Some(Self { dir, owner })),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(BrowseError::of(&path.to_string_lossy())(errno)),
        }
    }

    /// Opens a folder that the server chose, and creates it if missing. Its parent must exist, and be
    /// writable by the server only.
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

    /// A subfolder as a separate root: no path leads out of it either.
    ///
    /// # Errors
    /// The folder does not exist.
    pub fn sub(&self, path: &str) -> Result<Self, BrowseError> {
        Ok(Self { dir: self.folder(&clean(path)?)?, owner: self.owner })
    }

    /// The entry at a path; the empty path is the folder itself.
    ///
    /// # Errors
    /// It does not exist, or is outside.
    pub fn entry(&self, path: &str) -> Result<Entry, BrowseError> {
        let path = clean(path)?;
        let found = self.stat(&path)?;
        Ok(Entry::new(path.rsplit('/').next().unwrap_or_default(), &found, false))
    }

    /// Whether a file exists at a path; if the path ends with a slash, whether a non-empty folder does.
    ///
    /// # Errors
    /// This cannot be determined, or the path leads outside.
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
    /// It does not exist, or is not a regular file.
    pub fn file(&self, path: &str) -> Result<OpenFile, BrowseError> {
        let path = clean(path)?;
        // Without NONBLOCK, opening a pipe would wait for a writer.
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

    /// Creates a folder with its missing parents.
    ///
    /// # Errors
    /// An entry of this name exists.
    pub fn make_folder(&self, path: &str) -> Result<(), BrowseError> {
        let path = clean(path)?;
        let (above, name) = split(&path)?;
        let parent = self.parent(above)?;
        let made = parent.make_new(OsStr::new(name), FOLDER, |made| give(made, self.owner));
        made.map(|_| ()).map_err(BrowseError::of_io(&path))
    }

    /// Starts writing a file, which appears once complete. `token` must be unique.
    ///
    /// # Errors
    /// A folder has this name, or the file cannot be written.
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

    /// Removes a file, or a folder recursively. For a symlink, removes only the link.
    ///
    /// # Errors
    /// It does not exist.
    pub fn remove(&self, path: &str) -> Result<(), BrowseError> {
        let path = clean(path)?;
        let (above, name) = split(&path)?;
        self.folder(above)?.remove(OsStr::new(name)).map_err(BrowseError::of_io(&path))
    }

    /// Opens something below; follows symlinks that stay inside.
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

    /// The parent folder of something new, created if missing.
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
