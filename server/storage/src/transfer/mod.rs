//! Copies files between this machine, web servers, S3, COS, OSS and HDFS: in parallel ranges, resumable, with checksums; whole
//! partitions by date, once they are complete; small files joined to larger ones.
//!
//! A target appears whole or not at all: local files by a rename, objects by the completion of their upload. What a
//! transfer left behind when it ended early is used by the next one, if the source is still the same.

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

/// Files are started anew this often when their source changes while they are read.
const RESTARTS: u32 = 3;

/// What to copy and where to.
#[derive(Debug, Clone)]
pub struct TransferSpec {
    /// Files, folders (ending with `/`) and patterns.
    pub from: Vec<Source>,
    /// A file, or a folder (ending with `/`, or one that is there).
    pub to: String,
    /// Where relative local paths begin.
    pub base: PathBuf,
    /// Sums for files that `from` names only by a folder or pattern: by name below the target, or by address.
    pub sums: BTreeMap<String, String>,
    /// How many ranges are read at the same time, over all files.
    pub parallel: usize,
    /// Bytes of a range.
    pub chunk: u64,
    /// Bytes of memory that the process may have: of what uploads hold there is only as much at a time as half of it allows.
    pub memory: Option<u64>,
    /// How often a range is tried before the transfer fails.
    pub attempts: u32,
    /// Credentials and addresses of stores, as environment variables are named.
    pub env: BTreeMap<String, String>,
    /// The longest silence of a server before a call is given up, and tried again.
    pub silence: Duration,
    /// What lies in a source's folder when it is complete, like `_SUCCESS`. It is not copied.
    pub marker: Option<String>,
    /// How long a source that is not complete, or not there, is waited for.
    pub wait: Duration,
    /// What becomes of a partition that is not there, or not complete, after that.
    pub missing: Missing,
    /// Leaves out what Hadoop's programs do not read: names of which a part begins with `_` or `.`.
    pub skip_hidden: bool,
    /// Files smaller than this are joined to files of at most so many bytes.
    pub merge: Option<u64>,
    /// Files that are joined have the same first line, which is wanted once.
    pub header: bool,
    /// An empty file of this name is put into the target's folders when all files are there.
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

/// One source, as a user or a manifest writes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// Its address.
    pub url: String,
    /// Its name below the target folder; by default the last part of the address.
    pub name: Option<String>,
    /// What its content must be, as hexadecimal digits. Only for a source that is one file.
    pub sha256: Option<String>,
    /// The folder below the target that its files go into: empty, or ending with `/`.
    pub under: String,
    /// Whether it is one of several partitions, which may be left out.
    pub partition: bool,
}

impl TransferSpec {
    /// A transfer with the usual settings: 4 ranges of 8 MiB at a time, 5 attempts, nothing merged.
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

/// What all files of one transfer share.
pub(crate) struct Shared<'a> {
    spec: &'a TransferSpec,
    stores: &'a Stores,
    /// What was brought to where no notes can be kept.
    records: Records,
    tracker: Tracker<'a>,
    permits: Semaphore,
    /// How many files are under way at the same time.
    files: usize,
    /// How many ranges of one file an upload would hold in memory: fewer when many files are under way.
    width: usize,
    memory: Memory,
    stop: &'a Stop,
}

/// Copies what `spec` says. The first fault stops the other files, too; what they fetched is kept for the next try.
/// `listener` hears of every block; raising `stop` ends the transfer in good order.
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

/// What the steps before the copying share.
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

/// Runs calls that may wait for a disk outside the threads that serve connections.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, TransferError> + Send + 'static,
) -> Result<T, TransferError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}
