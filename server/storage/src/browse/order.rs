//! Sort orders of a folder's list. Folders come first in each order.

use std::cmp::Reverse;

use super::entry::{Entry, Kind};

/// The sort key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    #[default]
    Name,
    /// File size.
    Size,
    /// Time of the last change.
    Modified,
}

/// An order of a folder's list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// The sort key; ties are sorted by name.
    pub by: By,
    /// Whether the order is reversed.
    pub descending: bool,
}

/// A position in a list: the next page continues after it, even if the entry is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Whether it is not a folder. A symlink to a folder counts as a folder.
    pub file: bool,
    /// The value of the sort key: bytes, microseconds since the epoch, 0 by name.
    pub value: i64,
    pub name: String,
}

/// A comparable position.
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
    /// The sort value of an entry.
    pub(super) fn value(self, entry: &Entry) -> i64 {
        match self {
            Self::Name => 0,
            Self::Size => i64::try_from(entry.size).unwrap_or(i64::MAX),
            Self::Modified => entry.modified_us.unwrap_or(0),
        }
    }
}

impl Entry {
    /// The entry's position in a list sorted by this key.
    #[must_use]
    pub fn place(&self, by: By) -> Place {
        let file = self.kind != Kind::Folder || self.link;
        Place { file, value: by.value(self), name: self.name.clone() }
    }
}
