//! Loading a run into memory: a new one, one of an earlier server, or one to be rerun.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use cubeloom_admission::{Length, Scaler, TakenUp};
use cubeloom_domain::executor::StopCause;
use cubeloom_domain::graph::Graph;
use cubeloom_domain::history::History;
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::pipeline::Spread;
use cubeloom_domain::plan::{PlannedTask, RunPlan};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::record::{AttemptRecord, ExpansionRecord, InstanceRecord, LoadedRun, RunRecord};
use cubeloom_domain::state::{AttemptState, InstanceState, RunState};
use cubeloom_domain::{TaskIx, Timestamp};

use super::active::{ActiveRun, Instance, LiveAttempt, TaskCell};
use super::admit::submission;
use super::{Action, At, Core, Slot, Timer, prepare, search};
use crate::decide::finish;
use crate::decide::trigger::Needs;

impl Core {
    /// Loads a leased run into memory and continues from its stored state. A queued run waits for
    /// [`Self::start_queued_runs`]: the number of active runs is known only when all are loaded.
    pub fn load(&mut self, loaded: LoadedRun, now: Timestamp) {
        self.now = now;
        let id = loaded.record.id.clone();
        if self.has(&id) {
            return;
        }
        let final_already = loaded.record.state.is_final();
        let lengths = lengths(&loaded.plan, &loaded.history);
        let run = build(loaded.record, Arc::new(loaded.plan), loaded.expansions, loaded.instances);
        let mut run = ActiveRun { lengths, ..run };
        let slot = self.runs.len();
        for (task, instance, known) in loaded.known {
            // A shorter expansion may have left attempts of instances that no longer exist.
            if let Some(instance) = run.instance_mut(At { slot, task, instance }) {
                instance.known = known;
            }
        }
        self.histories.enter(&run, loaded.sizing);
        self.memo.forget();
        self.runs.push(Some(Box::new(run)));
        self.slots.insert(id, slot);
        for attempt in loaded.attempts {
            self.take_up(slot, attempt);
        }
        if !final_already {
            self.go_on(slot, now);
        }
    }

    /// Continues everything that can: waiting instances, timers, tasks whose upstream has ended.
    pub(super) fn go_on(&mut self, slot: Slot, now: Timestamp) {
        let Some(run) = self.run_mut(slot) else { return };
        if run.record.state == RunState::Queued {
            return;
        }
        if run.record.state == RunState::Running && !run.prepared {
            return self.prepare(slot);
        }
        let mut tasks: Vec<TaskIx> = (0..run.tasks.len() as u32).map(TaskIx).collect();
        // Of instances that become ready together, the run's parallelism admits those of the highest
        // priority.
        if run.plan.parallelism.is_some() {
            tasks.sort_by_key(|task| Reverse(run.plan.task(*task).priority));
        }
        let cells = tasks.iter().map(|task| (*task, &run.tasks[task.index()]));
        let begun: Vec<(TaskIx, usize)> = cells
            .filter(|(_, cell)| cell.begun && cell.end.is_none())
            .map(|(task, cell)| (task, cell.instances.len()))
            .collect();
        for (task, instances) in begun {
            for instance in 0..instances as u32 {
                self.go_on_with(At { slot, task, instance });
            }
        }
        let stopping = self.run_mut(slot).is_some_and(|run| run.record.state == RunState::Cancelling);
        if stopping {
            return self.stop_run(slot, now);
        }
        for task in tasks {
            self.consider(slot, task, now);
        }
        self.finish_run_if_done(slot, now);
    }

    fn go_on_with(&mut self, at: At) {
        let Some(instance) = self.instance_mut(at) else { return };
        match instance.state {
            InstanceState::Waiting { .. } => self.enqueue(at),
            InstanceState::Backoff { until } => {
                self.timers.insert((until, Timer::Retry(at)));
            }
            _ => {}
        }
    }

    /// Restores an attempt that an earlier server had stored.
    fn take_up(&mut self, slot: Slot, record: AttemptRecord) {
        let at = At { slot, task: record.task, instance: record.key.instance };
        let Some(run) = self.runs[slot].as_mut() else { return };
        let job = run.stored_job(&record);
        let Some(instance) = run.instance_mut(at) else { return };
        instance.attempt = record.key.n;
        self.watch_timeout(at, &record);
        self.hold(at, record.clone(), false);
        self.watch_cards(at);
        self.hold_place(at, &record);
        // If its cluster is unknown now, its state stays: what became of it is unknown.
        let Some(executor) = self.executor(at) else { return };
        match job.and_then(|job| submission(job, &record.bindings)) {
            Ok(submission) => {
                executor.rebind(&submission.job, &record.bindings);
                self.output.actions.push(match record.state {
                    AttemptState::Submitting => Action::Submit(executor, submission),
                    AttemptState::Stopping { cause, .. } => Action::Adopt(executor, submission, Some(cause)),
                    _ => Action::Adopt(executor, submission, None),
                });
            }
            Err(failure) => self.give_up(at, record, &failure),
        }
    }

    /// Stops an attempt whose job can no longer be built, so that it does not stay forever.
    fn give_up(&mut self, at: At, record: AttemptRecord, failure: &Failure) {
        tracing::error!(key = %record.key, %failure.message, "a stored attempt cannot be resumed; it is stopped");
        if let Some(instance) = self.instance_mut(at) {
            instance.note =
                Some(format!("stopped, because the server could not resume it: {}", failure.message));
        }
        match (record.state, self.executor(at)) {
            (AttemptState::Stopping { cause, .. }, Some(executor)) => {
                self.output.actions.push(Action::Cancel(executor, record.key, cause));
            }
            _ => self.stop_attempt(at, None, StopCause::Cancelled),
        }
    }

    /// Counts an attempt as live.
    pub(super) fn hold(&mut self, at: At, record: AttemptRecord, dirty: bool) {
        let Some(run) = self.runs[at.slot].as_mut() else { return };
        run.active += 1;
        run.tasks[at.task.index()].active += 1;
        self.live.insert(record.key.clone(), at);
        self.take_limits(at, &record, dirty);
        let Some(run) = self.runs[at.slot].as_mut() else { return };
        if let Some(instance) = run.instance_mut(at) {
            instance.live = Some(Box::new(LiveAttempt {
                record,
                dirty,
                owed: None,
                pace_due: Timestamp::default(),
                pace_watched: false,
                looked: false,
            }));
        }
    }

    /// Restores an attempt's allocation. If the earlier server had requested its stop, it counts as leaving.
    fn hold_place(&mut self, at: At, record: &AttemptRecord) {
        let now = self.now;
        let Some(run) = self.runs[at.slot].as_ref() else { return };
        let Some(place) = self.places.get_mut(run.place_of(at.task)) else { return };
        let planned = run.plan.task(at.task);
        let is_ours = place.scaling != Scaler::Cluster;
        let workers = planned.elastic.filter(|_| is_ours).map_or(0, |_| planned.elastic_of(record.workers));
        let waited_since = run.tasks[at.task.index()].instances[at.instance as usize].ready_at;
        let was = TakenUp { workers, waited_since, since: record.created_at, gave_at: record.gave_at() };
        place.take_up(run, at, was, now);
        if matches!(record.state, AttemptState::Stopping { .. }) {
            place.leave(at, now);
        }
    }

    /// Sets the timer of a running attempt with a timeout.
    pub(super) fn watch_timeout(&mut self, at: At, record: &AttemptRecord) {
        let AttemptState::Running { started_at } = record.state else { return };
        let limit = self.runs[at.slot].as_ref().and_then(|run| run.plan.task(at.task).timeout);
        if let Some(limit) = limit {
            self.timers.insert((started_at.plus(limit.0), Timer::Timeout(at, record.key.n)));
        }
    }
}

/// Builds the in-memory run from its stored state.
pub fn build(
    record: RunRecord,
    plan: Arc<RunPlan>,
    expansions: Vec<ExpansionRecord>,
    instances: Vec<InstanceRecord>,
) -> ActiveRun {
    let edges: Vec<(u32, u32)> = (0u32..)
        .zip(&plan.tasks)
        .flat_map(|(after, task)| task.needs.iter().map(move |before| (before.0, after)))
        .collect();
    let graph = Graph::new(plan.tasks.len(), &edges);
    let mut tasks: Vec<TaskCell> = plan.tasks.iter().map(|_| TaskCell::default()).collect();
    for expansion in expansions {
        tasks[expansion.task.index()].items = Some(expansion.items);
    }
    for row in instances {
        let cell = &mut tasks[row.task.index()];
        let at = row.instance as usize;
        cell.instances.resize_with(cell.instances.len().max(at + 1), Instance::pending);
        cell.instances[at] = Instance::from_record(row);
    }
    for (planned, cell) in plan.tasks.iter().zip(&mut tasks) {
        // An expansion shorter than an earlier one leaves obsolete rows.
        if let Some(items) = &cell.items {
            cell.resize(cell.instances.len().min(items.len()));
        }
        settle(planned, cell);
    }
    let open = tasks.iter().filter(|cell| cell.end.is_none()).count() as u32;
    for (ix, _) in plan.tasks.iter().enumerate() {
        tasks[ix].needs = needs_of(&graph, &tasks, ix as u32);
    }
    // For a run with a parent or child runs, the constraints of the others are unknown here.
    let tasks_may_exclude = plan.context.root.is_some()
        || plan.tasks.iter().any(|task| task.calls || task.placement.spread == Some(Spread::Required));
    let prepared = prepare::is_prepared(&plan, &tasks);
    ActiveRun {
        record,
        plan,
        graph,
        tasks,
        lengths: Vec::new(),
        tasks_may_exclude,
        open,
        active: 0,
        queued: 0,
        prepared,
        refused: None,
        backlog: BTreeSet::new(),
    }
}

/// Expected duration of each task of a plan on its target cluster, from history.
fn lengths(plan: &RunPlan, history: &History) -> Vec<Option<Length>> {
    let length = |task: &PlannedTask| {
        let pool = Pool { cluster: plan.cluster.clone(), node_group: task.placement.node_group.clone() };
        history.of(&task.name, &plan.template_of(task).name, &pool).map(Into::into)
    };
    plan.tasks.iter().map(length).collect()
}

/// Derives from the stored instances whether a task has begun or ended.
fn settle(planned: &PlannedTask, cell: &mut TaskCell) {
    if cell.items.is_none() && cell.instances.is_empty() {
        return;
    }
    let pending = cell.instances.iter().any(|instance| instance.state == InstanceState::Pending);
    let expected = cell.items.as_ref().map_or(1, Vec::len);
    cell.begun = !pending && cell.instances.len() >= expected;
    cell.open = cell.instances.iter().filter(|instance| !instance.state.is_final()).count() as u32;
    if cell.begun && cell.open == 0 {
        cell.end = Some(finish::task(planned, cell.instances.iter().map(|instance| &instance.state)));
    }
    search::compare_again(planned, cell);
}

pub(super) fn needs_of(graph: &Graph, tasks: &[TaskCell], task: u32) -> Needs {
    let before = graph.before(task);
    let mut needs = Needs { open: before.len() as u32, ..Needs::default() };
    for end in before.iter().filter_map(|need| tasks[*need as usize].end) {
        needs.ended(end);
    }
    needs
}
