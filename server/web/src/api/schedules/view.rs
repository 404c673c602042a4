//! Views of schedules, dates and back-fills.

use cubeloom_domain::pipeline::Schedule;
use cubeloom_domain::schedule::{Backfill, BackfillCounts, Firing, ScheduleState, Trigger};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::time::{Time, maybe};

/// State of a pipeline's schedule.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ScheduleView {
    /// Project.
    pub project: String,
    /// Pipeline.
    pub pipeline: String,
    /// Schedule in the newest version of the pipeline. Omitted if that version has no schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub schedule: Option<Value>,
    /// Whether the schedule is active.
    pub active: bool,
    /// Name of the user who set the schedule or took it over. It runs as this user.
    pub set_by: String,
    /// Time at which the schedule was set.
    pub set_at: Time,
    /// Reason why the schedule can no longer run as this user: `user_gone`, `user_disabled` or `user_no_editor`. A
    /// user who resumes the schedule takes it over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// User who paused the schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_by: Option<String>,
    /// Time at which the schedule was paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_at: Option<Time>,
    /// Next dates, also while the schedule is paused. Empty for a schedule that waits for an event.
    pub next: Vec<Time>,
    /// Result of the search for files, if the schedule waits for files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub look: Option<LookView>,
}

/// Result of checking for files.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LookView {
    /// Time of the last response from the storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub looked_at: Option<Time>,
    /// Time of the last request to the storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tried_at: Option<Time>,
    /// Time of the next request. Omitted while the schedule is paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Time>,
    /// Number of consecutive failed requests since the last successful one. The time between requests grows with it.
    pub failures: u32,
    /// Last error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl LookView {
    /// Result of the checks for a schedule's files.
    pub(crate) fn of(state: &ScheduleState) -> Option<Self> {
        state.schedule.as_ref().filter(|schedule| schedule.file.is_some())?;
        let look = state.look.clone().unwrap_or_default();
        Some(Self {
            looked_at: maybe(look.looked_at),
            tried_at: maybe(look.tried_at),
            next_at: maybe(state.next_at),
            failures: look.failures,
            error: look.error,
        })
    }
}

/// A schedule as in the document.
pub(crate) fn document(schedule: &Schedule) -> Option<Value> {
    serde_json::to_value(schedule).ok()
}

/// Result of one date.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DateView {
    /// Project.
    pub project: String,
    /// Pipeline.
    pub pipeline: String,
    /// Logical date.
    pub date: Time,
    /// State of the date: `coming`, `due` (its run is about to start), `started`, `missed`, `skipped`, `refused`,
    /// `failed` or `cancelled`.
    pub state: String,
    /// What requested the date: `schedule`, `pipeline` (a run of another pipeline ended), `file`, `backfill` or
    /// `person`.
    pub trigger: String,
    /// User that it runs as.
    pub user: String,
    /// Code of the reason why the date is waiting or has no run. Values: `past_underway`, `past_failed`, `running`,
    /// `paused`, `missed`, `there_before` (its file existed before the schedule waited for it), `user_no_reader`,
    /// `user_gone`, `user_disabled`, `user_no_editor`, `invalid`, `unavailable`, `backfill_cancelled`,
    /// `pipeline_deleted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Details of the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Run, if one exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// State.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_state: Option<String>,
    /// Whether the run did not succeed in time.
    pub late: bool,
    /// Back-fill that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backfill: Option<String>,
    /// Run of another pipeline whose end triggered the date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_run: Option<String>,
    /// Path of the file whose arrival triggered the date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl DateView {
    /// A date, without the state of its run.
    pub(crate) fn new(firing: Firing) -> Self {
        let what = firing.event.map(|event| event.what);
        Self {
            after_run: what.clone().filter(|_| firing.trigger == Trigger::Pipeline),
            file: what.filter(|_| firing.trigger == Trigger::File),
            project: firing.of.project,
            pipeline: firing.of.pipeline,
            date: Time(firing.date),
            state: firing.state.as_str().into(),
            trigger: firing.trigger.as_str().into(),
            user: firing.user,
            why: firing.why,
            detail: firing.detail,
            run: firing.run.map(|run| run.to_string()),
            run_state: None,
            late: false,
            backfill: firing.backfill,
        }
    }

    /// State to show: that of the run, if it exists.
    pub(crate) fn shown_state(&self) -> &str {
        self.run_state.as_deref().unwrap_or(&self.state)
    }
}

/// Dates in a range, as a back-fill of the range would find them.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DatesView {
    /// First dates in the range, with their results. `state` is `none` for a date that has not been requested yet.
    pub dates: Vec<RangeDateView>,
    /// Total number of dates.
    pub total: usize,
    /// Number of dates without a run. A back-fill starts these.
    pub without_run: usize,
    /// Number of dates with an active run or a run that is about to start.
    pub underway: usize,
}

/// One date in a range.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RangeDateView {
    /// Logical date.
    pub date: Time,
    /// State of the date: `none`, or a state as in the history.
    pub state: String,
    /// Run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// State.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_state: Option<String>,
}

/// Request to run a date now.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunDate {
    /// Logical date: a day (its start) or a time, in the time zone of the schedule, or a time in UTC.
    pub date: String,
    /// Whether to run the date again if its run has ended.
    #[serde(default)]
    pub again: bool,
}

/// A back-fill to create.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewBackfill {
    /// Start of the range: a day or a time, in the time zone of the schedule or in UTC.
    pub first: String,
    /// End of the range: a day, which is included, or a time. It must not be in the future.
    pub last: String,
    /// Maximum number of parallel runs. Defaults to 1.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 100)]
    pub parallelism: Option<u32>,
    /// Whether to include dates whose run has ended.
    #[serde(default)]
    pub again: bool,
}

/// A back-fill.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BackfillView {
    /// ID.
    pub id: String,
    /// Project.
    pub project: String,
    /// Pipeline.
    pub pipeline: String,
    /// Start of the time range.
    pub first: Time,
    /// End of the range.
    pub last: Time,
    /// Maximum number of its runs that can be active concurrently.
    pub parallelism: u32,
    /// State of the back-fill: `running`, `done` or `cancelled`.
    pub state: String,
    /// Number of dates in the back-fill.
    pub total: u32,
    /// Number of dates whose run is still to start.
    pub due: u32,
    /// Number of dates whose run is active.
    pub running: u32,
    /// Number of dates whose run succeeded.
    pub succeeded: u32,
    /// Number of dates whose run failed, was cancelled or could not be started.
    pub failed: u32,
    /// Number of dates that did not start because the back-fill was cancelled.
    pub cancelled: u32,
    /// Name of the user who created the back-fill.
    pub created_by: String,
    /// Creation time.
    pub created_at: Time,
    /// User who cancelled the back-fill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled_by: Option<String>,
    /// Cancellation time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled_at: Option<Time>,
}

impl BackfillView {
    /// View of a back-fill with its progress.
    pub(crate) fn new(backfill: Backfill, counts: BackfillCounts) -> Self {
        let state = match &backfill.cancelled {
            Some(_) => "cancelled",
            None if counts.due + counts.running > 0 => "running",
            None => "done",
        };
        let (cancelled_by, cancelled_at) = backfill.cancelled.unzip();
        Self {
            id: backfill.id,
            project: backfill.of.project,
            pipeline: backfill.of.pipeline,
            first: Time(backfill.first),
            last: Time(backfill.last),
            parallelism: backfill.parallelism,
            state: state.into(),
            total: backfill.total,
            due: counts.due,
            running: counts.running,
            succeeded: counts.succeeded,
            failed: counts.failed,
            cancelled: counts.cancelled,
            created_by: backfill.created_by,
            created_at: Time(backfill.created_at),
            cancelled_by,
            cancelled_at: maybe(cancelled_at),
        }
    }
}

/// Options for cancelling a back-fill.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelBackfill {
    /// Whether to cancel active runs of the back-fill.
    #[serde(default)]
    pub runs: bool,
}

/// Past and future runs in a period.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CalendarView {
    /// Dates in chronological order.
    pub dates: Vec<DateView>,
    /// Whether there are more dates than shown.
    pub more: bool,
}
