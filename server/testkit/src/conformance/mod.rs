//! The requirements on every executor, as cases that run against each of them: locally, on Kubernetes, on
//! Slurm.
//!
//! A [`Harness`] creates an executor, gives it jobs, and kills it. The workers themselves count executions in
//! a ledger, so that an executor's own reports are not trusted.

pub mod cancel;
pub mod crash;
pub mod faults;
pub mod gang;
pub mod growth;
pub mod load;
mod program;
mod recorder;
pub mod scaling;
mod server;
pub mod submit;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::executor::{Ended, Executor, Submission};
use cubeloom_domain::outcome::{Failure, Outcome};

pub use program::Program;
pub use recorder::Recorder;
pub use server::{Server, processes_with, random};

/// An executor under test, with its environment.
pub trait Harness: Send {
    /// The executor; its methods may be called from any runtime.
    fn executor(&self) -> Arc<dyn Executor>;

    /// The reports of the current executor.
    fn recorder(&self) -> Arc<Recorder>;

    /// Ends the server as `kill -9` would, and starts another on the same state. Its started jobs continue.
    fn crash(&mut self);

    /// A job of this program under a new key, bound.
    fn submission(&self, program: &Program) -> Submission;

    /// The file that `$LEDGER` names in workers: each appends a line when it runs.
    fn ledger(&self) -> PathBuf;

    /// The length of a worker's standard output, in bytes.
    fn output_len(&self, key: &AttemptKey, worker: &str) -> u64;

    /// The path at which workers see a file of this machine.
    fn seen_by_workers(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }

    /// Whether a worker that exceeds its memory is killed with all its processes; else the reason why not.
    fn bounds_memory(&self) -> Result<(), &'static str>;

    /// Whether an end includes the workers' usage.
    fn measures_usage(&self) -> bool {
        true
    }

    /// The number of live processes of the attempt, determined without the executor.
    fn alive(&self, key: &AttemptKey) -> usize;

    /// The same kind of executor on a full disk; else the reason why there can be no such disk.
    fn on_full_disk(&self) -> Result<Box<dyn Harness>, &'static str>;
}

/// The timeout of every step of a case.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A worker's count entry: `<run> <worker> <pid>` in the ledger. Every attempt here has its own run.
pub const SIGN: &str = r#"echo "$CUBELOOM_RUN $CUBELOOM_ROLE-$CUBELOOM_INDEX $$" >> "$LEDGER""#;

/// A line that signs the ledger and then does `rest`.
#[must_use]
pub fn signed(rest: &str) -> String {
    format!("{SIGN}\n{rest}")
}

/// The number of executions of an attempt's workers, from the ledger.
#[must_use]
pub fn executions(harness: &dyn Harness, key: &AttemptKey) -> usize {
    let text = std::fs::read_to_string(harness.ledger()).unwrap_or_default();
    text.lines().filter(|line| line.split(' ').next() == Some(key.run.as_str())).count()
}

/// Waits until the ledger contains `count` lines of an attempt.
pub async fn until_executed(harness: &dyn Harness, key: &AttemptKey, count: usize) {
    let began = std::time::Instant::now();
    while executions(harness, key) < count {
        assert!(
            began.elapsed() < PATIENCE,
            "{key}: only {} of {count} workers ran",
            executions(harness, key)
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Submits, and waits for the end.
pub async fn run(harness: &dyn Harness, program: &Program) -> (AttemptKey, Ended) {
    let submission = harness.submission(program);
    let key = submission.job.key.clone();
    harness.executor().submit(submission).await;
    let ended = harness.recorder().ended(&key).await;
    (key, ended)
}

/// The failure of an attempt that must have failed.
#[must_use]
#[track_caller]
pub fn failure(ended: &Ended) -> &Failure {
    match &ended.outcome {
        Outcome::Failed(failure) => failure,
        other => panic!("it has not failed: {other:?}"),
    }
}

/// Nothing of an attempt is left when its end is reported.
#[track_caller]
pub fn assert_gone(harness: &dyn Harness, key: &AttemptKey) {
    assert_eq!(harness.alive(key), 0, "{key}: processes are left");
}
