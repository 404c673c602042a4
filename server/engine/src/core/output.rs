//! Collects what a cycle has changed so far, without duplicates.

use std::collections::BTreeSet;

use cubeloom_domain::model::NewModelVersion;
use cubeloom_domain::record::{AttemptRecord, CacheEntry, Changes, ExpansionRecord, HangStacks};
use cubeloom_domain::state::RunState;
use cubeloom_domain::{RunId, TaskIx};

use super::{Action, At, Core, Slot};

/// How soon changes must be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    Nothing,
    /// Within a moment, or with the next urgent change.
    Soon,
    /// Before anything else happens.
    Now,
}

/// What a cycle has changed so far.
#[derive(Default)]
pub struct Output {
    pub actions: Vec<Action>,
    pub attempts: Vec<AttemptRecord>,
    pub stacks: Vec<HangStacks>,
    pub cache: Vec<CacheEntry>,
    pub models: Vec<NewModelVersion>,
    pub wishes: Vec<i64>,
    pub unexpanded: Vec<(RunId, TaskIx)>,
    pub finished: Vec<Slot>,
    /// Whether a change must be stored before anything else happens.
    urgent: bool,
    runs: BTreeSet<Slot>,
    /// Those of them that were queued.
    begun: BTreeSet<Slot>,
    expansions: Vec<(Slot, TaskIx)>,
    instances: Vec<At>,
}

impl Output {
    pub fn run(&mut self, slot: Slot) {
        self.urgent = true;
        self.runs.insert(slot);
    }

    /// A queued run starts.
    pub fn begin(&mut self, slot: Slot) {
        self.run(slot);
        self.begun.insert(slot);
    }

    pub fn expansion(&mut self, slot: Slot, task: TaskIx) {
        self.expansions.push((slot, task));
    }

    /// How soon the changes must be stored.
    pub fn demand(&self) -> Demand {
        if self.urgent || !self.actions.is_empty() || !self.wishes.is_empty() {
            Demand::Now
        } else if self.instances.is_empty() {
            Demand::Nothing
        } else {
            Demand::Soon
        }
    }

    /// A run that ended in this cycle is rerun in the same cycle: it stays in memory.
    pub fn stays(&mut self, slot: Slot, run: &RunId) {
        self.finished.retain(|at| *at != slot);
        self.actions.retain(|action| !matches!(action, Action::Finished(id) if id == run));
    }

    /// Drops the changes of a run that this server no longer leads.
    pub fn forget(&mut self, run: &RunId, slot: Slot) {
        self.attempts.retain(|attempt| attempt.key.run != *run);
        self.stacks.retain(|stacks| stacks.key.run != *run);
        self.cache.retain(|entry| entry.run != *run);
        self.models.retain(|model| model.origin.attempt.run != *run);
        self.unexpanded.retain(|(id, _)| id != run);
        self.finished.retain(|at| *at != slot);
        self.runs.remove(&slot);
        self.begun.remove(&slot);
        self.expansions.retain(|(at, _)| *at != slot);
        self.instances.retain(|at| at.slot != slot);
    }
}

impl Core {
    /// Records a change of an instance or its live attempt.
    pub(super) fn touch(&mut self, at: At) {
        self.output.urgent = true;
        self.touch_later(at);
    }

    /// Records a change that may be stored with the next urgent one, because it is measured again after a
    /// crash.
    pub(super) fn touch_later(&mut self, at: At) {
        if let Some(instance) = self.instance_mut(at)
            && !std::mem::replace(&mut instance.dirty, true)
        {
            self.output.instances.push(at);
        }
    }
}

/// Collects the current state of everything that changed.
pub fn take(core: &mut Core) -> (Changes, Vec<Action>) {
    let output = std::mem::take(&mut core.output);
    core.memo.forget();
    let mut changes = Changes {
        attempts: output.attempts,
        stacks: output.stacks,
        cache: output.cache,
        models: output.models,
        wishes: output.wishes,
        unexpanded: output.unexpanded,
        ..Changes::default()
    };
    for (slot, task) in output.expansions {
        if let Some(run) = core.runs[slot].as_ref()
            && let Some(items) = &run.tasks[task.index()].items
        {
            changes.expansions.push(ExpansionRecord {
                run: run.record.id.clone(),
                task,
                items: items.clone(),
            });
        }
    }
    changes.instances.reserve(output.instances.len());
    for at in output.instances {
        collect_instance(core, at, &mut changes);
    }
    for run in output.begun.into_iter().filter_map(|slot| core.runs[slot].as_ref()) {
        // A run that has already ended counts towards no limit.
        if let (Some(limit), RunState::Running) = (run.plan.max_active_runs, run.record.state) {
            changes.begun.insert(run.record.id.clone(), limit);
        }
    }
    for slot in output.runs {
        changes.runs.extend(core.runs[slot].as_ref().map(|run| run.record.clone()));
    }
    for slot in output.finished {
        if let Some(run) = core.runs[slot].take() {
            core.slots.remove(&run.record.id);
            core.histories.leave(&run);
        }
    }
    (changes, output.actions)
}

fn collect_instance(core: &mut Core, at: At, changes: &mut Changes) {
    let Some(run) = core.runs[at.slot].as_mut() else { return };
    let Some(instance) = run.instance_mut(at) else { return };
    instance.dirty = false;
    if let Some(live) = instance.live.as_mut()
        && std::mem::take(&mut live.dirty)
    {
        changes.attempts.push(live.record.clone());
    }
    changes.instances.extend(run.instance_record(at.task, at.instance));
}
