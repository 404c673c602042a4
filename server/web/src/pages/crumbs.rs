//! Paths of files in pages: the way to a folder, and how a path stands in an address.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// A folder on the way to the one that is shown.
pub(super) struct Crumb {
    pub(super) name: String,
    pub(super) path: String,
}

/// The folders of a path, from the outermost.
pub(super) fn crumbs(path: &str) -> Vec<Crumb> {
    let mut so_far = String::new();
    let parts = path.split('/').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            so_far = inside(&so_far, part);
            Crumb { name: part.into(), path: so_far.clone() }
        })
        .collect()
}

/// The path of something in a folder.
pub(super) fn inside(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.into() } else { format!("{folder}/{name}") }
}

/// A path in the query of an address.
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}
