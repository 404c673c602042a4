//! How many of a run's tasks are in which state, for lists of runs.

use std::collections::BTreeMap;

use cubeloom_domain::record::RunRecord;
use cubeloom_domain::state::RunState;
use cubeloom_domain::{RunId, Timestamp};
use cubeloom_store::TaskCount;
use moka::sync::Cache;

use super::task::state_of;
use crate::api::runs::view::TaskCounts;
use crate::error::ApiResult;
use crate::state::Web;

/// Ended runs whose counts are kept.
const RUNS: u64 = 10_000;

/// How many instances of a task are in each state.
pub(super) type States = BTreeMap<&'static str, u64>;

/// Counts of runs that have ended: they change only when a run goes on.
pub(super) struct Counts(Cache<(RunId, Timestamp), TaskCounts>);

impl Default for Counts {
    fn default() -> Self {
        Self(Cache::new(RUNS))
    }
}

impl Counts {
    /// A run's tasks by state.
    pub(super) async fn of(&self, web: &Web, run: &RunRecord) -> ApiResult<TaskCounts> {
        let key = run.ended_at.filter(|_| run.state.is_final()).map(|ended| (run.id.clone(), ended));
        if let Some(known) = key.as_ref().and_then(|key| self.0.get(key)) {
            return Ok(known);
        }
        let counts = count(run, &by_task(&web.store().task_counts(&run.id).await?));
        if let Some(key) = key {
            self.0.insert(key, counts.clone());
        }
        Ok(counts)
    }
}

/// The instances of each task by state.
pub(super) fn by_task(counts: &[TaskCount]) -> BTreeMap<u32, States> {
    let mut tasks: BTreeMap<u32, States> = BTreeMap::new();
    for count in counts {
        *tasks.entry(count.task.0).or_default().entry(count.state).or_default() += count.count;
    }
    tasks
}

/// The tasks by state.
pub(super) fn count(run: &RunRecord, tasks: &BTreeMap<u32, States>) -> TaskCounts {
    let mut states: BTreeMap<String, u64> = BTreeMap::new();
    for each in tasks.values() {
        *states.entry(state_of(each, run.state).into()).or_default() += 1;
    }
    let begun = tasks.len() as u64;
    let total = u64::from(run.tasks);
    if total > begun {
        *states.entry(unbegun(run.state).into()).or_default() += total - begun;
    }
    TaskCounts { total, states }
}

/// The state of a task of which nothing is stored.
pub(super) fn unbegun(run: RunState) -> &'static str {
    match run {
        RunState::Queued | RunState::Running => "pending",
        RunState::Cancelling | RunState::Failed | RunState::Cancelled => "cancelled",
        // It had no elements.
        RunState::Succeeded => "skipped",
    }
}
