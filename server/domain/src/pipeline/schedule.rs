//! When a pipeline runs automatically, as its document defines it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::Span;

/// When a pipeline runs automatically: exactly one of `cron`, `every`, `after` and `file`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Five fields: minute, hour, day of month, month, day of week.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cron: Option<String>,
    /// A fixed interval, counted from `start`, or else from 1970-01-01T00:00.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub every: Option<Span>,
    /// It runs when a run of another pipeline has ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<After>,
    /// It runs for each file, or folder of a partition, that arrives.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<Arrival>,
    /// An IANA time zone; UTC when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timezone: Option<String>,
    /// No scheduled runs before this day (`2026-01-31`) or time (`2026-01-31T06:00`), in the time zone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start: Option<String>,
    /// No scheduled runs after this day or time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end: Option<String>,
    /// What happens to runs that were missed while no server ran; `latest` when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub catch_up: Option<CatchUp>,
    /// Whether a scheduled run waits until the previous one has succeeded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub depends_on_past: Option<bool>,
    /// Whether a scheduled run is skipped while an earlier run of the pipeline is active.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub skip_if_running: Option<bool>,
    /// Maximum random delay of a run. Each date has its own fixed delay.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub jitter: Option<Span>,
    /// A run that has not succeeded this long after its date is marked as late.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub late_after: Option<Span>,
    /// Whether it is paused; users can also pause it without a new version.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub paused: Option<bool>,
}

/// Runs of another pipeline, each of which starts a run when it ends. Runs that are tasks of other runs start
/// none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct After {
    /// The other pipeline.
    pub pipeline: String,
    /// Its project, if it is another one. The user who sets the schedule must be able to read it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub project: Option<String>,
    /// How its run must have ended; `succeeded` when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub state: Option<EndState>,
}

/// The awaited end state of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndState {
    /// It has succeeded.
    #[default]
    Succeeded,
    /// It has failed.
    Failed,
    /// In any state.
    Ended,
}

impl EndState {
    /// The stored and public name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Ended => "ended",
        }
    }
}

/// A file, or a partition's folder, for every hour, day, month or year.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arrival {
    /// The project's volume in which it arrives; its workspace when absent. Not used for an HDFS URL.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub volume: Option<String>,
    /// Its path in the volume, or `hdfs://host:port/path`, with its date: `logs/dt=%Y-%m-%d/_SUCCESS`. With a
    /// trailing slash it is a folder, which counts once it is not empty.
    pub path: String,
    /// Polling interval; `1m` when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub every: Option<Span>,
}

/// What happens to missed runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CatchUp {
    /// They are skipped.
    None,
    /// Only the last of them runs.
    #[default]
    Latest,
    /// All of them run, including those from `start` until the schedule was set.
    All,
}
