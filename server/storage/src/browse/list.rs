//! Lists a folder, page by page.

use std::collections::BinaryHeap;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, DirEntry, FileType, OFlags};

use super::entry::{Entry, Kind};
use super::order::Rank;
use super::upload::PART;
use super::{BrowseError, By, Folder, Order, Place, clean};

/// Maximum number of entries to sort: more would take seconds per page.
const MOST: usize = 1_000_000;

/// The same if every entry needs a stat.
const MOST_LOOKED_AT: usize = 100_000;

#[cfg(test)]
thread_local! {
    /// Number of entries that this thread has run stat on.
    static LOOKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// An entry without details: whether it is not a folder, its name, and whether it is a symlink.
type Found = (bool, String, bool);

impl Folder {
    /// At most `limit` entries of a folder after the position `after` in this order, folders first. Only
    /// these are kept in memory, however many there are; sorted by name, only these need a stat.
    ///
    /// # Errors
    /// The folder does not exist, or has more than a million entries. In an order that needs a stat per
    /// entry, the limit is a hundred thousand.
    pub fn list(
        &self,
        path: &str,
        order: Order,
        after: Option<&Place>,
        limit: usize,
    ) -> Result<Vec<Entry>, BrowseError> {
        let path = clean(path)?;
        let fd = self.beneath(&path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let after = after.map(|after| order.rank(after.clone()));
        let most = if order.by == By::Name { MOST } else { MOST_LOOKED_AT };
        // The largest on top: it is dropped when a smaller one arrives.
        let mut page: BinaryHeap<(Rank, bool)> = BinaryHeap::new();
        for (at, entry) in Dir::read_from(&fd).map_err(BrowseError::of(&path))?.enumerate() {
            let entry = entry.map_err(BrowseError::of(&path))?;
            if at > most {
                return Err(BrowseError::TooMany { path, most });
            }
            let Some((file, name, link)) = found(&fd, &entry) else { continue };
            let value = match order.by {
                By::Name => 0,
                by => by.value(&self.described(&path, name.clone(), link)),
            };
            let rank = order.rank(Place { file, value, name });
            if after.as_ref().is_some_and(|after| rank <= *after) {
                continue;
            }
            if page.len() < limit {
                page.push((rank, link));
            } else if let Some(mut last) = page.peek_mut().filter(|last| rank < last.0) {
                *last = (rank, link);
            }
        }
        let page = page.into_sorted_vec().into_iter();
        Ok(page.map(|(rank, link)| self.described(&path, rank.into_name(), link)).collect())
    }

    /// Details of an entry. It may have vanished, or be of a kind that is not opened; then it has only a
    /// name.
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

/// An entry, if it is listed: unfinished uploads are not.
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
    Some((kind != FileType::Directory, name, kind == FileType::Symlink))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::Path;

    use super::*;

    const FILES: usize = 20_000;

    fn folder(place: &Path) -> Folder {
        for at in 0..FILES {
            // In another order than by name.
            File::create(place.join(format!("f{:05}", at * 7919 % FILES))).unwrap();
        }
        fs::create_dir(place.join("zz")).unwrap();
        Folder::open(place, None).unwrap().unwrap()
    }

    #[test]
    fn a_page_of_a_large_folder_keeps_and_describes_only_itself() {
        let place = tempfile::tempdir().unwrap();
        let folder = folder(place.path());
        let by_name = |after: Option<&Place>, limit| folder.list("", Order::default(), after, limit).unwrap();
        let first = by_name(None, 3);
        let names: Vec<&str> = first.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["zz", "f00000", "f00001"], "folders come first");
        let seen = LOOKED.replace(0);
        assert_eq!(seen, 3, "what is not on the page is not looked at");
        let after = first.last().unwrap().place(By::Name);
        assert_eq!(by_name(Some(&after), 200).len(), 200);
        assert_eq!(LOOKED.replace(0), 200);
    }

    #[test]
    fn nothing_is_lost_or_told_twice_while_files_come_and_go() {
        let place = tempfile::tempdir().unwrap();
        let folder = folder(place.path());
        let (mut told, mut after): (Vec<String>, Option<Place>) = (Vec::new(), None);
        loop {
            let page = folder.list("", Order::default(), after.as_ref(), 900).unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.place(By::Name));
            told.extend(page.into_iter().map(|entry| entry.name));
            // Remove one entry that was listed and one that was not, and add one before and one after.
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

    #[test]
    fn the_pages_of_each_order_are_the_whole_list() {
        let place = tempfile::tempdir().unwrap();
        for at in 0..60_u64 {
            let file = File::create(place.path().join(format!("f{}", at * 37 % 60))).unwrap();
            // Many have equal sizes or times.
            file.set_len(at % 7).unwrap();
            let modified = std::time::UNIX_EPOCH + std::time::Duration::from_secs(at % 5);
            file.set_modified(modified).unwrap();
        }
        for name in ["a", "z"] {
            fs::create_dir(place.path().join(name)).unwrap();
        }
        std::os::unix::fs::symlink("a", place.path().join("link")).unwrap();
        let folder = Folder::open(place.path(), None).unwrap().unwrap();
        for by in [By::Name, By::Size, By::Modified] {
            let pages = |descending: bool, limit: usize| {
                let (mut all, mut after): (Vec<Entry>, Option<Place>) = (Vec::new(), None);
                loop {
                    let page = folder.list("", Order { by, descending }, after.as_ref(), limit).unwrap();
                    let Some(last) = page.last() else { return all };
                    after = Some(last.place(by));
                    all.extend(page);
                }
            };
            let all = pages(false, 1000);
            assert_eq!(all.len(), 63);
            let place = |entry: &Entry| entry.place(by);
            assert!(all.is_sorted_by_key(|entry| (
                place(entry).file,
                place(entry).value,
                entry.name.clone()
            )));
            let turned: Vec<Entry> =
                [&all[..2], &all[2..]].into_iter().flat_map(|part| part.iter().rev().cloned()).collect();
            for limit in [1, 7, 63] {
                assert_eq!(pages(false, limit), all, "{by:?} {limit}");
                assert_eq!(pages(true, limit), turned, "{by:?} {limit}, turned round");
            }
        }
    }
}
