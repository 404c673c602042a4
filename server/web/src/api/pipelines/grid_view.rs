//! Views of the runs of a pipeline by their tasks.

use cubeloom_domain::record::RunRecord;
use serde::Serialize;
use utoipa::ToSchema;

use crate::runs::grid::Cell;
use crate::time::{Time, maybe, seconds};

/// Runs of a pipeline by their tasks.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GridView {
    /// Runs, oldest first.
    pub runs: Vec<GridRunView>,
    /// Tasks of the newest version in document order, followed by tasks that only other versions have. At most 500.
    pub tasks: Vec<GridTaskView>,
    /// Whether tasks are missing. Only the first 500 tasks of each run are read.
    pub truncated: bool,
    /// Durations of the runs that succeeded.
    pub durations: DurationsView,
    /// Cursor of older runs, to be sent as `cursor`. Omitted if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A run in the grid.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GridRunView {
    /// ID.
    pub id: String,
    /// State of the run: `queued`, `running`, `cancelling`, `succeeded`, `failed` or `cancelled`.
    pub state: String,
    /// Time at which the run was requested.
    pub created_at: Time,
    /// Time when the run started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// Time from start to end, in seconds. Omitted until the run has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_seconds: Option<f64>,
    /// Time that the run waited for other runs of its pipeline, in seconds. Omitted while it is waiting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued_seconds: Option<f64>,
    /// Version of the pipeline. Omitted if the run was started from a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// Logical date of the run if it differs from its creation time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logical_date: Option<Time>,
    /// What started the run: `person`, `schedule`, `backfill`, `pipeline` (another run ended), `file` (a file
    /// arrived), `hook` or `task`.
    pub trigger: String,
}

/// A task in the grid.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct GridTaskView {
    /// Name.
    pub name: String,
    /// Whether the newest version of the pipeline does not have this task.
    pub removed: bool,
    /// Number of these runs in which the task failed.
    pub failures: u64,
    /// Outcome of the task in each run that has it, in the order of the runs.
    pub cells: Vec<GridCellView>,
}

/// A task of a run in the grid.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct GridCellView {
    /// Position of the run in `runs`, from 0.
    pub run: usize,
    /// State of the task, as in the run's list of tasks.
    pub state: String,
    /// Number of instances so far.
    pub instances: u64,
    /// Number of attempts.
    pub attempts: u64,
    /// Time from the start of the first attempt to the end of the last instance, in seconds. Omitted while the task
    /// runs, and for runs with more than 5,000 attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_seconds: Option<f64>,
}

/// Durations of runs.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct DurationsView {
    /// Number of runs that succeeded.
    pub succeeded: usize,
    /// Median of their durations, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_seconds: Option<f64>,
    /// 90th percentile of their durations, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90_seconds: Option<f64>,
}

impl From<&RunRecord> for GridRunView {
    fn from(run: &RunRecord) -> Self {
        Self {
            id: run.id.to_string(),
            state: run.state.as_str().into(),
            created_at: Time(run.created_at),
            started_at: maybe(run.started_at),
            duration_seconds: seconds(run.started_at, run.ended_at),
            queued_seconds: seconds(Some(run.created_at), run.started_at),
            version: run.version,
            logical_date: maybe(run.cause.date),
            trigger: run.cause.trigger.as_str().into(),
        }
    }
}

impl GridCellView {
    /// View of a task of the run at a position.
    pub(crate) fn new(run: usize, cell: &Cell) -> Self {
        Self {
            run,
            state: cell.state.into(),
            instances: cell.instances,
            attempts: cell.attempts,
            run_seconds: cell.run_seconds,
        }
    }
}

impl DurationsView {
    /// Statistics of durations in seconds.
    pub(crate) fn of(mut seconds: Vec<f64>) -> Self {
        seconds.sort_unstable_by(f64::total_cmp);
        let succeeded = seconds.len();
        let at = |index: usize| seconds.get(index).copied();
        let middle = at(succeeded.saturating_sub(1) / 2).zip(at(succeeded / 2));
        // The smallest duration that nine of ten runs did not exceed.
        let nine_of_ten = (succeeded * 9).div_ceil(10);
        Self {
            succeeded,
            median_seconds: middle.map(|(low, high)| f64::midpoint(low, high)),
            p90_seconds: at(nine_of_ten.saturating_sub(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_p90_are_of_the_given_durations() {
        let of = |seconds: &[f64]| {
            let found = DurationsView::of(seconds.to_vec());
            (found.succeeded, found.median_seconds, found.p90_seconds)
        };
        assert_eq!(of(&[]), (0, None, None));
        assert_eq!(of(&[7.0]), (1, Some(7.0), Some(7.0)));
        assert_eq!(of(&[4.0, 1.0]), (2, Some(2.5), Some(4.0)));
        let ten: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        assert_eq!(of(&ten), (10, Some(5.5), Some(9.0)));
    }
}
