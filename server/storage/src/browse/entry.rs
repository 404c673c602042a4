//! Entries of a folder.

use rustix::fs::{FileType, Stat};

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name, without a slash.
    pub name: String,
    /// Its kind; for a symlink, the target's.
    pub kind: Kind,
    /// Whether it is a symbolic link.
    pub link: bool,
    /// Size, in bytes; 0 for a folder.
    pub size: u64,
    /// Time of the last change, in microseconds since the epoch, if known.
    pub modified_us: Option<i64>,
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A folder.
    Folder,
    /// A regular file.
    File,
    /// A device, a pipe, a socket, or a symlink that is broken or leads out of the accessible area. It is not
    /// opened.
    Other,
}

impl Kind {
    pub(super) fn of(found: FileType) -> Self {
        match found {
            FileType::Directory => Self::Folder,
            FileType::RegularFile => Self::File,
            _ => Self::Other,
        }
    }
}

impl Entry {
    pub(super) fn new(name: &str, found: &Stat, link: bool) -> Self {
        let kind = Kind::of(FileType::from_raw_mode(found.st_mode));
        let size = if kind == Kind::File { u64::try_from(found.st_size).unwrap_or(0) } else { 0 };
        Self { name: name.into(), kind, link, size, modified_us: Some(modified_us(found)) }
    }
}

pub(super) fn modified_us(found: &Stat) -> i64 {
    let nanos = i64::try_from(found.st_mtime_nsec).unwrap_or(0);
    found.st_mtime.saturating_mul(1_000_000).saturating_add(nanos / 1000)
}
