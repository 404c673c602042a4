//! What is kept of schedules: how each stands, what became of each of its dates, and back-fills.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::ids::RunId;
use crate::pipeline::{EndState, Schedule};
use crate::state::RunState;

/// What started a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// Somebody who wanted it.
    #[default]
    Person,
    /// The pipeline's schedule.
    Schedule,
    /// A back-fill over dates of the past.
    Backfill,
    /// A hook's URL.
    Hook,
    /// A task of another run.
    Task,
    /// The end of a run of another pipeline.
    Pipeline,
    /// A file that arrived.
    File,
}

impl Trigger {
    /// The word for it, as stored and shown.
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

    /// Whether it comes of what the pipeline's document says, and of nobody's wish.
    #[must_use]
    pub fn is_of_document(self) -> bool {
        matches!(self, Self::Schedule | Self::Pipeline | Self::File)
    }
}

/// Why there is a run, and which moment it stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// What started it.
    #[serde(default)]
    pub trigger: Trigger,
    /// Its logical date, where it is not the moment of its creation.
    #[serde(default)]
    pub date: Option<Timestamp>,
    /// By when it should have succeeded.
    #[serde(default)]
    pub late_at: Option<Timestamp>,
}

impl Cause {
    /// Whether a run with this cause is late: it has not succeeded when it should have.
    #[must_use]
    pub fn is_late(&self, state: RunState, ended_at: Option<Timestamp>, now: Timestamp) -> bool {
        let Some(late_at) = self.late_at else { return false };
        match state {
            RunState::Succeeded => ended_at.is_some_and(|ended| ended > late_at),
            // Somebody did not want it any more.
            RunState::Cancelled => false,
            _ => now > late_at,
        }
    }
}

/// The name of a pipeline: its project, and its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PipelineName {
    /// Project.
    pub project: String,
    /// Pipeline.
    pub pipeline: String,
}

/// State of a pipeline's schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleState {
    /// Whose.
    pub of: PipelineName,
    /// The newest version of the pipeline that was looked at.
    pub version: u32,
    /// The schedule of that version, if it has one that can be read.
    pub schedule: Option<Schedule>,
    /// Who set it as it is, or made it theirs: it runs in their name.
    pub set_by: String,
    /// Time at which it was set.
    pub set_at: Timestamp,
    /// All firings up to here have been dealt with.
    pub handled_at: Timestamp,
    /// The next firing, or the next look for a file; none while it is paused, or when there is none.
    pub next_at: Option<Timestamp>,
    /// The ends of runs that fire it; none while it is paused.
    pub after: Option<Awaited>,
    /// Of one that waits for files: what came of looking for them.
    pub look: Option<Look>,
    /// Who paused it, and when.
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

/// The ends of runs that fire a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// The pipeline whose runs these are.
    pub of: PipelineName,
    /// How they must have ended.
    pub state: EndState,
    /// What ends later fires nothing.
    pub until: Option<Timestamp>,
}

/// Result of checking for files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// When it was last tried.
    #[serde(default)]
    pub tried_at: Option<Timestamp>,
    /// Time of the last response from the storage.
    #[serde(default)]
    pub looked_at: Option<Timestamp>,
    /// How often it has not answered since.
    #[serde(default)]
    pub failures: u32,
    /// What it said, or why it could not be asked.
    #[serde(default)]
    pub error: Option<String>,
}

/// What happened that a date is fired for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Time.
    pub at: Timestamp,
    /// The run that ended, or the path of the file that arrived.
    pub what: String,
}

/// What became of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FiringState {
    /// Its run is to start.
    Due,
    /// Its run was started.
    Started,
    /// Nobody was there for it, and it is not made up for.
    Missed,
    /// It was left out: another run was going on.
    Skipped,
    /// In whose name it should run may not do so any more.
    Refused,
    /// Its run could not be started.
    Failed,
    /// Its back-fill was cancelled before it started.
    Cancelled,
}

impl FiringState {
    /// The word for it, as stored and shown.
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

/// One date of a pipeline. There is one for each, however many servers look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Firing {
    /// Whose.
    pub of: PipelineName,
    /// Logical date.
    pub date: Timestamp,
    /// What asked for it.
    pub trigger: Trigger,
    /// User that it runs as.
    pub user: String,
    /// What became of it.
    pub state: FiringState,
    /// Run, if one exists.
    pub run: Option<RunId>,
    /// Why it waits or did not start: a word.
    pub why: Option<String>,
    /// Details of the reason.
    pub detail: Option<String>,
    /// Back-fill that it belongs to.
    pub backfill: Option<String>,
    /// What happened that it is fired for, where that is not its own moment.
    pub event: Option<Event>,
    /// When its state last changed.
    pub changed_at: Timestamp,
}

/// Dates of the past that somebody wants runs for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backfill {
    /// ID.
    pub id: String,
    /// Of what.
    pub of: PipelineName,
    /// The first date.
    pub first: Timestamp,
    /// The last date.
    pub last: Timestamp,
    /// Maximum number of its runs that can be active concurrently.
    pub parallelism: u32,
    /// Number of dates in the back-fill.
    pub total: u32,
    /// Who wants it.
    pub created_by: String,
    /// Creation time.
    pub created_at: Timestamp,
    /// Who cancelled it, and when.
    pub cancelled: Option<(String, Timestamp)>,
}

/// How far a back-fill is: dates by what became of them. Those that another back-fill has taken up since are in none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackfillCounts {
    /// Still to start.
    pub due: u32,
    /// With a run that goes on.
    pub running: u32,
    /// With a run that has succeeded.
    pub succeeded: u32,
    /// With a run that failed or was cancelled, or that could not be started.
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
