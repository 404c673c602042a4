//! Pods that another user deleted, as opposed to this server or the failure of their job. Pure.

use cubeloom_domain::Timestamp;
use cubeloom_domain::outcome::{Failure, FailureKind};
use cubeloom_workers::ends::End;

use crate::board::Seen;
use crate::judge::{STOPPING, is_of_the_program};
use crate::pods::PodState;
use crate::roots::Cause;

/// The failure of a job with a pod that another user deleted while its workers were healthy. Later failures
/// say nothing about the program. The pods of a failing job are deleted as well, but later.
#[must_use]
pub fn by_another(seen: &Seen, cause: &Cause) -> Option<Failure> {
    if is_of_the_program(cause) || cause.reason == "DeadlineExceeded" {
        return None;
    }
    // For each failed pod: when it ended, and when it was deleted if the deletion ended it.
    let ends = seen.pods.values().filter_map(|pod| {
        let PodState::Ended { end, ended_at, .. } = &pod.view.state else { return None };
        let by_signal = matches!(end, End::Signal { signal } if STOPPING.contains(signal));
        let ended_it = |at: &Timestamp| *ended_at > *at || *ended_at == *at && by_signal;
        (!end.is_well()).then(|| (&*pod.view, *ended_at, pod.view.deleted_at.filter(ended_it)))
    });
    let ends: Vec<_> = ends.collect();
    let (at, pod) =
        ends.iter().filter_map(|(pod, _, deleted)| Some(((*deleted)?, *pod))).min_by_key(|first| first.0)?;
    let failed =
        ends.iter().filter(|(_, _, deleted)| deleted.is_none()).map(|(_, ended_at, _)| *ended_at).min();
    let is_first = failed.is_none_or(|failed| at < failed);
    let says_the_cluster = |end: &End| matches!(end, End::Evicted { .. } | End::NodeLost { .. });
    if !is_first || matches!(&pod.state, PodState::Ended { end, .. } if says_the_cluster(end)) {
        return None;
    }
    let worker = pod.worker.clone();
    Some(Failure {
        node: pod.node.as_deref().map(Into::into),
        worker: Some(worker.clone()),
        ..Failure::new(FailureKind::Lost, format!("another user deleted the pod of {worker}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_that_another_user_deletes_is_no_failure_of_the_program() {
        let ended = |end: End, second: i64| PodState::Ended {
            end,
            started_at: Some(Timestamp(1)),
            ended_at: Timestamp(second * 1_000_000),
        };
        let failure = |pods: [(End, i64, Option<i64>); 2], reason: &str| {
            let pod = |(index, (end, second, deleted)): (usize, (End, i64, Option<i64>))| {
                let mut pod = crate::testing::pod("worker", index as u32, ended(end, second));
                pod.deleted_at = deleted.map(|second| Timestamp(second * 1_000_000));
                pod
            };
            let seen = crate::testing::seen_with(pods.into_iter().enumerate().map(pod));
            let cause = Cause { reason: reason.into(), ..Cause::default() };
            by_another(&seen, &cause).map(|failure| failure.message)
        };
        let (by_term, code) = (End::Signal { signal: 15 }, |code| End::Exit { code });
        let deleted = Some("another user deleted the pod of worker-0".to_owned());
        let failed = "BackoffLimitExceeded";
        assert_eq!(failure([(by_term.clone(), 10, Some(10)), (code(0), 9, None)], failed), deleted);
        assert_eq!(
            failure([(by_term.clone(), 10, Some(10)), (code(1), 12, None)], failed),
            deleted,
            "its peer missed it"
        );
        assert_eq!(failure([(code(143), 12, Some(10)), (code(1), 12, None)], failed), deleted);
        assert_eq!(
            failure([(by_term.clone(), 10, Some(10)), (code(1), 9, Some(10))], failed),
            None,
            "it failed first"
        );
        assert_eq!(
            failure([(by_term.clone(), 10, Some(10)), (code(1), 10, Some(10))], failed),
            None,
            "that is not known"
        );
        assert_eq!(failure([(by_term.clone(), 10, None), (code(0), 9, None)], failed), None);
        assert_eq!(failure([(by_term, 10, Some(10)), (code(0), 9, None)], "AppFailed"), None);
        let evicted = End::Evicted { message: "full".into() };
        assert_eq!(
            failure([(evicted, 10, Some(9)), (code(0), 9, None)], failed),
            None,
            "the cluster says so itself"
        );
    }
}
