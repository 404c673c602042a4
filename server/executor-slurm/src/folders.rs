//! The server's own records of attempts, in its data folder: a server that knows only a key can find them.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cubeloom_domain::lowered::LocalJob;
use cubeloom_domain::outcome::WorkerName;
use cubeloom_domain::{AttemptKey, Timestamp};
use cubeloom_executor_local::{StopWish, afar};
use cubeloom_files::own;
use cubeloom_workers::logs;
use cubeloom_workers::place::{Guard, Place};
use serde::{Deserialize, Serialize};

/// The record's file in the attempt's folder.
const RECORD: &str = "slurm.json";
/// The file with its processes.
const JOB: &str = "slurm-job.json";

/// The record of an attempt, written before any part of it is submitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its folder on the shared file system.
    pub folder: PathBuf,
    /// The administrator's folder above it: nothing below is trusted.
    pub top: PathBuf,
    /// The account that it runs as.
    pub account: String,
    /// The account's uid: files of other users are not read.
    pub uid: u32,
    /// The program that writes there as that account.
    pub program: String,
    /// Slurm's ids of its jobs.
    #[serde(default)]
    pub ids: Vec<String>,
}

impl Record {
    /// The attempt's folder, guarded for reading. Blocking.
    ///
    /// # Errors
    /// The parent folder cannot be opened: the content is unknown, which does not mean that the attempt is
    /// over.
    pub fn place(&self) -> io::Result<Place> {
        let why = |error| io::Error::other(format!("{} cannot be opened: {error}", self.top.display()));
        let guard = Guard::new(&self.top, Some(self.uid)).map_err(why)?;
        Ok(Place::guarded(Arc::new(guard), &self.folder))
    }
}

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

    /// Records what is about to be submitted, with its processes first: a reader that finds the record also
    /// finds them.
    pub fn note(&self, key: &AttemptKey, record: &Record, job: &LocalJob) -> io::Result<()> {
        let folder = self.attempt(key);
        own::create_dir_all(&folder)?;
        put(&folder, JOB, job)?;
        put(&folder, RECORD, record)
    }

    /// Records Slurm's job ids. If the server is killed before, the next one finds the jobs by name.
    pub fn note_ids(&self, key: &AttemptKey, record: &Record) -> io::Result<()> {
        put(&self.attempt(key), RECORD, record)
    }

    /// The recorded processes. The copy in the attempt's own folder can be changed by its account.
    pub fn job(&self, key: &AttemptKey) -> Option<LocalJob> {
        serde_json::from_slice(&own::read(self.attempt(key).join(JOB)).ok()?).ok()
    }

    /// The names of the recorded workers.
    pub fn workers(&self, key: &AttemptKey) -> Vec<WorkerName> {
        self.job(key).map_or_else(Vec::new, |job| job.workers.into_iter().map(|worker| worker.name).collect())
    }

    /// When they were recorded: nothing of the attempt is older.
    pub fn noted(&self, key: &AttemptKey) -> Option<Timestamp> {
        logs::changed(self.attempt(key).join(JOB).as_path()).ok().flatten()
    }

    /// The record of an attempt.
    pub fn record(&self, key: &AttemptKey) -> Option<Record> {
        serde_json::from_slice(&own::read(self.attempt(key).join(RECORD)).ok()?).ok()
    }

    /// Records a stop request for the next server.
    pub fn note_stop(&self, key: &AttemptKey, wish: StopWish) -> io::Result<()> {
        let folder = self.attempt(key);
        own::create_dir_all(&folder)?;
        afar::stop(&folder, wish)
    }

    /// The recorded stop request.
    pub fn stop(&self, key: &AttemptKey) -> Option<StopWish> {
        afar::wish(&self.attempt(key))
    }
}

fn put(folder: &Path, name: &str, value: &impl Serialize) -> io::Result<()> {
    let aside = folder.join(format!("{name}.part"));
    let file = own::create(&aside)?;
    let mut text = BufWriter::new(&file);
    serde_json::to_writer(&mut text, value)?;
    text.flush()?;
    drop(text);
    // After a power failure, there must be no doubt whether something was submitted.
    file.sync_all()?;
    own::rename(aside, folder.join(name))
}
