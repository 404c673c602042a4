//! What earlier transfers brought into a local folder, so that the same content is not fetched twice.
//!
//! One hidden file of JSON lines in the target folder, appended to; the last line about a name counts, and only while
//! the file still has the size and time that it was left with.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::error::TransferError;
use super::input::{Identity, modified};
use super::listing::RECORD_NAME;

/// One line: a file that was brought here.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Record {
    name: String,
    size: u64,
    modified: String,
    sha256: String,
    source: Identity,
}

/// The records of one target folder.
pub struct Records {
    path: PathBuf,
    known: Mutex<HashMap<String, Record>>,
}

impl Records {
    /// Reads the records of `folder`; a missing file, or lines that cannot be read, mean that nothing is known.
    pub fn load(folder: &Path) -> Self {
        let path = folder.join(RECORD_NAME);
        let text = std::fs::read(&path).unwrap_or_default();
        let lines =
            text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Record>(line).ok());
        Self { path, known: Mutex::new(lines.map(|record| (record.name.clone(), record)).collect()) }
    }

    /// The sha256 of `target` and the source that it came from, if the file is as it was left.
    pub fn find(&self, name: &str, target: &Path) -> Option<(String, Identity)> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let record = known.get(name)?;
        let meta = std::fs::metadata(target).ok()?;
        let same = meta.is_file() && meta.len() == record.size && modified(&meta) == record.modified;
        same.then(|| (record.sha256.clone(), record.source.clone()))
    }

    /// Notes that `target` now has this content.
    pub fn add(
        &self,
        name: &str,
        target: &Path,
        sha256: &str,
        source: &Identity,
    ) -> Result<(), TransferError> {
        let fault = |error| TransferError::io(&self.path, 0, error);
        let meta = std::fs::metadata(target).map_err(|error| TransferError::io(target, 0, error))?;
        let record = Record {
            name: name.to_owned(),
            size: meta.len(),
            modified: modified(&meta),
            sha256: sha256.to_owned(),
            source: source.clone(),
        };
        let mut line = serde_json::to_vec(&record).map_err(|error| fault(error.into()))?;
        line.push(b'\n');
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // One write of one line: other transfers may append to the same file.
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(&self.path)
            .and_then(|mut file| file.write_all(&line))
            .map_err(fault)?;
        known.insert(record.name.clone(), record);
        Ok(())
    }
}
