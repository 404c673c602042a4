//! Commands of users for a run: stop, resume, rerun.

use std::sync::Arc;

use cubeloom_domain::executor::StopCause;
use cubeloom_domain::record::{ExpansionRecord, InstanceRecord, Wish, WishRecord};
use cubeloom_domain::state::{InstanceState, RunState, SkipReason};
use cubeloom_domain::{TaskIx, Timestamp};

use super::active::ActiveRun;
use super::{Action, At, Core, Slot, load};
use crate::decide::trigger::TaskEnd;

impl Core {
    /// Executes a command. A command that the run's state does not allow is dropped without effect.
    pub fn wish(&mut self, wish: WishRecord, now: Timestamp) {
        let Some(slot) = self.slots.get(&wish.run).copied() else { return };
        self.output.wishes.push(wish.id);
        let Some(run) = self.runs[slot].as_ref() else { return };
        let ended = run.record.state.is_final();
        match wish.wish {
            Wish::Cancel if !ended => self.cancel(slot, now),
            Wish::Resume if ended => {
                let failed = failed_tasks(run);
                self.act_for(slot, wish.user);
                self.run_again(slot, &failed, false, now);
            }
            Wish::Rerun { from } if ended => {
                let roots: Vec<u32> =
                    from.iter().filter_map(|name| run.plan.find(name)).map(|ix| ix.0).collect();
                let after = run.graph.with_descendants(&roots);
                self.act_for(slot, wish.user);
                self.run_again(slot, &after, true, now);
            }
            Wish::Decide { task, instance, decision } if !ended => {
                if let Some(task) = run.plan.find(&task) {
                    self.decided(At { slot, task, instance }, decision, now);
                }
            }
            Wish::Mark { task, instance, mark } => {
                if let Some(task) = run.plan.find(&task) {
                    let at = At { slot, task, instance };
                    if ended {
                        self.act_for(slot, wish.user);
                        self.mark_ended(at, &mark, now);
                    } else if !self.is_stopping(slot) {
                        self.mark(at, &mark, now);
                    }
                }
            }
            Wish::Cancel | Wish::Resume | Wish::Rerun { .. } | Wish::Decide { .. } => {}
        }
        self.drop_if_final(slot);
    }

    /// Sets the user that the run acts for from now on.
    fn act_for(&mut self, slot: Slot, user: String) {
        if let Some(run) = self.run_mut(slot) {
            run.record.acting = Some(user);
        }
    }

    fn cancel(&mut self, slot: Slot, now: Timestamp) {
        let Some(run) = self.run_mut(slot) else { return };
        if run.record.state == RunState::Cancelling {
            return;
        }
        run.record.state = RunState::Cancelling;
        self.output.run(slot);
        self.stop_run(slot, now);
    }

    /// Stops running attempts, and ends pending instances. Tasks that have not begun are not stored: if the
    /// run is resumed, they are unchanged.
    pub(super) fn stop_run(&mut self, slot: Slot, now: Timestamp) {
        let Some(run) = self.runs[slot].as_mut() else { return };
        run.backlog.clear();
        run.queued = 0;
        for place in self.places.values_mut() {
            place.remove_waiting(slot, now);
        }
        let mut open = Vec::new();
        for (ix, cell) in (0u32..).zip(&mut run.tasks) {
            cell.backlog.clear();
            cell.queued = 0;
            if cell.end.is_none() && !cell.begun {
                cell.end = Some(TaskEnd::Cancelled);
                run.open -= 1;
            } else if cell.end.is_none() {
                let states = (0u32..).zip(&cell.instances).filter(|(_, each)| !each.state.is_final());
                open.extend(states.map(|(instance, _)| At { slot, task: TaskIx(ix), instance }));
            }
        }
        for at in open {
            match self.instance_mut(at).map(|instance| instance.live.is_some()) {
                Some(true) => self.stop_attempt(at, None, StopCause::Cancelled),
                Some(false) => self.end_instance(at, InstanceState::Cancelled, now),
                None => {}
            }
        }
        self.finish_run_if_done(slot, now);
    }

    /// Resets the chosen tasks to pending and continues the run, as if it had been loaded that way. With
    /// `whole`, it also resets their successful instances and their expansion.
    fn run_again(&mut self, slot: Slot, chosen: &[bool], whole: bool, now: Timestamp) {
        let again = |task: TaskIx| chosen.get(task.index()).copied().unwrap_or(false);
        let change = |record: &mut InstanceRecord| {
            let changes = again(record.task) && (whole || !record.state.is_done_with());
            if changes {
                make_pending(record);
                if whole {
                    // An explicit request must not be answered from the cache, which serves only first
                    // attempts.
                    record.attempt = record.attempt.max(1);
                }
            }
            changes
        };
        self.go_on_changed(slot, |task| whole && again(task), change, now);
    }

    /// Changes instances of a finished run and continues it, as if it had been loaded that way. Tasks that it
    /// `forgets` are expanded again. `change` returns whether it has changed an instance.
    pub(super) fn go_on_changed(
        &mut self,
        slot: Slot,
        forgets: impl Fn(TaskIx) -> bool,
        mut change: impl FnMut(&mut InstanceRecord) -> bool,
        now: Timestamp,
    ) {
        let Some(mut run) = self.runs[slot].take() else { return };
        self.output.stays(slot, &run.record.id);
        // Also the instances of a longer expansion: the next one may be as long again.
        for cell in &mut run.tasks {
            cell.resize(cell.instances.len() + cell.beyond.len());
        }
        let mut expansions = Vec::new();
        for (ix, cell) in (0u32..).map(TaskIx).zip(&run.tasks) {
            if cell.items.is_some() && forgets(ix) {
                self.output.unexpanded.push((run.record.id.clone(), ix));
            } else if let Some(items) = &cell.items {
                expansions.push(ExpansionRecord {
                    run: run.record.id.clone(),
                    task: ix,
                    items: items.clone(),
                });
            }
        }
        let mut changed = Vec::new();
        let mut records = all_instances(&run);
        for record in &mut records {
            if change(record) {
                changed.push(At { slot, task: record.task, instance: record.instance });
            }
        }
        // It waits like any other run if its pipeline is at its maximum of active runs.
        run.record.state = RunState::Queued;
        run.record.ended_at = None;
        let plan = Arc::clone(&run.plan);
        let again = load::build(run.record, plan, expansions, records);
        self.runs[slot] = Some(Box::new(ActiveRun { lengths: run.lengths, ..again }));
        self.output.run(slot);
        for at in changed {
            self.touch(at);
        }
        self.start_queued_runs(now);
    }

    /// Drops a run that was loaded only for its command, and has nothing left to do.
    fn drop_if_final(&mut self, slot: Slot) {
        if self.runs[slot].as_ref().is_some_and(|run| run.record.state.is_final())
            && !self.output.finished.contains(&slot)
        {
            let id = self.runs[slot].as_ref().map(|run| run.record.id.clone());
            self.output.finished.push(slot);
            self.output.actions.extend(id.map(Action::Finished));
        }
    }
}

/// The tasks that a resumed run reruns: those that did not succeed, and those that were skipped because of
/// them.
fn failed_tasks(run: &ActiveRun) -> Vec<bool> {
    let ended_well = |state: &InstanceState| {
        matches!(
            state,
            InstanceState::Succeeded { .. }
                | InstanceState::Skipped { reason: SkipReason::Condition | SkipReason::Marked }
        )
    };
    let roots: Vec<u32> = (0u32..)
        .zip(&run.tasks)
        // In a search, some trials may fail.
        .filter(|(_, cell)| cell.end != Some(TaskEnd::Succeeded))
        .filter(|(_, cell)| !cell.begun || !cell.instances.iter().all(|each| ended_well(&each.state)))
        .map(|(ix, _)| ix)
        .collect();
    let mut again = vec![false; run.tasks.len()];
    for root in &roots {
        again[*root as usize] = true;
    }
    for (ix, reached) in run.graph.with_descendants(&roots).into_iter().enumerate() {
        let is_skipped = |state: &InstanceState| match state {
            InstanceState::Skipped { reason } => *reason != SkipReason::Marked,
            _ => false,
        };
        let passed_over = run.tasks[ix].instances.iter().any(|each| is_skipped(&each.state));
        again[ix] |= reached && passed_over;
    }
    again
}

fn all_instances(run: &ActiveRun) -> Vec<InstanceRecord> {
    let instances = |(task, cell): (u32, &super::active::TaskCell)| {
        (0..cell.instances.len() as u32).map(move |instance| (TaskIx(task), instance))
    };
    (0u32..)
        .zip(&run.tasks)
        .flat_map(instances)
        .filter_map(|(task, instance)| run.instance_record(task, instance))
        .collect()
}

pub(super) fn make_pending(record: &mut InstanceRecord) {
    record.state = InstanceState::Pending;
    record.tries = 0;
    record.ended_at = None;
    record.note = None;
    record.report = Default::default();
}
