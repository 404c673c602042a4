//! Is a failed attempt followed by another, and when?

use std::time::Duration;

use cubeloom_domain::outcome::FailureKind;
use cubeloom_domain::pipeline::RetryOn;
use cubeloom_domain::plan::RetryPolicy;

/// How often a lost or preempted attempt is retried even if the task has no retry policy: neither is the
/// program's fault.
const UNBLAMED_TRIES: u32 = 3;

/// The delay before the next attempt. `None` if there is none.
///
/// `tries` counts the attempts so far, including the failed one. The delay before attempt `k` is
/// `initial * factor^(k-2)`, at most `max`.
#[must_use]
pub fn decide(policy: Option<&RetryPolicy>, kind: FailureKind, tries: u32) -> Option<Duration> {
    let Some(policy) = policy else {
        let unblamed = matches!(kind, FailureKind::Lost | FailureKind::Preempted);
        return (unblamed && tries < UNBLAMED_TRIES).then_some(Duration::ZERO);
    };
    if tries >= policy.attempts || !policy.on.contains(&RetryOn::of(kind)) {
        return None;
    }
    let growth = policy.factor.max(1.0).powf(f64::from(tries.saturating_sub(1)));
    let wait = policy.initial.0.as_secs_f64() * growth;
    Some(Duration::from_secs_f64(wait.min(policy.max.0.as_secs_f64())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cubeloom_domain::quantity::Span;

    fn policy(attempts: u32) -> RetryPolicy {
        RetryPolicy {
            attempts,
            initial: Span(Duration::from_secs(10)),
            factor: 3.0,
            max: Span(Duration::from_secs(60)),
            on: vec![RetryOn::Error, RetryOn::Lost],
        }
    }

    #[test]
    fn waits_longer_each_time_up_to_the_most() {
        let waits: Vec<_> = (1..=4).map(|tries| decide(Some(&policy(4)), FailureKind::Exit, tries)).collect();
        let seconds = |n| Some(Duration::from_secs(n));
        assert_eq!(waits, [seconds(10), seconds(30), seconds(60), None]);
    }

    #[test]
    fn only_the_named_failures_are_retried() {
        assert_eq!(decide(Some(&policy(4)), FailureKind::OutOfMemory, 1), None);
        assert!(decide(Some(&policy(4)), FailureKind::SetupFailed, 1).is_some());
        assert_eq!(decide(None, FailureKind::Exit, 1), None);
        assert_eq!(decide(None, FailureKind::Lost, 1), Some(Duration::ZERO));
        assert_eq!(decide(None, FailureKind::Lost, 3), None);
    }
}
