//! Records of a worker's earlier runs, which its folder keeps.

use std::io;
use std::path::Path;

use cubeloom_files::own;

use crate::spec::{EXIT, ExitRecord, STARTED, stop_file};

/// Earlier records are `exit.json.1`, `exit.json.2`, ...
fn name(n: u32) -> String {
    format!("{EXIT}.{n}")
}

/// Prepares another start: renames the record, then deletes the stop request. The order matters: while there
/// is a request, the worker counts as released.
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

/// How each earlier run ended. Runs whose end is unknown are missing.
pub(crate) fn exits(folder: &Path) -> Vec<ExitRecord> {
    let read = |n: u32| own::read(folder.join(name(n))).ok();
    let texts = (1..).map_while(read);
    texts.filter_map(|text| serde_json::from_slice(&text).ok()).collect()
}
