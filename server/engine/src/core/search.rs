//! Searches: handles the values that trials report. A trial is stopped, another begins, or the search ends.

use cubeloom_compiler::search::{Trial, next_trial};
use cubeloom_domain::executor::{Metric, Report, StopCause};
use cubeloom_domain::json::measured::word;
use cubeloom_domain::outcome::{Failure, FailureKind};
use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::search::PlannedSearch;
use cubeloom_domain::state::InstanceState;
use cubeloom_domain::{TaskIx, Timestamp};

use super::active::{ActiveRun, Instance, TaskCell};
use super::{At, Core, Slot};
use crate::decide::asha::Outdone;

impl Core {
    /// A running trial has reported a value of the searched metric.
    pub(super) fn measured(&mut self, at: At, n: u32, metric: &Metric) {
        let Some(run) = self.run_mut(at.slot) else { return };
        let plan = std::sync::Arc::clone(&run.plan);
        let Some(search) = plan.task(at.task).search().filter(|search| search.of == metric.name) else {
            return;
        };
        let Some(rule) = search.early_stop else { return };
        let cell = &mut run.tasks[at.task.index()];
        let Some(instance) = cell.instances.get_mut(at.instance as usize) else { return };
        instance.measured += 1;
        let step = metric.step.unwrap_or_else(|| f64::from(instance.measured));
        let Some(outdone) =
            cell.rungs.reach(&rule, search.goal, at.instance, (step, search.goal.comparable(metric.value)))
        else {
            return;
        };
        instance.outdone = Some(sentence(&search.of, &outdone));
        self.stop_attempt(at, Some(n), StopCause::Outdone);
    }

    /// The state of a trial that was stopped early because others are better.
    pub(super) fn stopped_early(&mut self, at: At, report: Report) -> InstanceState {
        let Some(instance) = self.instance_mut(at) else { return InstanceState::Cancelled };
        instance.report = report;
        let why = instance.outdone.take();
        // The values are unknown if an earlier server decided the stop.
        InstanceState::StoppedEarly { why: why.unwrap_or_else(|| "other trials are better".into()) }
    }

    /// A trial has ended: the next one begins, unless too many have failed.
    pub(super) fn after_trial(&mut self, At { slot, task, instance }: At, now: Timestamp) {
        let Some(run) = self.runs[slot].as_mut() else { return };
        let plan = std::sync::Arc::clone(&run.plan);
        let Some(search) = plan.task(task).search() else { return };
        // Its last reports were not handled while it ran.
        compare(search, &mut run.tasks[task.index()], instance);
        let failed = |instance: &&Instance| matches!(instance.state, InstanceState::Failed { .. });
        let failures = run.tasks[task.index()].instances.iter().filter(failed).count();
        if self.is_stopping(slot) {
            return;
        }
        if failures > search.max_failures as usize {
            return self.break_off(slot, task, failures, now);
        }
        self.searching.push_back((slot, task));
        // A trial that ends as soon as it begins, because its `when` is false, starts the next one: through a
        // list, not the stack.
        if std::mem::replace(&mut self.is_searching, true) {
            return;
        }
        while let Some((slot, task)) = self.searching.pop_front() {
            self.begin_next(slot, task, now);
        }
        self.is_searching = false;
    }

    /// Begins another trial, if there is one.
    fn begin_next(&mut self, slot: Slot, task: TaskIx, now: Timestamp) {
        let Some(run) = self.run_mut(slot) else { return };
        let Some(item) = next_trial(&run.plan, task, &trials(run, task)) else { return };
        let cell = &mut run.tasks[task.index()];
        let items = cell.items.get_or_insert_default();
        items.push(item);
        let count = items.len();
        cell.resize(count);
        cell.open += 1;
        self.output.expansion(slot, task);
        self.make_ready(At { slot, task, instance: count as u32 - 1 }, now);
    }

    /// Ends a search: pending trials are not run, and running ones are stopped.
    fn break_off(&mut self, slot: Slot, task: TaskIx, failures: usize, now: Timestamp) {
        let Some(run) = self.run_mut(slot) else { return };
        let cell = &mut run.tasks[task.index()];
        cell.backlog.clear();
        let open: Vec<u32> = (0u32..)
            .zip(&mut cell.instances)
            .filter(|(_, instance)| !instance.state.is_final())
            .map(|(ix, instance)| {
                instance.note =
                    Some(format!("the search was stopped, because {failures} of its trials failed"));
                ix
            })
            .collect();
        for instance in open {
            let at = At { slot, task, instance };
            match self.instance_mut(at).map(|instance| instance.live.is_some()) {
                Some(true) => self.stop_attempt(at, None, StopCause::Cancelled),
                Some(false) => {
                    self.leave_queue(at);
                    self.close(at, InstanceState::Cancelled, now);
                }
                None => {}
            }
        }
        self.let_in(slot, task);
    }

    /// The failure of a trial that succeeded without reporting its value.
    pub(super) fn without_value(&self, at: At, report: &Report) -> Option<Failure> {
        let run = self.runs[at.slot].as_ref()?;
        let search = run.plan.task(at.task).search()?;
        if search.value(report).is_some() {
            return None;
        }
        let of = &search.of;
        let message = match search.last(report) {
            Some(value) => format!("it succeeded, but its final `{of}` was {}", word(value)),
            None => {
                format!(
                    "it succeeded, but did not report the metric or output `{of}` that its search optimizes"
                )
            }
        };
        Some(Failure::new(FailureKind::MissingOutput, message))
    }
}

/// Restores the values of trials that ended before their run was loaded. Running trials report again.
pub fn compare_again(planned: &PlannedTask, cell: &mut TaskCell) {
    let Some(search) = planned.search() else { return };
    for trial in 0..cell.instances.len() as u32 {
        compare(search, cell, trial);
    }
}

/// Records what a trial has reported, to compare others with it.
fn compare(search: &PlannedSearch, cell: &mut TaskCell, trial: u32) {
    let Some((rule, instance)) = search.early_stop.zip(cell.instances.get(trial as usize)) else { return };
    let values = instance.report.metrics.iter().filter(|metric| metric.name == search.of);
    for (at, metric) in (1u32..).zip(values) {
        let step = metric.step.unwrap_or_else(|| f64::from(at));
        let _ = cell.rungs.reach(&rule, search.goal, trial, (step, search.goal.comparable(metric.value)));
    }
}

/// The trials that have begun, and their results.
fn trials(run: &ActiveRun, task: TaskIx) -> Vec<Trial<'_>> {
    let cell = &run.tasks[task.index()];
    let search = run.plan.task(task).search();
    let value = |instance: &Instance| {
        search.filter(|_| instance.state.is_done_with()).and_then(|search| search.value(&instance.report))
    };
    let items = cell.items.iter().flatten();
    items.zip(&cell.instances).map(|(item, instance)| Trial { item, value: value(instance) }).collect()
}

fn sentence(of: &str, outdone: &Outdone) -> String {
    let Outdone { step, value, better, of: all } = outdone;
    format!("at step {step} its `{of}` was {value}; {better} of {all} trials were better")
}
