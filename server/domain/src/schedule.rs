//! Stored state of schedules: the state of each, the state of each of its dates, and back-fills.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::ids::RunId;
use crate::pipeline::{EndState, Schedule};
use crate::state::RunState;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    #[default]
    Person,
    Schedule,
    /// A back-fill over past dates.
    Backfill,
    Hook,
    /// A task of another run.
    Task,
    /// The end of a run of another pipeline.
    Pipeline,
    /// A file that arrived.
    File,
}

impl Trigger {
    /// The stored and public name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Schedule => "schedule",
            Self::Backfill => "backfill",
            Self::Hook => "hook",
            Self::Task => "task",
            Self::Pipeline => "pipeline",
            Self::File => "file",
        }
    }

    /// Whether it follows from the pipeline's document, and not from a user's request.
    #[must_use]
    pub fn is_of_document(self) -> bool {
        matches!(self, Self::Schedule | Self::Pipeline | Self::File)
    }
}

/// Why a run exists, and its logical date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// What started it.
    #[serde(default)]
    pub trigger: Trigger,
    /// Its logical date. `None` if it is the creation time.
    #[serde(default)]
    pub date: Option<Timestamp>,
    /// Deadline for its success.
    #[serde(default)]
    pub late_at: Option<Timestamp>,
}

impl Cause {
    /// Whether a run with this cause is late: it has not succeeded by its deadline.
    #[must_use]
    pub fn is_late(&self, state: RunState, ended_at: Option<Timestamp>, now: Timestamp) -> bool {
        let Some(late_at) = self.late_at else { return false };
        match state {
            RunState::Succeeded => ended_at.is_some_and(|ended| ended > late_at),
            // A user cancelled it.
            RunState::Cancelled => false,
            _ => now > late_at,
        }
    }
}

/// The full name of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PipelineName {
    pub project: String,
    pub pipeline: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleState {
    /// The pipeline.
    pub of: PipelineName,
    /// The newest version of the pipeline that was evaluated.
    pub version: u32,
    /// The schedule of that version. `None` if it has none, or one that cannot be read.
    pub schedule: Option<Schedule>,
    /// The user who set or took over the schedule: it runs as this user.
    pub set_by: String,
    /// Time at which it was set.
    pub set_at: Timestamp,
    /// All scheduled runs up to this time are handled.
    pub handled_at: Timestamp,
    /// Time of the next scheduled run, or of the next check for a file. `None` while paused, or without a
    /// next one.
    pub next_at: Option<Timestamp>,
    /// The upstream runs that trigger it. `None` while paused.
    pub after: Option<Awaited>,
    /// The state of checks for files, if it waits for any.
    pub look: Option<Look>,
    /// The user who paused it, and when.
    pub paused: Option<(String, Timestamp)>,
    /// Counts its changes, from 1.
    pub revision: u64,
}

impl ScheduleState {
    /// Whether the schedule is active.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.paused.is_none() && self.schedule.as_ref().is_some_and(|one| one.paused != Some(true))
    }
}

/// The upstream runs that trigger a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// The upstream pipeline.
    pub of: PipelineName,
    /// The required end state.
    pub state: EndState,
    /// Later ends trigger nothing.
    pub until: Option<Timestamp>,
}

/// Result of checking for files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    #[serde(default)]
    pub tried_at: Option<Timestamp>,
    /// Time of the last response from the storage.
    #[serde(default)]
    pub looked_at: Option<Timestamp>,
    /// Number of failed attempts since then.
    #[serde(default)]
    pub failures: u32,
    /// Its error message, or why it was unreachable.
    #[serde(default)]
    pub error: Option<String>,
}

/// The event that a run is triggered for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub at: Timestamp,
    /// The run that ended, or the path of the file that arrived.
    pub what: String,
}

/// State of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FiringState {
    /// Its run is to start.
    Due,
    Started,
    /// No server was running, and there is no catch-up.
    Missed,
    /// Skipped, because another run was active.
    Skipped,
    /// The user that it runs as no longer has permission.
    Refused,
    /// Its run could not be started.
    Failed,
    Cancelled,
}

impl FiringState {
    /// The stored and public name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Due => "due",
            Self::Started => "started",
            Self::Missed => "missed",
            Self::Skipped => "skipped",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// One date of a pipeline. It is unique, however many servers evaluate the schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Firing {
    /// The pipeline.
    pub of: PipelineName,
    pub date: Timestamp,
    /// What triggered it.
    pub trigger: Trigger,
    /// User that it runs as.
    pub user: String,
    pub state: FiringState,
    pub run: Option<RunId>,
    /// The code of the reason why it waits or did not start.
    pub why: Option<String>,
    /// Details of the reason.
    pub detail: Option<String>,
    /// Back-fill that it belongs to.
    pub backfill: Option<String>,
    /// The event that it is triggered for, if it is not just a point in time.
    pub event: Option<Event>,
    /// When its state last changed.
    pub changed_at: Timestamp,
}

/// Runs for past dates, requested by a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backfill {
    pub id: String,
    /// The pipeline.
    pub of: PipelineName,
    pub first: Timestamp,
    pub last: Timestamp,
    /// Maximum number of its runs that can be active concurrently.
    pub parallelism: u32,
    /// Number of dates in the back-fill.
    pub total: u32,
    /// The user who requested it.
    pub created_by: String,
    pub created_at: Timestamp,
    /// The user who cancelled it, and when.
    pub cancelled: Option<(String, Timestamp)>,
}

/// Progress of a back-fill: number of dates by state. Dates that another back-fill has taken over since are
/// not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackfillCounts {
    /// Still to start.
    pub due: u32,
    /// With an active run.
    pub running: u32,
    /// With a successful run.
    pub succeeded: u32,
    /// With a run that failed, was cancelled, or could not be started.
    pub failed: u32,
    /// Not started, because it was cancelled.
    pub cancelled: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_late_that_has_not_succeeded_in_time() {
        let cause = Cause { late_at: Some(Timestamp(100)), ..Cause::default() };
        let late =
            |state, ended: Option<i64>, now| cause.is_late(state, ended.map(Timestamp), Timestamp(now));
        assert!(!late(RunState::Running, None, 100));
        assert!(late(RunState::Running, None, 101));
        assert!(!late(RunState::Succeeded, Some(100), 500));
        assert!(late(RunState::Succeeded, Some(101), 500));
        assert!(late(RunState::Failed, Some(50), 101));
        assert!(!late(RunState::Cancelled, Some(50), 101));
        assert!(!Cause::default().is_late(RunState::Running, None, Timestamp(i64::MAX)));
    }
}
