//! When does a task start, given how its upstream tasks have ended?
//!
//! Only `one_failed` and `one_success` start before every upstream task has ended. The other rules wait for
//! all of them even if the result is known earlier, so it never depends on the order of their ends.

use cubeloom_domain::pipeline::TriggerRule;
use cubeloom_domain::state::SkipReason;

/// How a task ended, as its downstream tasks see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskEnd {
    /// Every instance succeeded, or there was none.
    Succeeded,
    /// An instance failed, or could not run because of one that did.
    Failed,
    Skipped,
    Cancelled,
}

/// Counts of a task's upstream tasks, by end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    pub open: u32,
    pub succeeded: u32,
    /// Failed or cancelled.
    pub failed: u32,
    pub skipped: u32,
}

impl Needs {
    /// Counts one more end.
    pub fn ended(&mut self, end: TaskEnd) {
        self.open = self.open.saturating_sub(1);
        match end {
            TaskEnd::Succeeded => self.succeeded += 1,
            TaskEnd::Failed | TaskEnd::Cancelled => self.failed += 1,
            TaskEnd::Skipped => self.skipped += 1,
        }
    }
}

/// The decision for the task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is too early to decide.
    Wait,
    Start,
    /// It is skipped.
    Skip(SkipReason),
    /// It cannot run because an upstream task failed.
    UpstreamFailed,
}

#[must_use]
pub fn decide(rule: TriggerRule, needs: Needs) -> Decision {
    let skip = || Decision::Skip(SkipReason::Trigger);
    match rule {
        TriggerRule::OneFailed if needs.failed > 0 => Decision::Start,
        TriggerRule::OneSuccess if needs.succeeded > 0 => Decision::Start,
        _ if needs.open > 0 => Decision::Wait,
        TriggerRule::AllDone => Decision::Start,
        TriggerRule::OneFailed => skip(),
        TriggerRule::AllFailed if needs.succeeded + needs.skipped == 0 && needs.failed > 0 => Decision::Start,
        TriggerRule::AllFailed => skip(),
        _ if needs.failed > 0 => Decision::UpstreamFailed,
        TriggerRule::AllSuccess if needs.skipped > 0 => skip(),
        TriggerRule::AllSuccess | TriggerRule::NoneFailed => Decision::Start,
        TriggerRule::OneSuccess => skip(),
        TriggerRule::NoneFailedMinOneSuccess if needs.succeeded == 0 => skip(),
        TriggerRule::NoneFailedMinOneSuccess => Decision::Start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TriggerRule::*;

    fn needs(open: u32, succeeded: u32, failed: u32, skipped: u32) -> Needs {
        Needs { open, succeeded, failed, skipped }
    }

    #[test]
    fn every_rule_over_every_kind_of_end() {
        let skip = || Decision::Skip(SkipReason::Trigger);
        let cases = [
            (AllSuccess, needs(1, 1, 1, 0), Decision::Wait),
            (AllSuccess, needs(0, 2, 0, 0), Decision::Start),
            (AllSuccess, needs(0, 1, 1, 1), Decision::UpstreamFailed),
            (AllSuccess, needs(0, 1, 0, 1), skip()),
            (AllDone, needs(1, 0, 3, 0), Decision::Wait),
            (AllDone, needs(0, 0, 3, 1), Decision::Start),
            (AllFailed, needs(0, 0, 2, 0), Decision::Start),
            (AllFailed, needs(0, 1, 2, 0), skip()),
            (AllFailed, needs(0, 0, 2, 1), skip()),
            (OneFailed, needs(5, 0, 1, 0), Decision::Start),
            (OneFailed, needs(0, 5, 0, 0), skip()),
            (OneSuccess, needs(5, 1, 0, 0), Decision::Start),
            (OneSuccess, needs(0, 0, 1, 1), Decision::UpstreamFailed),
            (OneSuccess, needs(0, 0, 0, 1), skip()),
            (NoneFailed, needs(0, 0, 0, 2), Decision::Start),
            (NoneFailed, needs(0, 1, 1, 0), Decision::UpstreamFailed),
            (NoneFailedMinOneSuccess, needs(0, 0, 0, 2), skip()),
            (NoneFailedMinOneSuccess, needs(0, 1, 0, 2), Decision::Start),
        ];
        for (rule, needs, expected) in cases {
            assert_eq!(decide(rule, needs), expected, "{rule:?} {needs:?}");
        }
    }
}
