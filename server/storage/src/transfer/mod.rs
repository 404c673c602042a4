//! Copies files between this machine, web servers, S3, COS, OSS and HDFS: in parallel ranges, resumable, with
//! checksums. Can copy partitions by date once they are complete, and join small files into larger ones.
//!
//! A target appears atomically: local files by a rename, objects by completing their upload. The next
//! transfer resumes from what an interrupted one left, if the source is unchanged.

#![allow(
    clippy::disallowed_methods,
    reason = "it runs in a task, as the task's account: it reaches what the task can reach"
)]

mod cli;
mod download;
mod error;
mod glob;
mod input;
mod joined;
mod listener;
mod listing;
mod location;
mod manifest;
mod marker;
mod memory;
mod part;
mod periods;
mod plan;
mod progress;
mod records;
mod rename;
mod reporter;
mod retry;
mod stop;
mod stores;
mod sums;
mod there;
mod upload;
pub mod wall;
mod web;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use futures::StreamExt;
use futures::stream;
use tokio::sync::Semaphore;

pub use cli::{Args, main_from_args, run};
pub use error::TransferError;
pub use listener::Listener;
pub use location::{Location, StoreKind, StorePath};
pub use manifest::{Entry, parse as parse_manifest};
pub use periods::{Every, Periods};
pub use progress::{FileReport, Outcome, Progress, Report};
pub use stop::Stop;
pub(crate) use stores::Stores;
pub use there::is_there;

use memory::Memory;
use plan::{Job, Target};
use progress::Tracker;
use records::Records;
use stores::SILENCE;

/// Maximum number of restarts of a file whose source changes during the read.
const RESTARTS: u32 = 3;

/// The sources and target of a transfer, and its settings.
#[derive(Debug, Clone)]
pub struct TransferSpec {
    /// Files, folders (ending with `/`) and patterns.
    pub from: Vec<Source>,
    /// A file, or a folder (existing, or ending with `/`).
    pub to: String,
    /// Base folder of relative local paths.
    pub base: PathBuf,
    /// Checksums of files that `from` names only by a folder or pattern: by name below the target, or by
    /// address.
    pub sums: BTreeMap<String, String>,
    /// Number of ranges to read in parallel, over all files.
    pub parallel: usize,
    /// Size of a range in bytes.
    pub chunk: u64,
    /// Memory limit of the process in bytes: uploads use at most half of it.
    pub memory: Option<u64>,
    /// Maximum attempts per range before the transfer fails.
    pub attempts: u32,
    /// Credentials and addresses of stores, by environment variable name.
    pub env: BTreeMap<String, String>,
    /// Idle timeout of a server before a call is retried.
    pub silence: Duration,
    /// Name of the file that marks a source folder as complete, like `_SUCCESS`. It is not copied.
    pub marker: Option<String>,
    /// How long to wait for a source that is incomplete or missing.
    pub wait: Duration,
    /// What to do about a partition that is missing or incomplete after that.
    pub missing: Missing,
    /// Skips files that Hadoop programs ignore: a component of their name begins with `_` or `.`.
    pub skip_hidden: bool,
    /// Files smaller than this are joined into files of at most this many bytes.
    pub merge: Option<u64>,
    /// Joined files have the same first line, which is kept once.
    pub header: bool,
    /// Name of an empty file to create in the target's folders once all files are complete.
    pub write_marker: Option<String>,
}

/// The actions for missing partitions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Missing {
    /// Fail the transfer
    #[default]
    Fail,
    /// Skip the partition and report it
    Skip,
}

/// One source, as in the user's input or a manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    pub url: String,
    /// Its name below the target folder; by default the last part of the address.
    pub name: Option<String>,
    /// The expected checksum, in hexadecimal digits. Only for a source that is one file.
    pub sha256: Option<String>,
    /// The subfolder of the target for its files: empty, or ending with `/`.
    pub under: String,
    /// Whether it is one of several partitions, which may be skipped.
    pub partition: bool,
}

impl TransferSpec {
    /// A transfer with default settings: 4 ranges of 8 MiB at a time, 5 attempts, no merging.
    pub fn new(from: Vec<Source>, to: impl Into<String>, base: impl Into<PathBuf>) -> Self {
        Self {
            from,
            to: to.into(),
            base: base.into(),
            sums: BTreeMap::new(),
            parallel: 4,
            chunk: 8 << 20,
            memory: None,
            attempts: 5,
            env: BTreeMap::new(),
            silence: SILENCE,
            marker: None,
            wait: Duration::ZERO,
            missing: Missing::Fail,
            skip_hidden: false,
            merge: None,
            header: false,
            write_marker: None,
        }
    }
}

/// State shared by all files of a transfer.
pub(crate) struct Shared<'a> {
    spec: &'a TransferSpec,
    stores: &'a Stores,
    /// Records of files sent to stores that keep no metadata.
    records: Records,
    tracker: Tracker<'a>,
    permits: Semaphore,
    /// Number of concurrent files.
    files: usize,
    /// Maximum number of ranges of one file that an upload buffers: fewer with many concurrent files.
    width: usize,
    memory: Memory,
    stop: &'a Stop,
}

/// Runs the transfer `spec`. The first error stops the other files, too; their fetched ranges are kept for
/// the next attempt. `listener` receives every block; raising `stop` ends the transfer cleanly.
pub async fn transfer(
    spec: &TransferSpec,
    stop: &Stop,
    listener: impl Listener,
) -> Result<Report, TransferError> {
    let stores = Stores::new(spec.env.clone()).silent_for(spec.silence);
    let plan = plan::plan(&Asking { spec, stores: &stores, stop, listener: &listener }).await?;
    marker::remove(spec, &stores, &plan.folders).await?;
    let parallel = spec.parallel.max(1);
    let tracker = Tracker::new(plan.jobs.len() as u64, &listener);
    let files = plan.jobs.len().clamp(1, parallel);
    let (width, memory) = (parallel.div_ceil(files), Memory::new(spec.memory));
    let (records, permits) = (Records::load(&spec.base), Semaphore::new(parallel));
    let shared = Shared { spec, stores: &stores, records, tracker, permits, files, width, memory, stop };
    let mut running = stream::iter(&plan.jobs).map(|job| shared.one(job)).buffer_unordered(parallel);
    let mut files = Vec::with_capacity(plan.jobs.len());
    let mut fault = None;
    while let Some(done) = running.next().await {
        match done {
            Ok(file) => files.push(file),
            Err(error) => {
                stop.raise();
                fault.get_or_insert(error);
            }
        }
    }
    if let Some(error) = fault {
        return Err(error);
    }
    marker::write(spec, &stores, &plan.folders).await?;
    files.sort_by_key(|(order, _)| *order);
    Ok(Report { files: files.into_iter().map(|(_, file)| file).collect(), left_out: plan.left_out })
}

/// State shared by the steps before the copying.
pub(crate) struct Asking<'a> {
    spec: &'a TransferSpec,
    stores: &'a Stores,
    stop: &'a Stop,
    listener: &'a dyn Listener,
}

impl Shared<'_> {
    async fn one(&self, job: &Job) -> Result<(usize, FileReport), TransferError> {
        let mut tries = 1;
        loop {
            self.stop.check()?;
            let done = match &job.target {
                Target::Local { path, records } => download::download(self, job, path, records).await,
                Target::Store(path) => upload::upload(self, job, path).await,
            };
            match done {
                Err(TransferError::Changed { .. }) if tries < RESTARTS => tries += 1,
                done => return done.map(|file| (job.order, file)),
            }
        }
    }
}

/// Runs blocking disk access on another thread than those that serve connections.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, TransferError> + Send + 'static,
) -> Result<T, TransferError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}
