//! The first tasks of several runs at once, for the grid of a pipeline. They are read by aggregates: a run may
//! have 100,000 instances.

use std::collections::HashMap;
use std::sync::Arc;

use cubeloom_domain::plan::{ForEachItems, PlannedTask};
use cubeloom_domain::record::RunRecord;
use cubeloom_domain::search::PlannedSearch;
use cubeloom_domain::state::RunState;
use cubeloom_domain::{RunId, Timestamp};
use cubeloom_store::{AttemptStart, InstanceGroup};
use moka::sync::Cache;

use super::counts::States;
use super::task::{split, state_of};
use crate::error::ApiResult;
use crate::state::Web;
use crate::time::seconds;

/// Maximum number of tasks of all cached runs.
const TASKS: u64 = 200_000;
/// The attempts of runs with more than this are not read: their tasks have no run time.
const ATTEMPTS: u64 = 5_000;
/// Runs per query. With very large runs each query takes a while, and what was read is kept if the client does
/// not wait for the rest.
pub(super) const AT_ONCE: usize = 8;

/// A task of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cell {
    pub(crate) task: Arc<str>,
    pub(crate) state: &'static str,
    /// Number of stored instances.
    pub(crate) instances: u64,
    pub(crate) attempts: u64,
    /// Time from the start of its first attempt to the end of its last instance.
    pub(crate) run_seconds: Option<f64>,
}

/// The first tasks of a run, in document order.
pub(crate) type Column = Vec<Cell>;

/// The part of a planned task that determines its state.
#[derive(Clone, Debug)]
pub(super) struct GridTask {
    pub(super) name: Arc<str>,
    /// Whether it has exactly one instance: no `for_each` and no search.
    pub(super) plain: bool,
    /// Whether it has no items.
    pub(super) empty: bool,
    pub(super) search: Option<Box<PlannedSearch>>,
}

impl From<PlannedTask> for GridTask {
    fn from(task: PlannedTask) -> Self {
        let plain = task.for_each.is_none();
        let (empty, search) = match task.for_each.map(|each| each.items) {
            Some(ForEachItems::Known(items)) => (items.is_empty(), None),
            Some(ForEachItems::Search(search)) => (false, Some(search)),
            Some(ForEachItems::Expression(_)) | None => (false, None),
        };
        Self { name: task.name.into(), plain, empty, search }
    }
}

/// Cached tasks of runs.
pub(super) struct Grids {
    plans: Cache<RunId, Arc<Vec<GridTask>>>,
    /// Runs that have ended: their tasks change only when a run is resumed.
    ended: Cache<(RunId, Timestamp), Arc<Column>>,
}

impl Default for Grids {
    fn default() -> Self {
        let weight = |tasks: usize| u32::try_from(tasks + 1).unwrap_or(u32::MAX);
        let plans = Cache::builder().max_capacity(TASKS);
        let ended = Cache::builder().max_capacity(TASKS);
        Self {
            plans: plans.weigher(move |_: &RunId, plan: &Arc<Vec<GridTask>>| weight(plan.len())).build(),
            ended: ended
                .weigher(move |_: &(RunId, Timestamp), tasks: &Arc<Column>| weight(tasks.len()))
                .build(),
        }
    }
}

impl Grids {
    fn get(&self, run: &RunRecord) -> Option<Arc<Column>> {
        self.ended.get(&key(run)?)
    }

    fn keep(&self, run: &RunRecord, column: &Arc<Column>) {
        if let Some(key) = key(run) {
            self.ended.insert(key, Arc::clone(column));
        }
    }
}

/// The cache key of a run that has ended.
pub(super) fn key(run: &RunRecord) -> Option<(RunId, Timestamp)> {
    let ended_at = run.ended_at.filter(|_| run.state.is_final())?;
    Some((run.id.clone(), ended_at))
}

/// The first tasks of each of these runs.
pub(crate) async fn columns(web: &Web, runs: &[RunRecord]) -> ApiResult<Vec<Arc<Column>>> {
    let grids = &web.runs().grids;
    let mut columns: HashMap<&RunId, Arc<Column>> = HashMap::new();
    let mut unknown: Vec<&RunRecord> = Vec::new();
    for run in runs {
        match grids.get(run) {
            Some(column) => {
                columns.insert(&run.id, column);
            }
            None => unknown.push(run),
        }
    }
    for part in unknown.chunks(AT_ONCE) {
        for (run, column) in part.iter().zip(read(web, part).await?) {
            grids.keep(run, &column);
            columns.insert(&run.id, column);
        }
    }
    Ok(runs.iter().map(|run| columns.remove(&run.id).unwrap_or_default()).collect())
}

async fn read(web: &Web, runs: &[&RunRecord]) -> ApiResult<Vec<Arc<Column>>> {
    let ids: Vec<&RunId> = runs.iter().map(|run| &run.id).collect();
    let plans = plans(web, &ids).await?;
    let mut groups = by_run(web.store().instance_groups(&ids).await?, |group| &group.run);
    let has_few =
        |run: &&RunId| groups.get(*run).is_some_and(|groups| (1..=ATTEMPTS).contains(&attempts(groups)));
    let few: Vec<&RunId> = ids.into_iter().filter(has_few).collect();
    let mut starts = by_run(web.store().attempt_starts(&few).await?, |start| &start.run);
    let mut columns = Vec::with_capacity(runs.len());
    for run in runs {
        let plan = plans.get(&run.id).map(|plan| plan.as_slice()).unwrap_or_default();
        let groups = groups.remove(&run.id).unwrap_or_default();
        let starts = starts.remove(&run.id).unwrap_or_default();
        columns.push(Arc::new(column(run.state, plan, groups, starts)));
    }
    Ok(columns)
}

/// The first tasks of these runs' plans.
pub(super) async fn plans(web: &Web, runs: &[&RunId]) -> ApiResult<HashMap<RunId, Arc<Vec<GridTask>>>> {
    let cache = &web.runs().grids.plans;
    let mut found = HashMap::new();
    let mut unknown: Vec<&RunId> = Vec::new();
    for run in runs.iter().copied() {
        match cache.get(run) {
            Some(plan) => {
                found.insert(run.clone(), plan);
            }
            None => unknown.push(run),
        }
    }
    for (run, tasks) in web.store().first_tasks(&unknown).await? {
        let plan: Arc<Vec<GridTask>> = Arc::new(tasks.into_iter().map(GridTask::from).collect());
        cache.insert(run.clone(), Arc::clone(&plan));
        found.insert(run, plan);
    }
    Ok(found)
}

pub(super) fn by_run<R>(rows: Vec<R>, run: impl Fn(&R) -> &RunId) -> HashMap<RunId, Vec<R>> {
    let mut found: HashMap<RunId, Vec<R>> = HashMap::new();
    for row in rows {
        let run = run(&row).clone();
        found.entry(run).or_default().push(row);
    }
    found
}

fn attempts(groups: &[InstanceGroup]) -> u64 {
    groups.iter().map(|group| group.attempts).sum()
}

/// The tasks of a run in this state.
fn column(run: RunState, plan: &[GridTask], groups: Vec<InstanceGroup>, starts: Vec<AttemptStart>) -> Column {
    let groups = split(groups, |group| group.task.0);
    let starts = split(starts, |start| start.task.0);
    let cell = |(index, task): (u32, &GridTask)| {
        let groups = groups.get(&index).map(Vec::as_slice).unwrap_or_default();
        let starts = starts.get(&index).map(Vec::as_slice).unwrap_or_default();
        cell(run, task, groups, starts)
    };
    (0..).zip(plan).map(cell).collect()
}

fn cell(run: RunState, task: &GridTask, groups: &[InstanceGroup], starts: &[AttemptStart]) -> Cell {
    let mut states = States::new();
    for group in groups {
        *states.entry(group.state).or_default() += group.count;
    }
    let state = if states.is_empty() && task.empty {
        "skipped"
    } else {
        state_of(&states, run, task.search.as_deref())
    };
    let begun = groups.iter().filter(|group| group.state != "pending");
    let ready_at = begun.map(|group| group.ready_at).min();
    // A rerun task has attempts from before.
    let present = starts.iter().filter(|start| Some(start.created_at) >= ready_at);
    let started_at = present.map(|start| start.started_at).min();
    let ended: Option<Vec<Timestamp>> = groups.iter().map(|group| group.ended_at).collect();
    let ended_at = ended.and_then(|ended| ended.into_iter().max());
    Cell {
        task: Arc::clone(&task.name),
        state,
        instances: states.values().sum(),
        attempts: attempts(groups),
        run_seconds: seconds(started_at, ended_at),
    }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::TaskIx;

    use super::*;

    fn run() -> RunId {
        RunId::new(Timestamp(0), 7)
    }

    fn group(task: u32, state: &'static str, attempts: u64, ended_at: Option<i64>) -> InstanceGroup {
        InstanceGroup {
            run: run(),
            task: TaskIx(task),
            state,
            count: 1,
            attempts,
            ready_at: Timestamp(10_000_000),
            ended_at: ended_at.map(Timestamp),
        }
    }

    fn start(task: u32, created_at: i64, started_at: i64) -> AttemptStart {
        let (created_at, started_at) = (Timestamp(created_at), Timestamp(started_at));
        AttemptStart { run: run(), task: TaskIx(task), created_at, started_at }
    }

    #[test]
    fn a_task_has_a_state_its_attempts_and_the_time_since_it_last_became_ready() {
        let task = |name: &str, empty| GridTask { name: name.into(), plain: true, empty, search: None };
        let plan = [task("rerun", false), task("each", false), task("none", true), task("later", false)];
        let groups = vec![
            group(0, "succeeded", 2, Some(15_000_000)),
            group(1, "succeeded", 1, Some(14_000_000)),
            group(1, "failed", 3, Some(19_000_000)),
        ];
        // The first attempt was before the rerun.
        let starts = vec![start(0, 2_000_000, 3_000_000), start(0, 11_000_000, 12_000_000)];
        let shown = |run| -> Vec<(String, &'static str, u64, u64, Option<f64>)> {
            let cells = column(run, &plan, groups.clone(), starts.clone());
            let one = |cell: Cell| {
                (cell.task.to_string(), cell.state, cell.instances, cell.attempts, cell.run_seconds)
            };
            cells.into_iter().map(one).collect()
        };
        assert_eq!(
            shown(RunState::Failed),
            [
                ("rerun".to_owned(), "succeeded", 1, 2, Some(3.0)),
                ("each".to_owned(), "failed", 2, 4, None),
                ("none".to_owned(), "skipped", 0, 0, None),
                ("later".to_owned(), "cancelled", 0, 0, None),
            ]
        );
        assert_eq!(shown(RunState::Running)[3].1, "pending");
    }

    #[test]
    fn a_task_that_goes_on_has_no_run_time() {
        let plan = [GridTask { name: "each".into(), plain: false, empty: false, search: None }];
        let groups = vec![group(0, "succeeded", 1, Some(14_000_000)), group(0, "running", 1, None)];
        let cells = column(RunState::Running, &plan, groups, vec![start(0, 11_000_000, 12_000_000)]);
        assert_eq!((cells[0].state, cells[0].instances, cells[0].run_seconds), ("running", 2, None));
    }
}
