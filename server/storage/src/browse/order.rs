//! By what the list of a folder is sorted. Folders come before everything else in each order.

use std::cmp::Reverse;

use super::entry::{Entry, Kind};

/// What counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Name.
    #[default]
    Name,
    /// How long a file is.
    Size,
    /// Time of the last change.
    Modified,
}

/// An order of a folder's list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// What counts; of what is the same in it, the name.
    pub by: By,
    /// The last one first.
    pub descending: bool,
}

/// Where something stands in a list: from here on the next page goes on, also when it is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Whether it is no folder. A link to a folder is none.
    pub file: bool,
    /// What counts of it: bytes, microseconds since the epoch, 0 by name.
    pub value: i64,
    /// Name.
    pub name: String,
}

/// A place as it is compared.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    file: bool,
    key: Key,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Up((i64, String)),
    Down(Reverse<(i64, String)>),
}

impl Order {
    pub(super) fn rank(self, place: Place) -> Rank {
        let key = (place.value, place.name);
        Rank { file: place.file, key: if self.descending { Key::Down(Reverse(key)) } else { Key::Up(key) } }
    }
}

impl Rank {
    pub(super) fn into_name(self) -> String {
        match self.key {
            Key::Up((_, name)) | Key::Down(Reverse((_, name))) => name,
        }
    }
}

impl By {
    /// What counts of an entry.
    pub(super) fn value(self, entry: &Entry) -> i64 {
        match self {
            Self::Name => 0,
            Self::Size => i64::try_from(entry.size).unwrap_or(i64::MAX),
            Self::Modified => entry.modified_us.unwrap_or(0),
        }
    }
}

impl Entry {
    /// Its place in a list that is sorted by this.
    #[must_use]
    pub fn place(&self, by: By) -> Place {
        let file = self.kind != Kind::Folder || self.link;
        Place { file, value: by.value(self), name: self.name.clone() }
    }
}
