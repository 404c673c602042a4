//! Outcomes that users set: the run continues as if the program had ended that way.

use cubeloom_domain::executor::{Report, StopCause};
use cubeloom_domain::mark::Mark;
use cubeloom_domain::record::InstanceRecord;
use cubeloom_domain::state::InstanceState;
use cubeloom_domain::{TaskIx, Timestamp};

use super::active::Instance;
use super::wishes::make_pending;
use super::{At, Core, load};
use crate::decide::finish;

impl Core {
    /// Marks an instance of a finished run, and continues with the tasks that were skipped because of it.
    pub(super) fn mark_ended(&mut self, at: At, mark: &Mark, now: Timestamp) {
        let Some(run) = self.runs[at.slot].as_ref() else { return };
        let after = run.graph.with_descendants(&[at.task.0]);
        let change = |record: &mut InstanceRecord| {
            if (record.task, record.instance) == (at.task, at.instance) {
                record.state = mark.state();
                record.ended_at.get_or_insert(now);
                write(mark, &mut record.note, &mut record.report);
                return true;
            }
            let is_after = record.task != at.task && after[record.task.index()];
            let goes_on = is_after && record.state.is_passed_over();
            if goes_on {
                make_pending(record);
            }
            goes_on
        };
        self.go_on_changed(at.slot, |_| false, change, now);
    }

    /// Marks an instance of an active run. An unfinished attempt is stopped first.
    pub(super) fn mark(&mut self, at: At, mark: &Mark, now: Timestamp) {
        let Some(run) = self.runs[at.slot].as_ref() else { return };
        let cell = &run.tasks[at.task.index()];
        if !cell.begun && cell.end.is_none() {
            return self.mark_unbegun(at, mark, now);
        }
        let Some(instance) = self.instance_mut(at) else { return };
        if instance.live.is_some() {
            instance.state = InstanceState::Active { marked: Some(Box::new(mark.clone())) };
            self.touch(at);
            return self.stop_attempt(at, None, StopCause::Marked);
        }
        if instance.state.is_final() {
            return self.mark_final(at, mark, now);
        }
        let gives_way = self.leave_line(at);
        self.end_marked(at, mark, now);
        if gives_way {
            self.let_in(at.slot, at.task);
        }
    }

    /// Removes an instance from the line that it is in. Returns true when others may take its slot.
    fn leave_line(&mut self, at: At) -> bool {
        let Some(run) = self.runs[at.slot].as_mut() else { return false };
        let cell = &mut run.tasks[at.task.index()];
        let queued = cell.queued;
        cell.backlog.retain(|instance| *instance != at.instance);
        self.leave_queue(at);
        self.runs[at.slot].as_ref().is_some_and(|run| run.tasks[at.task.index()].queued < queued)
    }

    /// Ends an instance with the marked state.
    pub(super) fn end_marked(&mut self, at: At, mark: &Mark, ended_at: Timestamp) {
        if let Some(instance) = self.instance_mut(at) {
            write(mark, &mut instance.note, &mut instance.report);
        }
        self.end_instance(at, mark.state(), ended_at);
    }

    /// Ends a task that waits for others. If it expands later, it has no instances to mark yet.
    fn mark_unbegun(&mut self, at: At, mark: &Mark, now: Timestamp) {
        let Some(run) = self.run_mut(at.slot) else { return };
        if run.plan.task(at.task).for_each.is_some() {
            return;
        }
        let cell = &mut run.tasks[at.task.index()];
        if cell.instances.is_empty() {
            cell.instances.push(Instance::pending());
        }
        if let Some(instance) = self.instance_mut(at) {
            write(mark, &mut instance.note, &mut instance.report);
        }
        self.end_unbegun(at.slot, at.task, mark.state(), now);
    }

    /// Changes a final state: tasks that were skipped because of it are evaluated again.
    fn mark_final(&mut self, at: At, mark: &Mark, now: Timestamp) {
        let Some(instance) = self.instance_mut(at) else { return };
        write(mark, &mut instance.note, &mut instance.report);
        instance.state = mark.state();
        instance.ended_at.get_or_insert(now);
        self.touch(at);
        let Some(run) = self.runs[at.slot].as_mut() else { return };
        let cell = &mut run.tasks[at.task.index()];
        if cell.open > 0 {
            // Its task continues, and will end with the new state.
            return;
        }
        cell.end = Some(finish::task(run.plan.task(at.task), cell.instances.iter().map(|each| &each.state)));
        self.look_again_after(at);
        self.consider_all(now);
        self.finish_run_if_done(at.slot, now);
    }

    /// Evaluates the downstream tasks again, with the task's new end. Skipped ones are reset, and waiting
    /// ones recount their upstream.
    fn look_again_after(&mut self, at: At) {
        let Some(run) = self.runs[at.slot].as_mut() else { return };
        let after = run.graph.with_descendants(&[at.task.0]);
        let is_after = |(ix, is): (u32, bool)| (is && ix != at.task.0).then_some(TaskIx(ix));
        let after: Vec<TaskIx> = (0u32..).zip(after).filter_map(is_after).collect();
        let mut again = Vec::new();
        for task in &after {
            let cell = &mut run.tasks[task.index()];
            let mut states = cell.instances.iter().map(|each| &each.state);
            if cell.end.is_none() || cell.instances.is_empty() || !states.all(InstanceState::is_passed_over) {
                continue;
            }
            (cell.end, cell.begun) = (None, false);
            run.open += 1;
            for (instance, each) in (0u32..).zip(&mut cell.instances) {
                (each.state, each.ended_at, each.note) = (InstanceState::Pending, None, None);
                again.push(At { slot: at.slot, task: *task, instance });
            }
        }
        for task in after.into_iter().filter(|task| run.tasks[task.index()].end.is_none()).collect::<Vec<_>>()
        {
            run.tasks[task.index()].needs = load::needs_of(&run.graph, &run.tasks, task.0);
            self.to_consider.push_back((at.slot, task));
        }
        again.into_iter().for_each(|at| self.touch(at));
    }
}

/// Records an instance's mark, and adds the outputs that come with it.
fn write(mark: &Mark, note: &mut Option<String>, report: &mut Report) {
    *note = Some(mark.note());
    report.outputs.extend(mark.outputs.clone());
}
