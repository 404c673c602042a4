//! How does a task end, given its instances; how does a run end, given its tasks?

use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::search::PlannedSearch;
use cubeloom_domain::state::{InstanceState, RunState};

use super::trigger::TaskEnd;

/// The end of a task whose instances have all ended.
pub fn task<'a>(
    planned: &PlannedTask,
    instances: impl Iterator<Item = &'a InstanceState> + Clone,
) -> TaskEnd {
    match planned.search() {
        Some(search) => trials(search, instances),
        None => elements(instances),
    }
}

/// A search succeeds when one of its trials did, and no more of them failed than allowed.
fn trials<'a>(search: &PlannedSearch, states: impl Iterator<Item = &'a InstanceState> + Clone) -> TaskEnd {
    if search.has_succeeded(states.clone()) {
        return TaskEnd::Succeeded;
    }
    let failed = states.clone().filter(|state| matches!(state, InstanceState::Failed { .. })).count();
    let mut rest = states.filter(|state| !matches!(state, InstanceState::Failed { .. })).peekable();
    if failed > search.max_failures as usize || rest.peek().is_none() {
        return TaskEnd::Failed;
    }
    match elements(rest) {
        // No trial finished.
        TaskEnd::Succeeded => TaskEnd::Failed,
        TaskEnd::Skipped if failed > 0 => TaskEnd::Failed,
        end => end,
    }
}

/// All items must succeed.
fn elements<'a>(instances: impl Iterator<Item = &'a InstanceState>) -> TaskEnd {
    let (mut any, mut all_skipped, mut cancelled) = (false, true, false);
    for state in instances {
        match state {
            InstanceState::Failed { .. } | InstanceState::UpstreamFailed => return TaskEnd::Failed,
            InstanceState::Cancelled => cancelled = true,
            _ => {}
        }
        any = true;
        all_skipped &= matches!(state, InstanceState::Skipped { .. });
    }
    match (cancelled, any && all_skipped) {
        (true, _) => TaskEnd::Cancelled,
        (false, true) => TaskEnd::Skipped,
        (false, false) => TaskEnd::Succeeded,
    }
}

/// The end of a run whose tasks have all ended. One failed task fails the run, even if a later task handled
/// the failure: a successful run would hide it.
#[must_use]
pub fn run(stopped: bool, ends: impl Iterator<Item = TaskEnd>) -> RunState {
    let mut state = RunState::Succeeded;
    for end in ends {
        match end {
            TaskEnd::Failed if !stopped => return RunState::Failed,
            TaskEnd::Cancelled => state = RunState::Cancelled,
            TaskEnd::Failed => state = RunState::Cancelled,
            TaskEnd::Succeeded | TaskEnd::Skipped => {}
        }
    }
    state
}
