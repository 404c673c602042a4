//! What earlier transfers brought into a local folder, or from one to where no notes can be kept with a file (HDFS), so that
//! the same content is not copied twice.
//!
//! One hidden file of JSON lines in that folder, appended to; the last line about a name counts, and only while
//! the target still has the size and time that it was left with.

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

/// What tells whether a target is as it was left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Bytes.
    pub size: u64,
    /// Time of the last change, in the target's own notation.
    pub modified: String,
}

impl State {
    /// Of a file on this machine; none where there is none.
    pub fn of_file(path: &Path) -> Option<Self> {
        let meta = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        Some(Self { size: meta.len(), modified: modified(&meta) })
    }
}

/// The records of one folder.
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

    /// The sha256 of a target and the source that it came from, if the target is as it was left.
    pub fn find(&self, name: &str, now: &State) -> Option<(String, Identity)> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let record = known.get(name)?;
        let same = now.size == record.size && now.modified == record.modified;
        same.then(|| (record.sha256.clone(), record.source.clone()))
    }

    /// Notes that a target, which is so now, has this content.
    pub fn add(&self, name: &str, now: State, sha256: &str, source: &Identity) -> Result<(), TransferError> {
        let fault = |error| TransferError::io(&self.path, 0, error);
        let record = Record {
            name: name.to_owned(),
            size: now.size,
            modified: now.modified,
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
