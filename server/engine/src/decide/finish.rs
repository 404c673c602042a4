//! How does a task end, given its instances; how does a run end, given its tasks?

use cubeloom_domain::state::{InstanceState, RunState};

use super::trigger::TaskEnd;

/// The end of a task whose instances have all ended.
#[must_use]
pub fn task<'a>(instances: impl Iterator<Item = &'a InstanceState>) -> TaskEnd {
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

/// The end of a run whose tasks have all ended. One failed task fails the run, also where a later task dealt
/// with it: a run that is green although something failed is not looked at.
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
