//! File paths on pages: breadcrumbs and URL encoding.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// A folder on the path to the current one.
pub(super) struct Crumb {
    pub(super) name: String,
    pub(super) path: String,
}

/// Folders of a path, outermost first.
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

/// Path of an entry in a folder.
pub(super) fn inside(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.into() } else { format!("{folder}/{name}") }
}

/// Encodes a path for a URL's query.
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}
