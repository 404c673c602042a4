//! How a worker ended before it was started again, which its folder keeps.

use std::io;
use std::path::Path;

use cubeloom_files::own;

use crate::spec::{EXIT, ExitRecord, STARTED, stop_file};

/// The records of earlier ends are `exit.json.1`, `exit.json.2`, ...
fn name(n: u32) -> String {
    format!("{EXIT}.{n}")
}

/// Makes room for another start: the record is put aside, and the wish to stop goes. In this order: as long as there is a
/// wish, the worker is one that was given back.
///
/// # Errors
/// The folder cannot be written to.
pub(crate) fn put_aside(folder: &Path) -> io::Result<()> {
    let free = (1..).find(|n| !folder.join(name(*n)).exists()).unwrap_or(1);
    for record in [EXIT, STARTED] {
        match own::rename(folder.join(record), folder.join(name(free))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => other?,
        }
    }
    match own::remove_file(stop_file(folder)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// How it ended each time before. Of a time at whose end nobody knows it, there is nothing.
pub(crate) fn exits(folder: &Path) -> Vec<ExitRecord> {
    let read = |n: u32| own::read(folder.join(name(n))).ok();
    let texts = (1..).map_while(read);
    texts.filter_map(|text| serde_json::from_slice(&text).ok()).collect()
}
