//! Listing a folder, a page at a time.

use rustix::fs::{AtFlags, Dir, FileType, OFlags};

use super::entry::{Entry, Kind, key};
use super::upload::PART;
use super::{BrowseError, Folder, clean};

impl Folder {
    /// At most `limit` entries of a folder, folders first, then by name, that come after the one with the key `after`.
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn list(&self, path: &str, after: Option<&str>, limit: usize) -> Result<Vec<Entry>, BrowseError> {
        let path = clean(path)?;
        let fd = self.beneath(&path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let mut found = Vec::new();
        for entry in Dir::read_from(&fd).map_err(BrowseError::of(&path))? {
            let entry = entry.map_err(BrowseError::of(&path))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if matches!(&*name, "." | "..") || name.starts_with(PART) {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => rustix::fs::statat(&fd, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Unknown, |found| FileType::from_raw_mode(found.st_mode)),
                known => known,
            };
            found.push((key(kind == FileType::Directory, &name), kind, name));
        }
        found.sort_unstable_by(|(a, ..), (b, ..)| a.cmp(b));
        let from = after.map_or(0, |after| found.partition_point(|(key, ..)| key.as_str() <= after));
        let page = found.drain(from..).take(limit);
        Ok(page.map(|(_, kind, name)| self.described(&path, kind, name)).collect())
    }

    /// What is told of one entry. It may have gone meanwhile, or be one that is not opened; then only its name is.
    fn described(&self, folder: &str, kind: FileType, name: String) -> Entry {
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let link = kind == FileType::Symlink;
        match self.stat(&path) {
            Ok(found) => Entry::new(&name, &found, link),
            Err(_) => Entry { name, kind: Kind::Other, link, size: 0, modified_us: None },
        }
    }
}
