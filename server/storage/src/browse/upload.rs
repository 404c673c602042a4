//! Atomic file writes.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};

use cubeloom_files::give;
use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags};
use rustix::io::Errno;

use super::BrowseError;

/// Name prefix of unfinished files, which are not listed.
pub(super) const PART: &str = ".cubeloom-part-";
/// Age at which the remains of an upload are abandoned, in seconds since the last write: its server was
/// killed.
const ABANDONED: i64 = 24 * 60 * 60;
const MODE: Mode = Mode::from_raw_mode(0o640);

/// An unfinished file. It has no name until it is complete, so nothing remains if it is dropped or the server
/// is killed. If the file system does not support that, it has a name that is not listed.
#[derive(Debug)]
pub struct Upload {
    folder: OwnedFd,
    part: String,
    /// Whether `part` exists.
    named: bool,
    name: String,
    file: File,
}

impl Upload {
    pub(super) fn begin(folder: OwnedFd, name: &str, token: &str, owner: Option<u32>) -> io::Result<Self> {
        let part = format!("{PART}{token}");
        let (fd, named) = match unnamed(&folder)? {
            Some(fd) => (fd, false),
            None => (make(&folder, &part)?, true),
        };
        let upload = Self { folder, part, named, name: name.into(), file: fd.into() };
        give(&upload.file, owner)?;
        Ok(upload)
    }

    /// Appends to it. Blocking.
    ///
    /// # Errors
    /// The disk is full, or fails.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), BrowseError> {
        self.file.write_all(bytes).map_err(BrowseError::of_io(&self.name))
    }

    /// Moves it into place. Blocking.
    ///
    /// # Errors
    /// The disk fails, or a folder has taken its place.
    pub fn finish(mut self) -> Result<(), BrowseError> {
        let done = self.place();
        done.map_err(BrowseError::of_io(&self.name))
    }

    fn place(&mut self) -> io::Result<()> {
        self.file.sync_all()?;
        if !self.named {
            // Hard links cannot replace a file, but a named file can be renamed over another.
            let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
            rustix::fs::linkat(CWD, own, &self.folder, self.part.as_str(), AtFlags::SYMLINK_FOLLOW)?;
            self.named = true;
        }
        rustix::fs::renameat(&self.folder, self.part.as_str(), &self.folder, self.name.as_str())?;
        self.named = false;
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if self.named {
            let _ = rustix::fs::unlinkat(&self.folder, self.part.as_str(), AtFlags::empty());
        }
    }
}

/// An unnamed file; `None` if the file system does not support it.
fn unnamed(folder: &OwnedFd) -> Result<Option<OwnedFd>, Errno> {
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    match rustix::fs::openat(folder, ".", flags, MODE) {
        Ok(fd) => Ok(Some(fd)),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// A file with this name. Also removes the remains of killed servers next to it.
fn make(folder: &OwnedFd, part: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(folder, part, flags, MODE)?;
    // The file system's own clock, as for the other files' times.
    let now = rustix::fs::fstat(&fd)?.st_mtime;
    remove_older(folder, now.saturating_sub(ABANDONED));
    Ok(fd)
}

/// Removes unfinished files last written before this time, in seconds. A failure only wastes space.
fn remove_older(folder: &OwnedFd, than: i64) {
    let Ok(readable) =
        rustix::fs::openat(folder, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
    else {
        return;
    };
    for entry in Dir::new(readable).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let old = || {
            let found = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
            found.is_ok_and(|found| found.st_mtime < than)
        };
        if name.to_bytes().starts_with(PART.as_bytes()) && old() {
            let _ = rustix::fs::unlinkat(folder, name, AtFlags::empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use super::*;

    fn open(folder: &Path) -> OwnedFd {
        rustix::fs::open(folder, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn nothing_is_there_before_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("data"), "old").unwrap();
        let mut upload = Upload::begin(open(folder.path()), "data", "1", None).unwrap();
        upload.write(b"new").unwrap();
        if !upload.named {
            assert_eq!(names(folder.path()), ["data"], "a kill would leave nothing");
        }
        drop(upload);
        assert_eq!(names(folder.path()), ["data"]);
        let mut upload = Upload::begin(open(folder.path()), "data", "2", None).unwrap();
        upload.write(b"new").unwrap();
        upload.finish().unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("data")).unwrap(), "new");
        assert_eq!(names(folder.path()), ["data"]);
    }

    #[test]
    fn what_killed_servers_left_goes_with_the_next_named_part() {
        let folder = tempfile::tempdir().unwrap();
        let fd = open(folder.path());
        for (name, age) in [("old", 90_000), ("new", 10)] {
            let file = File::create(folder.path().join(format!("{PART}{name}"))).unwrap();
            let modified = SystemTime::UNIX_EPOCH
                + Duration::from_secs(rustix::fs::fstat(file.as_fd()).unwrap().st_mtime as u64);
            file.set_modified(modified - Duration::from_secs(age)).unwrap();
        }
        drop(make(&fd, &format!("{PART}mine")).unwrap());
        assert_eq!(names(folder.path()), [format!("{PART}mine"), format!("{PART}new")]);
    }
}
