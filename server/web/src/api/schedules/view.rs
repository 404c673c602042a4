//! Schedules, dates and back-fills, as the API shows them.

use cubeloom_domain::pipeline::Schedule;
use cubeloom_domain::schedule::{Backfill, BackfillCounts, Firing, ScheduleState, Trigger};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::time::{Time, maybe};

/// How the schedule of a pipeline stands.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ScheduleView {
    /// The project.
    pub project: String,
    /// The pipeline.
    pub pipeline: String,
    /// The schedule, as the newest version has it; absent when it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub schedule: Option<Value>,
    /// Whether it fires.
    pub active: bool,
    /// The name of who set it, or made it theirs: it runs in their name.
    pub set_by: String,
    /// When.
    pub set_at: Time,
    /// Why it cannot run in their name any more: `user_gone`, `user_disabled` or `user_no_editor`. Whoever resumes it
    /// makes it theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Who paused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_by: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_at: Option<Time>,
    /// The next dates, also while it is paused; none of a schedule that waits for something to happen.
    pub next: Vec<Time>,
    /// What came of looking for its files, where it waits for such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub look: Option<LookView>,
}

/// What came of looking for files.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LookView {
    /// When the storage last answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub looked_at: Option<Time>,
    /// When it was last asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tried_at: Option<Time>,
    /// When it is asked again; absent while the schedule is paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Time>,
    /// How often it has not answered since it last did: the waits grow.
    pub failures: u32,
    /// What went wrong last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl LookView {
    /// What came of looking for the files of a schedule.
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

/// What became of one date.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DateView {
    /// The project.
    pub project: String,
    /// The pipeline.
    pub pipeline: String,
    /// The logical date.
    pub date: Time,
    /// `coming`, `due` (its run is to start), `started`, `missed`, `skipped`, `refused`, `failed` or `cancelled`.
    pub state: String,
    /// What asked for it: `schedule`, `pipeline` (the end of a run of another one), `file`, `backfill` or `person`.
    pub trigger: String,
    /// In whose name it runs.
    pub user: String,
    /// Why it waits or has no run, as a word: `past_underway`, `past_failed`, `running`, `paused`, `missed`,
    /// `there_before` (its file was there before it was waited for), `user_no_reader`,
    /// `user_gone`, `user_disabled`, `user_no_editor`, `invalid`, `unavailable`, `backfill_cancelled` or
    /// `pipeline_deleted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// More of that, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The run, while there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Its state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_state: Option<String>,
    /// Whether it has not succeeded when it should have.
    pub late: bool,
    /// The back-fill that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backfill: Option<String>,
    /// The run of another pipeline whose end fired it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_run: Option<String>,
    /// The path of the file whose arrival fired it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl DateView {
    /// A date, without what its run is.
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

    /// The state that is shown: that of its run, where there is one.
    pub(crate) fn shown_state(&self) -> &str {
        self.run_state.as_deref().unwrap_or(&self.state)
    }
}

/// The dates of a range: what a back-fill over it would do.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DatesView {
    /// The dates, the first ones, with what became of them; `none` in `state`: it was not asked for yet.
    pub dates: Vec<RangeDateView>,
    /// How many there are.
    pub total: usize,
    /// How many of them have no run: a back-fill starts these.
    pub without_run: usize,
    /// How many have a run that goes on, or are about to start.
    pub underway: usize,
}

/// One date of a range.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RangeDateView {
    /// The date.
    pub date: Time,
    /// `none`, or as in the history.
    pub state: String,
    /// The run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Its state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_state: Option<String>,
}

/// The run of a date that somebody wants now.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunDate {
    /// The logical date: a day (its first moment) or a moment, in the schedule's time zone, or a moment in UTC.
    pub date: String,
    /// Also when the date has a run that has ended.
    #[serde(default)]
    pub again: bool,
}

/// A back-fill that somebody wants.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewBackfill {
    /// From this day or moment on, in the schedule's time zone, or in UTC.
    pub first: String,
    /// Until this day (its end) or moment, which must have come.
    pub last: String,
    /// How many of its runs may go on at the same time; 1 when absent.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 100)]
    pub parallelism: Option<u32>,
    /// Also dates with a run that has ended.
    #[serde(default)]
    pub again: bool,
}

/// A back-fill.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BackfillView {
    /// Its id.
    pub id: String,
    /// The project.
    pub project: String,
    /// The pipeline.
    pub pipeline: String,
    /// The first moment.
    pub first: Time,
    /// The last moment.
    pub last: Time,
    /// How many of its runs may go on at the same time.
    pub parallelism: u32,
    /// `running`, `done` or `cancelled`.
    pub state: String,
    /// How many dates it took up.
    pub total: u32,
    /// Of these, those still to start.
    pub due: u32,
    /// Those whose run goes on.
    pub running: u32,
    /// Those whose run has succeeded.
    pub succeeded: u32,
    /// Those whose run failed, was cancelled, or could not be started.
    pub failed: u32,
    /// Those that did not start because it was cancelled.
    pub cancelled: u32,
    /// The name of who wants it.
    pub created_by: String,
    /// Since when.
    pub created_at: Time,
    /// Who cancelled it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled_by: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled_at: Option<Time>,
}

impl BackfillView {
    /// A back-fill with how far it is.
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

/// What a back-fill is cancelled with.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelBackfill {
    /// Whether its runs that go on are stopped, too.
    #[serde(default)]
    pub runs: bool,
}

/// What ran and will run in a span of time.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CalendarView {
    /// The dates, in their order.
    pub dates: Vec<DateView>,
    /// Whether there are more than are shown.
    pub more: bool,
}
