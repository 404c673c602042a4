//! What an executor reports of attempts.

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

/// Something that happened to an attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Attempt.
    pub key: AttemptKey,
    /// What happened.
    pub event: Event,
}

/// What happened to an attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Something has to be made before it can start (again), e.g. its Python environment; empty when that is over.
    Preparing(String),
    /// All of its workers that must start together run.
    Started {
        /// Time.
        at: Timestamp,
    },
    /// Its program said how far it is.
    Progress(Progress),
    /// At which pace its workers have reported steps so far, all together.
    Paced(Box<Pace>),
    /// What the test of its workers came to, before its program began.
    Tested(Box<Tested>),
    /// Its program reported a value of the metric that its job [watches](Job::watches).
    Measured(Metric),
    /// A worker of it has nearly used up its memory. Told now and then for as long as that is so, of a job that
    /// [grows](Job::grows).
    NearlyFull(NearlyFull),
    /// Workers that were to get more memory while they run keep what they had: not all of their role could be given it.
    NotGiven(NotGiven),
    /// Workers that it was to give back are gone, or more could not be given to it: it has only so many, those with the lowest
    /// ranks.
    Resized {
        /// How many, of all roles.
        workers: u32,
    },
    /// So many of its workers run, of all roles: of a job to which the cluster's own scheduler gives workers, and from which it
    /// takes some.
    Running {
        /// Count.
        workers: u32,
    },
    /// It has ended, and nothing of it runs any more.
    Ended(Box<Ended>),
    /// The cluster knows nothing of it.
    NotFound,
}

/// That the workers of a role did not get the memory that they were to get while they run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotGiven {
    /// Role.
    pub role: String,
    /// What each of them was to have.
    pub memory: Bytes,
    /// Why, in the cluster's words.
    pub why: String,
}

/// That a worker has nearly used up its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearlyFull {
    /// Its role.
    pub role: String,
    /// Its memory limit, by which it was judged.
    pub limit: Bytes,
    /// Anonymous plus shared memory that it uses.
    pub used: Bytes,
}

impl NearlyFull {
    /// Whether a worker that uses so much of its limit has nearly used it up: 19 of 20 parts. What was chosen from earlier
    /// attempts is a tenth more than the most that they used, so that usual use is below it.
    #[must_use]
    pub fn is(used: Bytes, limit: Bytes) -> bool {
        used.0 > 0 && used >= Self::least(limit)
    }

    /// The least that is nearly all of a limit.
    #[must_use]
    pub fn least(limit: Bytes) -> Bytes {
        Bytes(limit.0 - limit.0 / 20)
    }
}

/// Something that a cluster told of a job: why a worker waits, what could not be mounted, where one was placed.
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

/// How far a program is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Number of completed steps.
    pub step: f64,
    /// Total number of steps, if known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub total: Option<f64>,
}

/// How an attempt ended, and what it left.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// How.
    pub outcome: Outcome,
    /// When its workers ran; absent when none did.
    pub started_at: Option<Timestamp>,
    /// End time of its last part.
    pub ended_at: Timestamp,
    /// What its program reported: of each name, the value of the lowest rank that wrote it.
    pub report: Report,
    /// What it used, all workers together.
    pub usage: UsageSummary,
    /// What the largest worker of each role used, as far as the cluster tells.
    pub roles: Vec<RoleUsage>,
}

impl Ended {
    /// Puts its times after the moment at which the attempt was written, as long as it took: a cluster's clock may be behind, and
    /// Kubernetes counts whole seconds.
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
    /// Files worth showing.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub artifacts: Vec<Artifact>,
    /// Models that it made.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub models: Vec<ReportedModel>,
    /// The last checkpoint.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub checkpoint: Option<Value>,
    /// What the test of its workers came to. It is kept with the attempt.
    #[serde(skip)]
    pub preflight: Option<Box<Tested>>,
    /// A sentence for each thing that could not be read, the first of them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
}

/// One measured value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Name.
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
    /// Name.
    pub name: String,
    /// Path relative to the run's folder.
    pub path: String,
}
