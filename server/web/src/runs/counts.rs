//! Task counts of runs by state, for lists of runs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::record::RunRecord;
use cubeloom_domain::state::RunState;
use cubeloom_domain::{RunId, Timestamp};
use cubeloom_store::TaskCount;
use moka::sync::Cache;
use tokio::time::Instant;

use super::describe::is_idle;
use super::reader::plan;
use super::task::state_of;
use crate::api::runs::view::TaskCounts;
use crate::error::ApiResult;
use crate::state::Web;

/// Maximum number of cached runs.
const RUNS: u64 = 10_000;
/// Maximum age of an active run's counts in a list.
const MOMENT: Duration = Duration::from_millis(250);
/// The cache lifetime is at least this multiple of the counting time: a run of 100,000 tasks is counted less
/// often.
const PART: u32 = 10;
/// Counts of an active run are dropped when no list has shown it for this long.
const SHOWN: Duration = Duration::from_secs(60);

/// Number of a task's instances in each state.
pub(super) type States = BTreeMap<&'static str, u64>;

/// A run's tasks by state, and whether one waits for a decision while none runs.
#[derive(Clone, Default)]
pub(super) struct Counted {
    pub(super) tasks: TaskCounts,
    /// Whether a task waits for a decision. Only determined for runs in which no task runs.
    pub(super) asks: bool,
}

/// Cached counts of runs, for lists.
pub(super) struct Counts {
    /// Runs that have ended: their counts change only when a run is resumed.
    ended: Cache<(RunId, Timestamp), Counted>,
    /// Active runs.
    live: Cache<RunId, Arc<Live>>,
}

/// An active run. One caller counts. The others use the previous counts, or wait for the first ones.
#[derive(Default)]
struct Live {
    lately: Mutex<Option<Lately>>,
    counting: tokio::sync::Mutex<()>,
}

impl Live {
    /// The counts of the run in this state, and whether they are fresh.
    fn known(&self, state: RunState) -> Option<(Counted, bool)> {
        let lately = self.lately.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lately.as_ref().filter(|known| known.state == state)?;
        Some((known.counts.clone(), Instant::now() < known.until))
    }

    /// Stores the counts, unless newer ones are stored.
    fn keep(&self, counted: Lately) {
        let mut lately = self.lately.lock().unwrap_or_else(PoisonError::into_inner);
        if lately.as_ref().is_none_or(|known| known.began <= counted.began) {
            *lately = Some(counted);
        }
    }
}

/// The last counts.
struct Lately {
    state: RunState,
    counts: Counted,
    began: Instant,
    until: Instant,
}

impl Default for Counts {
    fn default() -> Self {
        let live = Cache::builder().max_capacity(RUNS).time_to_idle(SHOWN).build();
        Self { ended: Cache::new(RUNS), live }
    }
}

impl Counts {
    /// A run's current task counts. Afterwards, lists show nothing older: a client that gets an event and
    /// reads the list finds the change.
    pub(super) async fn of(&self, web: &Web, run: &RunRecord) -> ApiResult<Counted> {
        let key = run.ended_at.filter(|_| run.state.is_final()).map(|ended| (run.id.clone(), ended));
        if let Some(known) = key.as_ref().and_then(|key| self.ended.get(key)) {
            return Ok(known);
        }
        let began = Instant::now();
        let tasks = by_task(&web.store().task_counts(&run.id).await?);
        // Only the plan says for which tasks some instances may fail. Usually it need not be read.
        let mixed = |states: &States| {
            states.contains_key("failed")
                && (states.contains_key("succeeded") || states.contains_key("reused"))
        };
        let plan = if tasks.values().any(mixed) { Some(plan(web, &run.id).await?) } else { None };
        let tasks = count(run, &tasks, plan.as_deref());
        let asks = asks(web, run, &tasks).await?;
        let counts = Counted { tasks, asks };
        if let Some(key) = key {
            self.ended.insert(key, counts.clone());
        } else {
            let now = Instant::now();
            let until = now + MOMENT.max((now - began) * PART);
            let lately = Lately { state: run.state, counts: counts.clone(), began, until };
            self.live.get_with_by_ref(&run.id, Arc::default).keep(lately);
        }
        Ok(counts)
    }

    /// A run's task counts, which may be slightly old for an active run.
    pub(super) async fn lately(&self, web: &Web, run: &RunRecord) -> ApiResult<Counted> {
        if run.state.is_final() {
            return self.of(web, run).await;
        }
        let live = self.live.get_with_by_ref(&run.id, Arc::default);
        let known = live.known(run.state);
        let _counting = match (known, live.counting.try_lock()) {
            (Some((counts, true)), _) | (Some((counts, false)), Err(_)) => return Ok(counts),
            (Some((_, false)), Ok(counting)) | (None, Ok(counting)) => counting,
            (None, Err(_)) => {
                let counting = live.counting.lock().await;
                if let Some((counts, _)) = live.known(run.state) {
                    return Ok(counts);
                }
                counting
            }
        };
        self.of(web, run).await
    }
}

/// Whether a task waits for a decision while none runs.
pub(super) async fn asks(web: &Web, run: &RunRecord, tasks: &TaskCounts) -> ApiResult<bool> {
    Ok(is_idle(run.state, tasks) && !web.store().questions(&run.id, 1).await?.is_empty())
}

/// The instances of each task by state.
pub(super) fn by_task(counts: &[TaskCount]) -> BTreeMap<u32, States> {
    let mut tasks: BTreeMap<u32, States> = BTreeMap::new();
    for count in counts {
        *tasks.entry(count.task.0).or_default().entry(count.state).or_default() += count.count;
    }
    tasks
}

pub(super) fn count(run: &RunRecord, tasks: &BTreeMap<u32, States>, plan: Option<&RunPlan>) -> TaskCounts {
    let mut states: BTreeMap<String, u64> = BTreeMap::new();
    for (index, each) in tasks {
        let search = plan.and_then(|plan| plan.tasks.get(*index as usize)?.search());
        *states.entry(state_of(each, run.state, search).into()).or_default() += 1;
    }
    let begun = tasks.len() as u64;
    let total = u64::from(run.tasks);
    if total > begun {
        *states.entry(unbegun(run.state).into()).or_default() += total - begun;
    }
    TaskCounts { total, states }
}

/// The state of a task without stored instances.
pub(super) fn unbegun(run: RunState) -> &'static str {
    match run {
        RunState::Queued | RunState::Running => "pending",
        RunState::Cancelling | RunState::Failed | RunState::Cancelled => "cancelled",
        // It had no items.
        RunState::Succeeded => "skipped",
    }
}
