//! What every executor must do, as cases that run against each of them: locally, on Kubernetes, on Slurm.
//!
//! A [`Harness`] says how one is made, given work, and killed. Executions are counted by a ledger that the
//! workers themselves write; the executor cannot make itself look good.

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

/// An executor under test and the place that it works in.
pub trait Harness: Send {
    /// The executor; its methods may be called from any runtime.
    fn executor(&self) -> Arc<dyn Executor>;

    /// What the present executor reported.
    fn recorder(&self) -> Arc<Recorder>;

    /// Ends the server as `kill -9` would, and starts another on the same state. What it had started goes on.
    fn crash(&mut self);

    /// A job of this program under a new key, bound.
    fn submission(&self, program: &Program) -> Submission;

    /// The file that `$LEDGER` names in workers: each appends a line when it runs.
    fn ledger(&self) -> PathBuf;

    /// The length of a worker's standard output, in bytes.
    fn output_len(&self, key: &AttemptKey, worker: &str) -> u64;

    /// Where workers see a file of this machine.
    fn seen_by_workers(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }

    /// Whether a worker that uses more memory than it has is ended, all of it; else why it is not.
    fn bounds_memory(&self) -> Result<(), &'static str>;

    /// Whether an end says what the workers used.
    fn measures_usage(&self) -> bool {
        true
    }

    /// How many processes of the attempt are alive, found without asking the executor.
    fn alive(&self, key: &AttemptKey) -> usize;

    /// The same kind of executor on a disk without room; else why no such disk can be made.
    fn on_full_disk(&self) -> Result<Box<dyn Harness>, &'static str>;
}

/// How long anything may take before a case fails.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What a worker does to be counted: `<run> <worker> <pid>` in the ledger. Every attempt here is of a run of its own.
pub const SIGN: &str = r#"echo "$CUBELOOM_RUN $CUBELOOM_ROLE-$CUBELOOM_INDEX $$" >> "$LEDGER""#;

/// A line that signs the ledger and then does `rest`.
#[must_use]
pub fn signed(rest: &str) -> String {
    format!("{SIGN}\n{rest}")
}

/// How often workers of an attempt ran, by the ledger.
#[must_use]
pub fn executions(harness: &dyn Harness, key: &AttemptKey) -> usize {
    let text = std::fs::read_to_string(harness.ledger()).unwrap_or_default();
    text.lines().filter(|line| line.split(' ').next() == Some(key.run.as_str())).count()
}

/// Waits until the ledger holds `count` lines of an attempt.
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

/// The failure of an attempt that has to have failed.
#[must_use]
#[track_caller]
pub fn failure(ended: &Ended) -> &Failure {
    match &ended.outcome {
        Outcome::Failed(failure) => failure,
        other => panic!("it has not failed: {other:?}"),
    }
}

/// Nothing of an attempt is left when its end is told.
#[track_caller]
pub fn assert_gone(harness: &dyn Harness, key: &AttemptKey) {
    assert_eq!(harness.alive(key), 0, "{key}: processes are left");
}
