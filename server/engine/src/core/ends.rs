//! Ends: of an instance, then possibly of its task, then possibly of its run.

use cubeloom_domain::state::{InstanceState, RunState};
use cubeloom_domain::{TaskIx, Timestamp};

use super::{Action, At, Core, Slot};
use crate::decide::finish;
use crate::decide::trigger::TaskEnd;

impl Core {
    /// Ends an instance. The next trial of a search may start then.
    pub(super) fn end_instance(&mut self, at: At, state: InstanceState, ended_at: Timestamp) {
        let is_stopped = state == InstanceState::Cancelled;
        self.close(at, state, ended_at);
        if !is_stopped {
            self.after_trial(at, ended_at);
        }
        self.end_task_if_done(at.slot, at.task, ended_at);
    }

    /// Records the end of an instance.
    pub(super) fn close(&mut self, at: At, state: InstanceState, ended_at: Timestamp) {
        let Some(run) = self.run_mut(at.slot) else { return };
        let Some(instance) = run.instance_mut(at) else { return };
        instance.state = state;
        instance.ended_at = Some(ended_at);
        let cell = &mut run.tasks[at.task.index()];
        cell.open = cell.open.saturating_sub(1);
        self.touch(at);
    }

    /// Ends a task whose instances have all ended, and evaluates its downstream tasks.
    pub(super) fn end_task_if_done(&mut self, slot: Slot, task: TaskIx, now: Timestamp) {
        let Some(run) = self.run_mut(slot) else { return };
        let cell = &run.tasks[task.index()];
        if cell.open > 0 || cell.end.is_some() {
            return;
        }
        let end = finish::task(run.plan.task(task), cell.instances.iter().map(|instance| &instance.state));
        self.end_task(slot, task, end, now);
    }

    fn end_task(&mut self, slot: Slot, task: TaskIx, end: TaskEnd, now: Timestamp) {
        // A long chain of skipped tasks must not overflow the stack: ends go through a work list.
        let Some(run) = self.run_mut(slot) else { return };
        run.tasks[task.index()].end = Some(end);
        run.open = run.open.saturating_sub(1);
        let after: Vec<u32> = run.graph.after(task.0).to_vec();
        for next in &after {
            run.tasks[*next as usize].needs.ended(end);
        }
        if run.record.state != RunState::Cancelling {
            self.to_consider.extend(after.into_iter().map(|next| (slot, TaskIx(next))));
        }
        self.consider_all(now);
        self.finish_run_if_done(slot, now);
    }

    /// Evaluates the tasks whose upstream has changed. Only the outermost call does.
    pub(super) fn consider_all(&mut self, now: Timestamp) {
        if std::mem::replace(&mut self.considering, true) {
            return;
        }
        while let Some((slot, task)) = self.to_consider.pop_front() {
            self.consider(slot, task, now);
        }
        self.considering = false;
    }

    /// Ends a run whose tasks have all ended.
    pub(super) fn finish_run_if_done(&mut self, slot: Slot, now: Timestamp) {
        let Some(run) = self.run_mut(slot) else { return };
        if run.open > 0 || run.record.state.is_final() || run.record.state == RunState::Queued {
            return;
        }
        let stopped = run.record.state == RunState::Cancelling;
        run.record.state = finish::run(stopped, run.tasks.iter().filter_map(|cell| cell.end));
        run.record.ended_at = Some(now.max(run.record.started_at.unwrap_or(run.record.created_at)));
        let id = run.record.id.clone();
        let limited = run.plan.max_active_runs.is_some();
        self.output.run(slot);
        self.output.finished.push(slot);
        self.output.actions.push(Action::Finished(id));
        if limited {
            self.start_queued_runs(now);
        }
    }

    pub(super) fn is_stopping(&self, slot: Slot) -> bool {
        self.runs[slot].as_ref().is_some_and(|run| run.record.state == RunState::Cancelling)
    }
}
