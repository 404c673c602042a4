//! From completed upstream tasks to the queue.

use std::cmp::Reverse;
use std::collections::HashMap;

use cubeloom_admission::in_line;
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::plan::ForEachItems;
use cubeloom_domain::state::{InstanceState, RunState, SkipReason, WaitReason};
use cubeloom_domain::waiting::{Explanation, WaitRule};
use cubeloom_domain::{RunId, TaskIx, Timestamp};
use cubeloom_store::RunElsewhere;
use serde_json::Value;

use super::active::Instance;
use super::{Action, At, Core, LookUp, QueueKey, Slot};
use crate::decide::trigger::{self, Decision};

impl Core {
    /// Starts queued runs as far as their pipelines' limits allow, oldest first.
    pub fn start_queued_runs(&mut self, now: Timestamp) {
        self.may_start = true;
        // A run that ends at once admits the next one. That happens in this loop, because a long queue of
        // them must not overflow the stack.
        if std::mem::replace(&mut self.starting, true) {
            return;
        }
        while std::mem::take(&mut self.may_start) {
            for slot in self.startable() {
                self.start_run(slot, now);
            }
        }
        self.starting = false;
    }

    /// The queued runs that their pipelines' limits admit, oldest first.
    fn startable(&self) -> Vec<Slot> {
        let mut ahead: HashMap<(&str, &str), usize> = HashMap::new();
        let mut elsewhere: HashMap<(&str, &str), Vec<&RunId>> = HashMap::new();
        for run in &self.runs_elsewhere {
            let of = (run.project.as_str(), run.pipeline.as_str());
            if run.is_queued {
                elsewhere.entry(of).or_default().push(&run.id);
            } else {
                *ahead.entry(of).or_default() += 1;
            }
        }
        let mut queued = Vec::new();
        for (slot, run) in self.runs.iter().enumerate() {
            let Some(run) = run else { continue };
            let record = &run.record;
            if record.state == RunState::Queued {
                queued.push((&record.id, slot, run));
            } else if !record.state.is_final() {
                *ahead.entry((&record.project, &record.pipeline)).or_default() += 1;
            }
        }
        queued.sort_unstable_by_key(|(id, ..)| *id);
        queued.retain(|(_, _, run)| {
            let of = (run.record.project.as_str(), run.record.pipeline.as_str());
            let ahead = ahead.entry(of).or_default();
            *ahead += 1;
            let older = elsewhere.get(&of).into_iter().flatten().filter(|id| ***id < run.record.id).count();
            run.plan.max_active_runs.is_none_or(|limit| *ahead + older <= limit as usize)
        });
        queued.into_iter().map(|(_, slot, _)| slot).collect()
    }

    fn start_run(&mut self, slot: Slot, now: Timestamp) {
        let Some(run) = self.run_mut(slot) else { return };
        if run.record.state != RunState::Queued {
            return;
        }
        run.record.state = RunState::Running;
        // The clock of the server that accepted the request may be ahead.
        let began = now.max(run.record.created_at);
        run.record.started_at.get_or_insert(began);
        self.output.begin(slot);
        self.go_on(slot, now);
    }

    /// Whether a run waits for others of its pipeline.
    pub fn has_queued_runs(&self) -> bool {
        self.runs.iter().flatten().any(|run| run.record.state == RunState::Queued)
    }

    /// Updates the runs of other servers, of pipelines with queued runs here, and starts what can start. The
    /// store decides when the start is written; knowing the other runs avoids failed tries.
    pub fn set_runs_elsewhere(&mut self, elsewhere: Vec<RunElsewhere>, now: Timestamp) {
        self.runs_elsewhere = elsewhere;
        self.start_queued_runs(now);
    }

    /// Evaluates whether a task that has not begun can start, or never will.
    pub(super) fn consider(&mut self, slot: Slot, task: TaskIx, now: Timestamp) {
        let Some(run) = self.runs[slot].as_ref() else { return };
        let cell = &run.tasks[task.index()];
        if cell.begun || cell.end.is_some() {
            return;
        }
        match trigger::decide(run.plan.task(task).trigger, cell.needs) {
            Decision::Wait => {}
            Decision::Start => self.begin(slot, task, now),
            Decision::Skip(reason) => self.end_unbegun(slot, task, InstanceState::Skipped { reason }, now),
            Decision::UpstreamFailed => self.end_unbegun(slot, task, InstanceState::UpstreamFailed, now),
        }
    }

    /// Ends a task without running it.
    pub(super) fn end_unbegun(&mut self, slot: Slot, task: TaskIx, state: InstanceState, now: Timestamp) {
        let Some(run) = self.run_mut(slot) else { return };
        let cell = &mut run.tasks[task.index()];
        cell.begun = true;
        if cell.instances.is_empty() {
            cell.instances.push(Instance::pending());
        }
        cell.open = cell.instances.iter().filter(|instance| !instance.state.is_final()).count() as u32;
        for instance in 0..cell.instances.len() as u32 {
            let at = At { slot, task, instance };
            let Some(each) = self.instance_mut(at) else { continue };
            if !each.state.is_final() {
                each.ready_at = now;
                self.close(at, state.clone(), now);
            }
        }
        self.end_task_if_done(slot, task, now);
    }

    /// Expands a task and makes its instances ready.
    fn begin(&mut self, slot: Slot, task: TaskIx, now: Timestamp) {
        let refused = self.run_mut(slot).and_then(|run| run.refused.clone());
        if let Some(failure) = refused {
            return self.end_unbegun(slot, task, InstanceState::Failed { failure }, now);
        }
        if let Err(failure) = self.expand(slot, task) {
            return self.end_unbegun(slot, task, InstanceState::Failed { failure }, now);
        }
        let Some(run) = self.run_mut(slot) else { return };
        let cell = &mut run.tasks[task.index()];
        let len = cell.items.as_ref().map_or(1, Vec::len);
        cell.resize(len);
        cell.begun = true;
        cell.open = cell.instances.iter().filter(|instance| !instance.state.is_final()).count() as u32;
        let pending: Vec<u32> = (0u32..)
            .zip(&cell.instances)
            .filter(|(_, instance)| instance.state == InstanceState::Pending)
            .map(|(ix, _)| ix)
            .collect();
        if cell.open == 0 {
            return self.end_task_if_done(slot, task, now);
        }
        for instance in pending {
            self.make_ready(At { slot, task, instance }, now);
        }
    }

    /// Evaluates the `for_each` of a task, once.
    fn expand(&mut self, slot: Slot, task: TaskIx) -> Result<(), Failure> {
        let Some(run) = self.runs[slot].as_mut() else { return Ok(()) };
        let Some(for_each) = &run.plan.task(task).for_each else { return Ok(()) };
        if run.tasks[task.index()].items.is_some() {
            return Ok(());
        }
        let items = match &for_each.items {
            ForEachItems::Known(items) => items.clone(),
            ForEachItems::Expression(_) | ForEachItems::Search(_) => {
                cubeloom_compiler::expand(&run.plan, task, &run.outputs_for(task))?
            }
        };
        run.tasks[task.index()].items = Some(items);
        self.output.expansion(slot, task);
        Ok(())
    }

    /// Handles an instance whose upstream has ended: evaluates its condition, then queues it.
    pub(super) fn make_ready(&mut self, at: At, now: Timestamp) {
        let Some(run) = self.runs[at.slot].as_ref() else { return };
        let item: Option<&Value> =
            run.tasks[at.task.index()].items.as_ref().and_then(|items| items.get(at.instance as usize));
        let condition = match run.plan.task(at.task).when {
            Some(_) => cubeloom_compiler::condition(&run.plan, at.task, item, &run.outputs_for(at.task)),
            None => Ok(true),
        };
        let Some(instance) = self.instance_mut(at) else { return };
        instance.ready_at = now;
        match condition {
            Ok(true) => {
                instance.state = InstanceState::Waiting { since: now, reason: None };
                self.touch(at);
                self.enqueue(at);
            }
            Ok(false) => self.end_instance(at, InstanceState::Skipped { reason: SkipReason::Condition }, now),
            Err(failure) => self.end_instance(at, InstanceState::Failed { failure }, now),
        }
    }

    /// Puts a waiting instance into the queue, or into the backlog of its task's or its run's parallelism. An
    /// instance with a cacheable result is looked up first. Approval instances are never queued.
    pub(super) fn enqueue(&mut self, at: At) {
        let Some(run) = self.runs[at.slot].as_ref() else { return };
        let planned = run.plan.task(at.task);
        if planned.asks {
            return self.ask(at);
        }
        let instance = &run.tasks[at.task.index()].instances[at.instance as usize];
        if planned.cache.is_some() && instance.attempt == 0 && instance.cache.is_none() {
            return self.look_up(at);
        }
        self.queue_up(at);
    }

    fn look_up(&mut self, at: At) {
        let Some(run) = self.runs[at.slot].as_ref() else { return };
        match run.next_job(at, None) {
            Ok(job) => {
                let (run, plan) = (run.record.id.clone(), std::sync::Arc::clone(&run.plan));
                let job = std::sync::Arc::new(job);
                if let Some(instance) = self.instance_mut(at) {
                    instance.is_asked = true;
                }
                self.output.actions.push(Action::LookUp(LookUp {
                    run,
                    task: at.task,
                    instance: at.instance,
                    plan,
                    job,
                }));
            }
            // The same error occurs, and is reported, when the attempt is made.
            Err(_) => self.queue_up(at),
        }
    }

    pub(super) fn queue_up(&mut self, at: At) {
        let Some(run) = self.runs[at.slot].as_mut() else { return };
        let limit = run.plan.task(at.task).for_each.as_ref().and_then(|each| each.parallelism);
        let cell = &mut run.tasks[at.task.index()];
        if let Some(limit) = limit.filter(|limit| cell.queued + cell.active >= *limit) {
            cell.backlog.push_back(at.instance);
            return self.explain_line(at, WaitRule::TaskParallelism, limit);
        }
        cell.queued += 1;
        let key =
            (Reverse(run.plan.task(at.task).priority), cell.instances[at.instance as usize].ready_at, at);
        // Instances in the run's backlog may come first: `let_in` admits them in order.
        let places = &self.places;
        let may_go = |key: &QueueKey| places.contains_key(run.place_of(key.2.task));
        let is_kept = |limit: &u32| run.queued + run.active >= *limit || run.backlog.iter().any(may_go);
        if let Some(limit) = run.plan.parallelism.filter(is_kept) {
            run.backlog.insert(key);
            return self.explain_line(at, WaitRule::PipelineParallelism, limit);
        }
        run.queued += 1;
        if !self.wait_for_place(at)
            && let Some(cluster) = self.runs[at.slot].as_ref().map(|run| run.place_of(at.task))
        {
            let message = format!("this server has no cluster `{cluster}`");
            self.explain(at, WaitReason::Capacity { message, why: None });
        }
    }

    /// Records that an instance is pending because its task or run is at its parallelism.
    fn explain_line(&mut self, at: At, rule: WaitRule, limit: u32) {
        let Some(run) = self.runs[at.slot].as_ref() else { return };
        let why = Explanation::of_parallelism(rule, run.pool_of(at.task), limit);
        let message = in_line(&why);
        self.explain(at, WaitReason::Parallelism { message, why: Some(Box::new(why)) });
    }

    /// Puts an instance into its cluster's queue, if the cluster is known.
    pub(super) fn wait_for_place(&mut self, at: At) -> bool {
        self.size(at);
        let Some(run) = self.runs[at.slot].as_ref() else { return false };
        let Some(place) = self.places.get_mut(run.place_of(at.task)) else { return false };
        let cool_until = run.tasks[at.task.index()].instances[at.instance as usize].cool_until;
        place.wait(run, at, cool_until);
        // Other servers must see that it is pending.
        if let Some(instance) = self.instance_mut(at)
            && let InstanceState::Waiting { reason, .. } = &mut instance.state
            && reason.take_if(|reason| matches!(reason, WaitReason::Parallelism { .. })).is_some()
        {
            self.touch(at);
        }
        true
    }

    /// Removes a pending instance from its queue, but not from its task's backlog.
    pub(super) fn leave_queue(&mut self, at: At) {
        let Some(run) = self.runs[at.slot].as_mut() else { return };
        let ready_at = run.tasks[at.task.index()].instances[at.instance as usize].ready_at;
        let key = (Reverse(run.plan.task(at.task).priority), ready_at, at);
        if run.backlog.remove(&key) {
            run.tasks[at.task.index()].queued -= 1;
        } else if self.leave_place(at)
            && let Some(run) = self.runs[at.slot].as_mut()
        {
            run.tasks[at.task.index()].queued -= 1;
            run.queued -= 1;
        }
    }

    /// Admits instances from the backlogs after an attempt has ended.
    pub(super) fn let_in(&mut self, slot: Slot, task: TaskIx) {
        let Some(run) = self.runs[slot].as_mut() else { return };
        if let Some(instance) = run.tasks[task.index()].backlog.pop_front() {
            self.queue_up(At { slot, task, instance });
        }
        while let Some(run) = self.runs[slot].as_mut()
            && run.plan.parallelism.is_none_or(|limit| run.queued + run.active < limit)
        {
            // Instances of an unknown cluster do not block others.
            let may_go = |key: &&QueueKey| self.places.contains_key(run.place_of(key.2.task));
            let Some(key) = run.backlog.iter().find(may_go).copied() else { return };
            run.backlog.remove(&key);
            run.queued += 1;
            self.wait_for_place(key.2);
        }
    }
}
