//! A run's current state: its record, its plan, and the requested tasks.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::record::{AttemptRecord, InstanceRecord, RunRecord};
use cubeloom_domain::{RunId, TaskIx};
use cubeloom_store::TaskFigures;

use super::counts::{self, Counted, States, by_task};
use super::describe;
use super::task::{self, Material};
use super::waits::Waits;
use crate::api::runs::view::{RunView, TaskCounts};
use crate::api::tasks::view::TaskView;
use crate::auth::{Caller, projects_of};
use crate::error::{ApiError, ApiResult};
use crate::forecast::{RunLines, RunStarts};
use crate::state::Web;

/// Runs with at most this many instances are read completely.
const WHOLE: u64 = 2_000;
/// Tasks with at most this many instances are shown from their records, others from aggregates.
const FEW: u64 = 500;
/// With more attempts than this, only the last attempt of each instance is read: retries are unlimited.
/// Counts those of a completely read run, or of one task.
const ATTEMPTS: usize = 4_000;

/// A run with its state.
pub(crate) struct Reader<'w> {
    web: &'w Web,
    pub(crate) record: RunRecord,
    pub(crate) plan: Arc<RunPlan>,
    counts: BTreeMap<u32, States>,
    /// Whether a task waits for a decision while none runs.
    asks: bool,
    starts: Arc<RunStarts>,
    lines: Arc<RunLines>,
    /// Projects that the reader can see. `None` means all.
    seen: Option<Vec<String>>,
}

/// View of a run with its current state.
pub(crate) async fn shown(web: &Web, record: &RunRecord) -> ApiResult<RunView> {
    Ok(describe::run(record, web.runs().counts.of(web, record).await?))
}

pub(crate) async fn plan(web: &Web, run: &RunId) -> ApiResult<Arc<RunPlan>> {
    web.runs().plans.get(web, run).await
}

pub(crate) async fn record(web: &Web, run: &RunId) -> ApiResult<RunRecord> {
    web.store().run(run).await?.ok_or_else(|| ApiError::not_found("run", run))
}

impl<'w> Reader<'w> {
    pub(crate) async fn open(web: &'w Web, run: &RunId) -> ApiResult<Self> {
        let record = record(web, run).await?;
        let plan = plan(web, run).await?;
        let counts = by_task(&web.store().task_counts(run).await?);
        // A user who sees a run sees its project.
        let seen = Some(vec![record.project.clone()]);
        let runs = counts.values().any(|states| states.contains_key("running"));
        let asks = !runs && counts::asks(web, &record, &counts::count(&record, &counts, Some(&plan))).await?;
        Ok(Self { web, record, plan, counts, asks, starts: Arc::default(), lines: Arc::default(), seen })
    }

    /// Adds estimated starts, and blocking tasks as far as `caller` can see them. Readers that only look for
    /// changes do not need these.
    pub(crate) async fn with_starts(mut self, caller: &Caller) -> ApiResult<Self> {
        if self.counts.values().any(|states| states.contains_key("waiting")) {
            self.starts = self.web.starts().of_run(self.web, &self.record.id, &self.plan.cluster).await;
            self.lines = self.web.lines().of_run(self.web, &self.record, &self.plan, &self.starts).await?;
            self.seen = projects_of(self.web, caller).await?;
        }
        Ok(self)
    }

    /// Wait reasons for the reader.
    pub(crate) fn waits(&self) -> Waits<'_> {
        Waits { starts: &self.starts, lines: &self.lines, seen: self.seen.as_deref(), run: &self.record.id }
    }

    pub(crate) fn run(&self) -> RunView {
        let cluster = Some(self.plan.cluster.clone());
        let tasks = counts::count(&self.record, &self.counts, Some(&self.plan));
        let tasks = Counted { tasks, asks: self.asks };
        RunView { cluster, ..describe::run(&self.record, tasks) }
    }

    /// The position of a task.
    pub(crate) fn find(&self, name: &str) -> ApiResult<TaskIx> {
        self.plan.find(name).ok_or_else(|| ApiError::not_found("task", name))
    }

    pub(crate) fn state(&self, index: u32) -> &'static str {
        self.counts.get(&index).map_or_else(
            || counts::unbegun(self.record.state),
            |states| task::state_of(states, self.record.state, self.plan.task(TaskIx(index)).search()),
        )
    }

    /// Whether any instance is pending or waits for a decision.
    pub(crate) fn waits_anywhere(&self) -> bool {
        self.counts.values().any(|states| states.contains_key("waiting"))
    }

    /// Tasks with an instance in this state.
    pub(crate) fn with_any(&self, state: &'static str) -> impl Iterator<Item = u32> {
        self.counts.iter().filter(move |(_, states)| states.contains_key(state)).map(|(index, _)| *index)
    }

    /// Number of stored instances of a task.
    pub(crate) fn instances(&self, index: u32) -> u64 {
        self.counts.get(&index).map_or(0, |states| states.values().sum())
    }

    /// Number of stored instances of all tasks.
    pub(crate) fn all_instances(&self) -> u64 {
        self.counts.values().flat_map(BTreeMap::values).sum()
    }

    /// The stored instances of a task, by state.
    pub(crate) fn counts(&self, index: u32) -> TaskCounts {
        let states = self.counts.get(&index).into_iter().flatten();
        let states = states.map(|(state, count)| ((*state).to_owned(), *count)).collect();
        TaskCounts { total: self.instances(index), states }
    }

    /// Number of a task's instances that have ended.
    pub(crate) fn ended(&self, index: u32) -> u64 {
        let states = self.counts.get(&index).into_iter().flatten();
        states.filter(|(state, _)| !task::OPEN.contains(state)).map(|(_, count)| count).sum()
    }

    /// The tasks at these positions.
    pub(crate) async fn tasks(&self, range: Range<u32>) -> ApiResult<Vec<TaskView>> {
        if self.all_instances() > WHOLE || range.len() <= 3 {
            return self.each(range).await;
        }
        let (run, store) = (&self.record.id, self.web.store());
        let attempts = store.attempts_page(run, None, ATTEMPTS + 1).await?;
        if attempts.len() > ATTEMPTS {
            return self.each(range).await;
        }
        let instances = task::split(store.instances(run).await?, |record| record.task.0);
        let attempts = task::split(attempts, |record| record.task.0);
        let none = (Vec::new(), Vec::new());
        Ok(range
            .map(|index| {
                let instances = instances.get(&index).unwrap_or(&none.0);
                let attempts = attempts.get(&index).unwrap_or(&none.1);
                self.shown(index, instances, attempts, task::figures(instances, attempts))
            })
            .collect())
    }

    async fn each(&self, range: Range<u32>) -> ApiResult<Vec<TaskView>> {
        let mut tasks = Vec::with_capacity(range.len());
        for index in range {
            tasks.push(self.task(index).await?);
        }
        Ok(tasks)
    }

    /// The task at a position.
    pub(crate) async fn task(&self, index: u32) -> ApiResult<TaskView> {
        let (run, task, store) = (&self.record.id, TaskIx(index), self.web.store());
        let Some(states) = self.counts.get(&index) else {
            return Ok(self.shown(index, &[], &[], TaskFigures::default()));
        };
        if states.values().sum::<u64>() <= FEW {
            let instances = store.instances_of(run, task, None, FEW as usize).await?;
            let attempts = store.attempts_of_task(run, task, ATTEMPTS + 1).await?;
            if attempts.len() > ATTEMPTS {
                let last = store.last_attempts(run, task, FEW as usize).await?;
                let figures = store.task_figures(run, task).await?;
                return Ok(self.shown(index, &instances, &last, figures));
            }
            return Ok(self.shown(index, &instances, &attempts, task::figures(&instances, &attempts)));
        }
        let figures = store.task_figures(run, task).await?;
        let mut instances = Vec::new();
        for word in task::worth_a_look(states) {
            instances.extend(store.first_in_state(run, task, word).await?);
        }
        Ok(self.shown(index, &instances, &[], figures))
    }

    fn shown(
        &self,
        index: u32,
        instances: &[InstanceRecord],
        attempts: &[AttemptRecord],
        figures: TaskFigures,
    ) -> TaskView {
        let none = States::new();
        Material {
            plan: &self.plan,
            index,
            run: self.record.state,
            states: self.counts.get(&index).unwrap_or(&none),
            instances,
            attempts,
            figures,
            notes: &self.web.runs().notes,
            waits: self.waits(),
        }
        .view()
    }
}
