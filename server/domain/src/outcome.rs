//! How an attempt ended, and which worker caused it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Outcome {
    Succeeded,
    Failed(Failure),
    /// A user cancelled it.
    Cancelled,
}

/// Why an attempt failed: the first cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub kind: FailureKind,
    /// A sentence for the user.
    pub message: String,
    /// The worker that failed first. `None` if no single worker caused it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worker: Option<WorkerName>,
    /// Its node, on a cluster with several.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub node: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signal: Option<i32>,
    /// Last lines of its output.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub last_lines: Vec<String>,
}

impl Failure {
    /// A failure without a causing worker.
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
    /// It was OOM killed.
    OutOfMemory,
    /// It exceeded the disk limit of its folder.
    DiskLimit,
    /// It took longer than its timeout.
    Timeout,
    /// Its `setup` command failed.
    SetupFailed,
    /// It could not be started at all.
    CouldNotStart,
    /// It succeeded without writing a required output.
    MissingOutput,
    /// Its outcome is unknown.
    Lost,
    /// It was preempted by another job.
    Preempted,
    /// It hung, and was stopped.
    Hung,
    /// A worker failed its preflight test.
    Preflight,
    /// An expression of the task could not be evaluated.
    Expression,
    /// A user rejected it.
    Rejected,
    /// The run of another pipeline that it started did not succeed.
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

/// A worker of a job: its role, and its index in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WorkerName {
    pub role: String,
    /// The index in the role, from 0.
    pub index: u32,
}

impl fmt::Display for WorkerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.role, self.index)
    }
}
