//! Listing a folder, a page at a time.

use std::collections::BinaryHeap;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, DirEntry, FileType, OFlags};

use super::entry::{Entry, Kind, key};
use super::upload::PART;
use super::{BrowseError, Folder, clean};

/// A folder with more entries than this is not put in order: that would take seconds for each of its pages.
const MOST: usize = 1_000_000;

/// An entry that is not described yet: its key, its name, and whether it is a link.
type Found = (String, String, bool);

impl Folder {
    /// At most `limit` entries of a folder, folders first, then by name, that come after the one with the key `after`.
    /// Only these are kept in memory and looked at, however many there are.
    ///
    /// # Errors
    /// When there is no such folder, or it holds more than a million entries.
    pub fn list(&self, path: &str, after: Option<&str>, limit: usize) -> Result<Vec<Entry>, BrowseError> {
        let path = clean(path)?;
        let fd = self.beneath(&path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        // The largest on top: it goes when a smaller one comes.
        let mut page: BinaryHeap<Found> = BinaryHeap::new();
        for (at, entry) in Dir::read_from(&fd).map_err(BrowseError::of(&path))?.enumerate() {
            let entry = entry.map_err(BrowseError::of(&path))?;
            if at > MOST {
                return Err(BrowseError::TooMany { path, most: MOST });
            }
            let Some(found) =
                found(&fd, &entry).filter(|(key, ..)| after.is_none_or(|after| key.as_str() > after))
            else {
                continue;
            };
            if page.len() < limit {
                page.push(found);
            } else if let Some(mut last) = page.peek_mut().filter(|last| found.0 < last.0) {
                *last = found;
            }
        }
        let page = page.into_sorted_vec();
        Ok(page.into_iter().map(|(_, name, link)| self.described(&path, name, link)).collect())
    }

    /// What is told of one entry. It may have gone meanwhile, or be one that is not opened; then only its name is.
    fn described(&self, folder: &str, name: String, link: bool) -> Entry {
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        match self.stat(&path) {
            Ok(found) => Entry::new(&name, &found, link),
            Err(_) => Entry { name, kind: Kind::Other, link, size: 0, modified_us: None },
        }
    }
}

/// An entry, if it is listed: a file that is only being written is not.
fn found(folder: &OwnedFd, entry: &DirEntry) -> Option<Found> {
    let name = entry.file_name().to_string_lossy().into_owned();
    if matches!(&*name, "." | "..") || name.starts_with(PART) {
        return None;
    }
    let kind = match entry.file_type() {
        FileType::Unknown => rustix::fs::statat(folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
            .map_or(FileType::Unknown, |found| FileType::from_raw_mode(found.st_mode)),
        known => known,
    };
    Some((key(kind == FileType::Directory, &name), name, kind == FileType::Symlink))
}
