//! A run of a part of a pipeline starts with the files that the tasks before left in an earlier run's folder.

use cubeloom_domain::outcome::{Failure, FailureKind};
use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::state::RunState;
use cubeloom_domain::{RunId, Timestamp};

use super::active::TaskCell;
use super::{Action, Core, Preparation, Slot};

/// Whether a run's folder needs nothing before its first task: it takes no files over, or a task has run in it.
pub fn is_prepared(plan: &RunPlan, tasks: &[TaskCell]) -> bool {
    let takes_files = plan.part.as_ref().is_some_and(|part| part.of.is_some() && part.folder);
    !takes_files || tasks.iter().flat_map(|cell| &cell.instances).any(|instance| instance.attempt > 0)
}

impl Core {
    /// Asks for the folder to be filled; the run goes on with [`Self::prepared`]. After a crash it is asked for again,
    /// and what is whole already is left alone.
    pub(super) fn prepare(&mut self, slot: Slot) {
        let Some(run) = self.run_mut(slot) else { return };
        let Some(of) = run.plan.part.as_ref().and_then(|part| part.of.clone()) else { return };
        let preparation = Preparation { run: run.record.id.clone(), project: run.record.project.clone(), of };
        // One that was cancelled and resumed meanwhile waits for the same folder.
        if self.preparing.insert(preparation.run.clone()) {
            self.output.actions.push(Action::Prepare(preparation));
        }
    }

    /// The folder is there, or cannot be: then each task that would start fails, and says why.
    pub fn prepared(&mut self, run: &RunId, result: Result<(), String>, now: Timestamp) {
        self.preparing.remove(run);
        let Some(slot) = self.slots.get(run).copied() else { return };
        let Some(run) = self.run_mut(slot) else { return };
        if run.prepared || run.record.state != RunState::Running {
            return;
        }
        run.prepared = true;
        run.refused = result.err().map(|message| Failure::new(FailureKind::CouldNotStart, message));
        self.go_on(slot, now);
    }
}
