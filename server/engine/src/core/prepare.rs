//! A run of part of a pipeline starts with the files that upstream tasks left in an earlier run's folder.

use cubeloom_domain::outcome::{Failure, FailureKind};
use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::state::RunState;
use cubeloom_domain::{RunId, Timestamp};

use super::active::TaskCell;
use super::{Action, Core, Preparation, Slot};

/// Whether a run's folder is ready for its first task: it reuses no files, or a task has already run in it.
pub fn is_prepared(plan: &RunPlan, tasks: &[TaskCell]) -> bool {
    let takes_files = plan.part.as_ref().is_some_and(|part| part.of.is_some() && part.folder);
    !takes_files || tasks.iter().flat_map(|cell| &cell.instances).any(|instance| instance.attempt > 0)
}

impl Core {
    /// Requests that the folder be filled; the run continues with [`Self::prepared`]. After a crash it is
    /// requested again, and files that are already complete are kept.
    pub(super) fn prepare(&mut self, slot: Slot) {
        let Some(run) = self.run_mut(slot) else { return };
        let Some(of) = run.plan.part.as_ref().and_then(|part| part.of.clone()) else { return };
        let preparation = Preparation { run: run.record.id.clone(), project: run.record.project.clone(), of };
        // A run that was cancelled and resumed meanwhile waits for the same folder.
        if self.preparing.insert(preparation.run.clone()) {
            self.output.actions.push(Action::Prepare(preparation));
        }
    }

    /// The folder is ready or has failed. After a failure, each task that would start fails with the reason.
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
