//! Reports of executors about attempts.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::JsonMap;
use crate::clock::Timestamp;
use crate::ids::AttemptKey;
#[cfg(doc)]
use crate::job::Job;
use crate::model::ReportedModel;
use crate::outcome::Outcome;
use crate::pace::Pace;
use crate::preflight::Tested;
use crate::quantity::Bytes;
use crate::usage::{RoleUsage, UsageSummary};

/// An event of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    pub key: AttemptKey,
    pub event: Event,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Something must be prepared before it can start (again), e.g. its Python environment. Empty when that
    /// is done.
    Preparing(String),
    /// All of its workers that must start together run.
    Started {
        /// Start time.
        at: Timestamp,
    },
    /// Its program reported progress.
    Progress(Progress),
    /// Step progress of all its workers so far.
    Paced(Box<Pace>),
    /// Result of its workers' preflight test, before its program began.
    Tested(Box<Tested>),
    /// Its program reported a value of the metric that its job [watches](Job::watches).
    Measured(Metric),
    /// A worker is close to its memory limit. Repeated while that lasts, for a job that [grows](Job::grows).
    NearlyFull(NearlyFull),
    /// Workers did not get more memory while they run: not all of their role could.
    NotGiven(NotGiven),
    /// Workers to be removed are gone, or more could not be added: it has only this many, those with the
    /// lowest ranks.
    Resized {
        /// Number of workers, over all roles.
        workers: u32,
    },
    /// Number of running workers, over all roles, for a job that the cluster's own scheduler scales.
    Running {
        /// Number of running workers.
        workers: u32,
    },
    /// It has ended, and nothing of it runs any more.
    Ended(Box<Ended>),
    /// The cluster does not know it.
    NotFound,
}

/// A role's workers did not get the memory that they were to get while they run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotGiven {
    pub role: String,
    /// Intended memory of each.
    pub memory: Bytes,
    /// The cluster's reason.
    pub why: String,
}

/// A worker is close to its memory limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearlyFull {
    pub role: String,
    /// Memory limit that it was compared with.
    pub limit: Bytes,
    /// Anonymous plus shared memory in use.
    pub used: Bytes,
}

impl NearlyFull {
    /// Whether a worker that uses this much is close to its limit: 19/20. Limits chosen from history are a
    /// tenth above the peak, so usual usage is below this.
    #[must_use]
    pub fn is(used: Bytes, limit: Bytes) -> bool {
        used.0 > 0 && used >= Self::least(limit)
    }

    /// The threshold for a limit.
    #[must_use]
    pub fn least(limit: Bytes) -> Bytes {
        Bytes(limit.0 - limit.0 / 20)
    }
}

/// An event that a cluster reported for a job: why a worker is pending, which mount failed, where a worker
/// was placed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Time at which the event was last reported.
    pub at: Timestamp,
    /// The object, `Pod/cl-train-...`.
    pub of: String,
    /// Whether the event is a warning.
    pub warning: bool,
    /// Reason code, e.g. `FailedMount`.
    pub reason: String,
    /// Message, in the cluster's wording.
    pub message: String,
}

/// Progress of a program.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    pub step: f64,
    /// Total number of steps, if known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub total: Option<f64>,
}

/// How an attempt ended, with its results.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    pub outcome: Outcome,
    /// When its workers started. `None` if none did.
    pub started_at: Option<Timestamp>,
    pub ended_at: Timestamp,
    /// What its program reported. Each name has the value of the lowest rank that wrote it.
    pub report: Report,
    /// Total usage of its workers.
    pub usage: UsageSummary,
    /// Usage of the largest worker of each role, if the cluster reports it.
    pub roles: Vec<RoleUsage>,
}

impl Ended {
    /// Moves its times after the time at which the attempt was stored, keeping the duration: a cluster's
    /// clock may be behind, and Kubernetes counts whole seconds.
    pub fn follow(&mut self, written: Timestamp) {
        let began = self.started_at.unwrap_or(self.ended_at);
        if began < written {
            let behind = written.since(began);
            self.started_at = self.started_at.map(|at| at.plus(behind));
            self.ended_at = self.ended_at.plus(behind);
        }
        self.ended_at = self.ended_at.max(self.started_at.unwrap_or(written));
    }
}

/// What a program reported through `CUBELOOM_OUTPUTS`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Outputs, by name.
    #[serde(skip_serializing_if = "JsonMap::is_empty", default)]
    pub outputs: JsonMap,
    /// Metrics, in the order they were written.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub metrics: Vec<Metric>,
    /// Files to display.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub artifacts: Vec<Artifact>,
    /// Models that it produced.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub models: Vec<ReportedModel>,
    /// The last checkpoint.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub checkpoint: Option<Value>,
    /// Result of its workers' preflight test. It is stored with the attempt.
    #[serde(skip)]
    pub preflight: Option<Box<Tested>>,
    /// The first warnings about lines that could not be read, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
}

/// One measured value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    pub name: String,
    /// The value, which may be NaN or infinite.
    #[serde(with = "crate::json::measured")]
    pub value: f64,
    /// The step that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<f64>,
}

/// An artifact: a file to display.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    pub name: String,
    /// Path relative to the run's folder.
    pub path: String,
}
