//! Listing a folder, a page at a time.

use std::collections::BinaryHeap;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, DirEntry, FileType, OFlags};

use super::entry::{Entry, Kind, key};
use super::upload::PART;
use super::{BrowseError, Folder, clean};

/// A folder with more entries than this is not put in order: that would take seconds for each of its pages.
const MOST: usize = 1_000_000;

#[cfg(test)]
thread_local! {
    /// How many entries this thread has looked at.
    static LOOKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

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
        #[cfg(test)]
        LOOKED.set(LOOKED.get() + 1);
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

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::Path;

    use super::*;

    const FILES: usize = 20_000;

    fn folder(place: &Path) -> Folder {
        for at in 0..FILES {
            // In another order than that of their names.
            File::create(place.join(format!("f{:05}", at * 7919 % FILES))).unwrap();
        }
        fs::create_dir(place.join("zz")).unwrap();
        Folder::open(place, None).unwrap().unwrap()
    }

    #[test]
    fn a_page_of_a_large_folder_keeps_and_describes_only_itself() {
        let place = tempfile::tempdir().unwrap();
        let folder = folder(place.path());
        let first = folder.list("", None, 3).unwrap();
        let names: Vec<&str> = first.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["zz", "f00000", "f00001"], "folders come first");
        let seen = LOOKED.replace(0);
        assert_eq!(seen, 3, "what is not on the page is not looked at");
        let after = first.last().unwrap().key();
        assert_eq!(folder.list("", Some(&after), 200).unwrap().len(), 200);
        assert_eq!(LOOKED.replace(0), 200);
    }

    #[test]
    fn nothing_is_lost_or_told_twice_while_files_come_and_go() {
        let place = tempfile::tempdir().unwrap();
        let folder = folder(place.path());
        let (mut told, mut after): (Vec<String>, Option<String>) = (Vec::new(), None);
        loop {
            let page = folder.list("", after.as_deref(), 900).unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.key());
            told.extend(page.into_iter().map(|entry| entry.name));
            // One that was told goes, one that was not yet told goes, one comes before and one after.
            let at = told.len() - 1;
            if at + 1000 > FILES {
                continue;
            }
            let _ = fs::remove_file(place.path().join(format!("f{:05}", at - 1)));
            let _ = fs::remove_file(place.path().join(format!("f{:05}", at + 500)));
            File::create(place.path().join(format!("f{:05}-before", at - 10))).unwrap();
            File::create(place.path().join(format!("f{:05}-after", at + 700))).unwrap();
        }
        let sorted = told[1..].is_sorted() && told[0] == "zz";
        assert!(sorted && told[1..].windows(2).all(|pair| pair[0] != pair[1]), "in order, and none twice");
        let stayed = |name: &&String| name.len() == 6;
        let plain = told[1..].iter().filter(stayed).count();
        assert!(plain >= FILES - told.len().div_ceil(900), "all that stayed was told: {plain}");
        assert!(
            told.iter().any(|name| name.ends_with("-after"))
                && !told.iter().any(|name| name.ends_with("-before"))
        );
    }
}
