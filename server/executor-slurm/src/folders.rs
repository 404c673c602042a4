//! What the server itself notes of attempts, in its own data folder: a server that knows nothing but a key can find them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cubeloom_domain::AttemptKey;
use cubeloom_executor_local::{StopWish, afar};
use serde::{Deserialize, Serialize};

/// The note's name in the attempt's folder.
const RECORD: &str = "slurm.json";

/// What is noted of an attempt before anything of it is submitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its folder on the file system that all nodes share.
    pub folder: PathBuf,
    /// The account that it runs as.
    pub account: String,
    /// The program that writes there as that account.
    pub program: String,
}

/// Where the notes lie.
#[derive(Clone, Debug)]
pub struct Folders {
    runs: PathBuf,
}

impl Folders {
    /// In a server's data folder.
    pub fn new(data: &Path) -> Self {
        Self { runs: data.join("runs") }
    }

    fn attempt(&self, key: &AttemptKey) -> PathBuf {
        self.runs.join(key.run.as_str()).join(format!("{}.{}.{}", key.task, key.instance, key.n))
    }

    /// Notes what is about to be submitted.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note(&self, key: &AttemptKey, record: &Record) -> io::Result<()> {
        let folder = self.attempt(key);
        fs::create_dir_all(&folder)?;
        let aside = folder.join(format!("{RECORD}.part"));
        let file = fs::File::create(&aside)?;
        serde_json::to_writer(&file, record)?;
        // After a power cut there must be no doubt whether something was submitted.
        file.sync_all()?;
        fs::rename(aside, folder.join(RECORD))
    }

    /// What was noted.
    pub fn record(&self, key: &AttemptKey) -> Option<Record> {
        serde_json::from_slice(&fs::read(self.attempt(key).join(RECORD)).ok()?).ok()
    }

    /// Notes a wish to stop: the next server knows it, too.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note_stop(&self, key: &AttemptKey, wish: StopWish) -> io::Result<()> {
        let folder = self.attempt(key);
        fs::create_dir_all(&folder)?;
        afar::stop(&folder, wish)
    }

    /// The wish that was noted.
    pub fn stop(&self, key: &AttemptKey) -> Option<StopWish> {
        afar::wish(&self.attempt(key))
    }
}
