//! Writing a file that appears whole or not at all.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Gid, Mode, OFlags, Uid};
use rustix::io::Errno;

use super::BrowseError;

/// How the names of files that are being written begin. They are not listed.
pub(super) const PART: &str = ".cubeloom-part-";

/// A file that is being written. Dropped before it is finished, it leaves nothing.
#[derive(Debug)]
pub struct Upload {
    folder: OwnedFd,
    part: Option<String>,
    name: String,
    file: File,
}

impl Upload {
    pub(super) fn begin(folder: OwnedFd, name: &str, token: &str, owner: Option<u32>) -> Result<Self, Errno> {
        let part = format!("{PART}{token}");
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&folder, part.as_str(), flags, Mode::from_raw_mode(0o640))?;
        let upload = Self { folder, part: Some(part), name: name.into(), file: fd.into() };
        if let Some(owner) = owner {
            let (uid, gid) = (Some(Uid::from_raw(owner)), Some(Gid::from_raw(owner)));
            rustix::fs::fchown(&upload.file, uid, gid)?;
        }
        Ok(upload)
    }

    /// Adds to it. Blocking.
    ///
    /// # Errors
    /// When the disk is full, or fails.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), BrowseError> {
        self.file.write_all(bytes).map_err(BrowseError::of_io(&self.name))
    }

    /// Puts it in its place. Blocking.
    ///
    /// # Errors
    /// When the disk fails, or a folder has been put in its place.
    pub fn finish(mut self) -> Result<(), BrowseError> {
        let done = self.place();
        done.map_err(BrowseError::of_io(&self.name))
    }

    fn place(&mut self) -> io::Result<()> {
        self.file.sync_all()?;
        if let Some(part) = &self.part {
            rustix::fs::renameat(&self.folder, part.as_str(), &self.folder, self.name.as_str())?;
        }
        self.part = None;
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let Some(part) = self.part.take() {
            let _ = rustix::fs::unlinkat(&self.folder, part.as_str(), AtFlags::empty());
        }
    }
}
