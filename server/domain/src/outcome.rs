//! How an attempt ended, and which worker was the first cause.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Outcome {
    /// As it should.
    Succeeded,
    /// Otherwise.
    Failed(Failure),
    /// It was stopped because somebody wanted it.
    Cancelled,
}

/// Why an attempt failed: the first cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind of failure.
    pub kind: FailureKind,
    /// A sentence for the person.
    pub message: String,
    /// The worker that failed first, when it was one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worker: Option<WorkerName>,
    /// The node that it ran on, where the cluster has more than one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub node: Option<Box<str>>,
    /// Exit code.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit_code: Option<i32>,
    /// Signal that terminated it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signal: Option<i32>,
    /// Last lines of its output.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub last_lines: Vec<String>,
}

impl Failure {
    /// A failure that no single worker caused.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            worker: None,
            node: None,
            exit_code: None,
            signal: None,
            last_lines: Vec::new(),
        }
    }
}

/// What kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The program ended with an exit code other than 0.
    Exit,
    /// A signal ended the program.
    Signal,
    /// It used more memory than it had.
    OutOfMemory,
    /// It wrote more than its folder may hold.
    DiskLimit,
    /// It took longer than its timeout.
    Timeout,
    /// Its `setup` command failed.
    SetupFailed,
    /// It could not be started at all.
    CouldNotStart,
    /// It ended well without an output that it had to write.
    MissingOutput,
    /// Nobody knows how it ended.
    Lost,
    /// Its place was needed for another job.
    Preempted,
    /// It hung, and was stopped for it.
    Hung,
    /// A worker of it failed the tests before its program was to begin.
    Preflight,
    /// An expression of the task could not be evaluated.
    Expression,
    /// A person said no.
    Rejected,
    /// The run that it was, of another pipeline, did not succeed.
    Run,
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exit => "error",
            Self::Signal => "signal",
            Self::OutOfMemory => "out of memory",
            Self::DiskLimit => "disk limit exceeded",
            Self::Timeout => "timeout",
            Self::SetupFailed => "setup failed",
            Self::CouldNotStart => "could not start",
            Self::MissingOutput => "missing output",
            Self::Lost => "lost",
            Self::Preempted => "preempted",
            Self::Hung => "hung",
            Self::Preflight => "pre-flight failed",
            Self::Expression => "bad expression",
            Self::Rejected => "rejected",
            Self::Run => "run failed",
        })
    }
}

/// A worker of a job: its role and its index in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WorkerName {
    /// Role.
    pub role: String,
    /// The index in the role, from 0.
    pub index: u32,
}

impl fmt::Display for WorkerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.role, self.index)
    }
}
