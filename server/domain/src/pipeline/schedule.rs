//! When a pipeline runs by itself, as its document says it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::Span;

/// When a pipeline runs by itself: exactly one of `cron`, `every`, `after` and `file`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Five fields: minute, hour, day of month, month, day of week.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cron: Option<String>,
    /// A fixed distance, counted from `start`, else from the first midnight of 1970.
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
    /// No firing before this day (`2026-01-31`) or moment (`2026-01-31T06:00`), in the time zone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start: Option<String>,
    /// No firing after this day or moment.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end: Option<String>,
    /// What becomes of firings that were missed while no server ran; `latest` when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub catch_up: Option<CatchUp>,
    /// Whether a firing waits until the run of the one before has succeeded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub depends_on_past: Option<bool>,
    /// Whether a firing is left out while an earlier run of the pipeline goes on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub skip_if_running: Option<bool>,
    /// The run starts up to this much later: each date at its own moment, the same one whenever it is asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub jitter: Option<Span>,
    /// A run that has not succeeded this long after its date is marked as late.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub late_after: Option<Span>,
    /// Whether it does not fire; people can pause it without a new version, too.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub paused: Option<bool>,
}

/// The end of another pipeline's runs, each of which starts a run. Runs that are tasks of other runs start none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct After {
    /// The other pipeline.
    pub pipeline: String,
    /// Its project, where that is another one: whoever sets the schedule must be able to read it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub project: Option<String>,
    /// How its run must have ended; `succeeded` when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub state: Option<EndState>,
}

/// How a run has ended that others wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndState {
    /// It has succeeded.
    #[default]
    Succeeded,
    /// It has failed.
    Failed,
    /// However it has ended.
    Ended,
}

impl EndState {
    /// The word for it, as stored and shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Ended => "ended",
        }
    }
}

/// A file, or a partition's folder, of every hour, day, month or year.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arrival {
    /// The volume of the project that it comes to; its workspace when absent. None for an address of HDFS.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub volume: Option<String>,
    /// Its path in the volume, or `hdfs://host:port/path`, with its date: `logs/dt=%Y-%m-%d/_SUCCESS`. With a slash at
    /// its end it is a folder, which counts once something lies in it.
    pub path: String,
    /// How often it is looked for; `1m` when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub every: Option<Span>,
}

/// What becomes of missed firings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CatchUp {
    /// They are left out.
    None,
    /// The last of them is made up for.
    #[default]
    Latest,
    /// Each of them is, from `start` on also those before the schedule was set.
    All,
}
