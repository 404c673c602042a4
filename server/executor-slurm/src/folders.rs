//! What the server itself notes of attempts, in its own data folder: a server that knows nothing but a key can find them.

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

/// The note's name in the attempt's folder.
const RECORD: &str = "slurm.json";
/// That of its processes.
const JOB: &str = "slurm-job.json";

/// What is noted of an attempt before anything of it is submitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its folder on the file system that all nodes share.
    pub folder: PathBuf,
    /// The folder above, an administrator's: below, nothing is trusted.
    pub top: PathBuf,
    /// The account that it runs as.
    pub account: String,
    /// The account's uid: other files are not read.
    pub uid: u32,
    /// The program that writes there as that account.
    pub program: String,
    /// The ids that Slurm has given to its jobs.
    #[serde(default)]
    pub ids: Vec<String>,
}

impl Record {
    /// The attempt's folder, as it may be read. Blocking.
    ///
    /// # Errors
    /// The folder above cannot be opened: what is below is not known, and nothing is over for that.
    pub fn place(&self) -> io::Result<Place> {
        let why = |error| io::Error::other(format!("{} cannot be opened: {error}", self.top.display()));
        let guard = Guard::new(&self.top, Some(self.uid)).map_err(why)?;
        Ok(Place::guarded(Arc::new(guard), &self.folder))
    }
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

    /// Notes what is about to be submitted, and its processes first: whoever finds the note finds them.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note(&self, key: &AttemptKey, record: &Record, job: &LocalJob) -> io::Result<()> {
        let folder = self.attempt(key);
        own::create_dir_all(&folder)?;
        put(&folder, JOB, job)?;
        put(&folder, RECORD, record)
    }

    /// Notes what Slurm calls it. A server that is killed before finds it by its name.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note_ids(&self, key: &AttemptKey, record: &Record) -> io::Result<()> {
        put(&self.attempt(key), RECORD, record)
    }

    /// The processes that were noted. What lies in the attempt's own folder is its account's to change.
    pub fn job(&self, key: &AttemptKey) -> Option<LocalJob> {
        serde_json::from_slice(&own::read(self.attempt(key).join(JOB)).ok()?).ok()
    }

    /// The names of the workers that were noted.
    pub fn workers(&self, key: &AttemptKey) -> Vec<WorkerName> {
        self.job(key).map_or_else(Vec::new, |job| job.workers.into_iter().map(|worker| worker.name).collect())
    }

    /// When they were noted: nothing of the attempt is older.
    pub fn noted(&self, key: &AttemptKey) -> Option<Timestamp> {
        logs::changed(self.attempt(key).join(JOB).as_path()).ok().flatten()
    }

    /// What was noted.
    pub fn record(&self, key: &AttemptKey) -> Option<Record> {
        serde_json::from_slice(&own::read(self.attempt(key).join(RECORD)).ok()?).ok()
    }

    /// Notes a wish to stop: the next server knows it, too.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note_stop(&self, key: &AttemptKey, wish: StopWish) -> io::Result<()> {
        let folder = self.attempt(key);
        own::create_dir_all(&folder)?;
        afar::stop(&folder, wish)
    }

    /// The wish that was noted.
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
    // After a power cut there must be no doubt whether something was submitted.
    file.sync_all()?;
    own::rename(aside, folder.join(name))
}
