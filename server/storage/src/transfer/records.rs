//! Records of earlier transfers, so that the same content is not copied twice. They cover files copied into a
//! local folder, or from one to a store without metadata (HDFS).
//!
//! A hidden file of JSON lines in that folder, append-only. The last line of a name counts, as long as the
//! target still has the recorded size and time.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::error::TransferError;
use super::input::{Identity, modified};
use super::listing::RECORD_NAME;

/// One line: a copied file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Record {
    name: String,
    size: u64,
    modified: String,
    sha256: String,
    source: Identity,
}

/// Determines whether a target is unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change, in the target's own notation.
    pub modified: String,
}

impl State {
    /// For a file on this machine; `None` if it does not exist.
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
    /// Reads the records of `folder`; a missing file or unreadable lines count as no records.
    pub fn load(folder: &Path) -> Self {
        let path = folder.join(RECORD_NAME);
        let text = std::fs::read(&path).unwrap_or_default();
        let lines =
            text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Record>(line).ok());
        Self { path, known: Mutex::new(lines.map(|record| (record.name.clone(), record)).collect()) }
    }

    /// The checksum of a target and its source, if the target is unchanged.
    pub fn find(&self, name: &str, now: &State) -> Option<(String, Identity)> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let record = known.get(name)?;
        let same = now.size == record.size && now.modified == record.modified;
        same.then(|| (record.sha256.clone(), record.source.clone()))
    }

    /// Records the content of a target in its current state.
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
        // A single write per line: other transfers may append to the same file.
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
