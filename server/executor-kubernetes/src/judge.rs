//! Conclusions from the state of a job's pods. Pure.

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::Timestamp;
use cubeloom_domain::job::SuccessRule;
use cubeloom_domain::outcome::{Failure, FailureKind, WorkerName};
use cubeloom_workers::ends::{End, Finish};
use cubeloom_workers::mask::Masker;

use crate::board::Seen;
use crate::objects::Names;
use crate::pods::{Obstacle, PodState, PodView};
use crate::roots::{Cause, RootView};
use crate::rules;

/// Signals that stop workers.
pub(crate) const STOPPING: [i32; 2] = [9, 15];

/// The pod that failed first.
#[derive(Clone, Debug)]
pub struct Blame {
    pub pod: PodView,
    /// How many other workers were stopped because of it.
    others: usize,
}

/// Whether a pod's program or setup has started: then it has a log.
#[must_use]
pub fn has_begun(pod: &PodView) -> bool {
    match &pod.state {
        PodState::Running { .. } => true,
        PodState::Ended { end, .. } => !matches!(end, End::CouldNotStart { .. }),
        PodState::Waiting { .. } => false,
    }
}

/// When enough workers for the gang were running.
#[must_use]
pub fn started(seen: &Seen, gang: u32) -> Option<Timestamp> {
    let mut began: BTreeMap<&WorkerName, Timestamp> = BTreeMap::new();
    for pod in seen.pods.values() {
        let at = match &pod.view.state {
            PodState::Running { since } => *since,
            PodState::Ended { started_at: Some(at), .. } => *at,
            PodState::Waiting { .. } | PodState::Ended { .. } => continue,
        };
        let first = began.entry(&pod.view.worker).or_insert(at);
        *first = at.min(*first);
    }
    let mut moments: Vec<Timestamp> = began.into_values().collect();
    moments.sort_unstable();
    moments.get((gang.max(1) - 1) as usize).copied()
}

/// Start of its first worker and end of its last one.
#[must_use]
pub fn times(seen: &Seen) -> (Option<Timestamp>, Option<Timestamp>) {
    let began = seen.pods.values().filter_map(|pod| match &pod.view.state {
        PodState::Running { since } => Some(*since),
        PodState::Ended { started_at, .. } => *started_at,
        PodState::Waiting { .. } => None,
    });
    let ended = seen.pods.values().filter_map(|pod| match &pod.view.state {
        PodState::Ended { ended_at, .. } => Some(*ended_at),
        PodState::Waiting { .. } | PodState::Running { .. } => None,
    });
    (began.min(), ended.max())
}

/// What prevents a worker from ever starting.
#[must_use]
pub fn obstacle(seen: &Seen) -> Option<(WorkerName, Obstacle)> {
    seen.live_pods().find_map(|pod| match &pod.state {
        PodState::Waiting { obstacle: Some(obstacle), .. } => Some((pod.worker.clone(), obstacle.clone())),
        PodState::Waiting { note: None, .. } => Some((pod.worker.clone(), unmounted(seen, pod)?)),
        _ => None,
    })
}

/// A volume that blocks a pod: only the pod's last event shows it, not its status.
fn unmounted(seen: &Seen, pod: &PodView) -> Option<Obstacle> {
    let of = format!("Pod/{}", pod.name);
    let last = seen
        .events
        .iter()
        .map(|event| &event.notice)
        .filter(|notice| notice.of == of)
        .max_by_key(|notice| notice.at)?;
    matches!(last.reason.as_str(), "FailedMount" | "FailedAttachVolume").then(|| Obstacle {
        message: format!("a volume cannot be mounted: {}", last.message),
        may_pass: true,
    })
}

/// The cluster's reason why a job is pending.
#[must_use]
pub fn note(seen: &Seen) -> Option<String> {
    let of_pod = |pod: &PodView| match &pod.state {
        PodState::Waiting { note: Some(note), .. } => Some(format!("{}: {note}", pod.worker)),
        _ => None,
    };
    let of_root = || {
        seen.live_roots().find_map(|root| match &root.state {
            crate::roots::RootState::Open { note } => note.clone(),
            _ => None,
        })
    };
    let told = || {
        let notices = seen.events.iter().rev().map(|told| &told.notice);
        notices
            .filter(|notice| notice.warning)
            .map(|notice| in_the_queue(&rules::plain(&notice.message)))
            .next()
    };
    seen.live_pods().find_map(of_pod).or_else(of_root).or_else(told)
}

/// Volcano's message about a gang that it has not admitted. This is brief at first, and longer if capacity is
/// insufficient. The gang has no pods yet, but Volcano's own wording counts them.
fn in_the_queue(message: &str) -> String {
    match message.strip_prefix("0/0 tasks in gang unschedulable: ") {
        Some(rest) => {
            format!(
                "Volcano has not admitted it yet: it waits for capacity in its queue and the cluster ({rest})"
            )
        }
        None => message.to_owned(),
    }
}

/// Whether the role's first worker decides, has succeeded, and no more other workers failed than the job can
/// spare. Some kinds of objects know only whole roles.
#[must_use]
pub fn first_is_done(seen: &Seen, success: &SuccessRule, spare: u32) -> bool {
    let SuccessRule::First(role) = success else { return false };
    let ended = |well: bool| {
        let pods = seen.pods.values().map(|pod| &*pod.view);
        pods.filter(move |pod| matches!(&pod.state, PodState::Ended { end, .. } if end.is_well() == well))
    };
    let is_first = |pod: &PodView| pod.worker.role == *role && pod.worker.index == 0;
    ended(true).any(is_first) && ended(false).count() <= spare as usize
}

/// Whether the role's first worker decides, has failed, and has no replacement. Objects that count workers
/// report such a job as succeeded.
#[must_use]
pub fn first_has_failed(seen: &Seen, success: &SuccessRule) -> bool {
    let SuccessRule::First(role) = success else { return false };
    let pods = || {
        let pods = seen.pods.values().map(|pod| &*pod.view);
        pods.filter(|pod| pod.worker.role == *role && pod.worker.index == 0)
    };
    let ended_badly = |pod: &PodView| matches!(&pod.state, PodState::Ended { end, .. } if !end.is_well());
    pods().next().is_some() && pods().all(ended_badly)
}

/// Whether this many workers have succeeded. Operators notice it a second or more later. RayJob and
/// SparkApplication query the program itself: there, wait for the operator.
#[must_use]
pub fn all_are_done(seen: &Seen, workers: u32) -> bool {
    let asks = |root: &RootView| matches!(root.resource.kind.as_str(), "RayJob" | "SparkApplication");
    let pods = || seen.pods.values().map(|pod| &*pod.view).filter(|pod| pod.deleted.is_none());
    let is_done = |pod: &&PodView| matches!(&pod.state, PodState::Ended { end, .. } if end.is_well());
    // Count first, since this runs on every change of a pod.
    pods().filter(is_done).count() >= workers as usize
        && pods().filter(is_done).map(|pod| &pod.worker).collect::<BTreeSet<_>>().len() >= workers as usize
        && !seen.live_roots().any(asks)
}

/// Whether a job that any worker decides has succeeded although its indexed Job failed. Such a Job fails at
/// the end even if it lost only workers that it can spare.
#[must_use]
pub fn enough_are_done(seen: &Seen, success: &SuccessRule, cause: &Cause) -> bool {
    let ended_well = |pod: &PodView| matches!(&pod.state, PodState::Ended { end, .. } if end.is_well());
    *success == SuccessRule::AnyWorker
        && cause.reason == "FailedIndexes"
        && seen.pods.values().any(|pod| ended_well(&pod.view))
}

/// Whether a worker of the deciding role has failed: the job can no longer succeed.
#[must_use]
pub fn decider_has_failed(seen: &Seen, success: &SuccessRule) -> bool {
    let SuccessRule::Role(role) = success else { return false };
    let mut pods = seen.pods.values().map(|pod| &*pod.view).filter(|pod| pod.worker.role == *role);
    pods.any(|pod| matches!(&pod.state, PodState::Ended { end, .. } if !end.is_well()))
}

/// The pod that failed first by itself, in a job whose object failed because of `cause`. If the cause is a
/// verdict on the program, stopped workers are a consequence.
#[must_use]
pub fn blame(seen: &Seen, cause: &Cause) -> Option<Blame> {
    let failed = |pod: &&PodView| {
        matches!(&pod.state, PodState::Ended { end, .. } if !end.is_well())
            && !(is_of_the_program(cause) && was_stopped(pod))
    };
    let order = |pod: &&PodView| finish(pod).map(|finish| finish.order());
    let pods = || seen.pods.values().map(|pod| &*pod.view);
    let pod = pods().filter(failed).min_by_key(order)?.clone();
    let stopped = |other: &&PodView| {
        other.worker != pod.worker
            && match &other.state {
                PodState::Ended { end: End::Signal { signal }, .. } => STOPPING.contains(signal),
                PodState::Ended { .. } => false,
                PodState::Running { .. } | PodState::Waiting { .. } => true,
            }
    };
    let others: BTreeSet<&WorkerName> = pods().filter(stopped).map(|pod| &pod.worker).collect();
    let others = others.len();
    Some(Blame { pod, others })
}

/// The last lines of a failed worker whose log was unreadable because its operator deleted the pod at once.
#[must_use]
pub fn last_words(seen: &Seen, worker: &WorkerName, masks: &[String], count: usize) -> Vec<String> {
    let pods = seen.pods.values().map(|pod| &*pod.view).filter(|pod| pod.worker == *worker);
    let Some(words) = pods.filter_map(|pod| pod.last_words.as_deref()).next() else { return Vec::new() };
    let mut masker = Masker::new(masks);
    let mut bytes = masker.push(words.as_bytes());
    bytes.extend(masker.finish());
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].iter().map(|line| (*line).to_owned()).collect()
}

/// Whether it was deleted, and ended as a deleted pod does.
fn was_stopped(pod: &PodView) -> bool {
    let by_signal = matches!(&pod.state, PodState::Ended { end: End::Signal { signal }, .. } if STOPPING.contains(signal));
    pod.deleted.is_some() && by_signal
}

/// Whether it is Ray's or Spark's own verdict on the program.
pub(crate) fn is_of_the_program(cause: &Cause) -> bool {
    matches!(cause.reason.as_str(), "AppFailed" | "SparkFailed")
}

fn finish(pod: &PodView) -> Option<Finish<'_>> {
    match &pod.state {
        PodState::Ended { end, started_at, ended_at } => {
            Some(Finish { end, started_at: *started_at, ended_at: *ended_at })
        }
        _ => None,
    }
}

/// The failure of a job whose object failed because of `cause`.
#[must_use]
pub fn failure(job: &Names, seen: &Seen, blame: Option<Blame>, cause: &Cause) -> Failure {
    if let Some(Blame { pod, others }) = &blame
        && let Some(finish) = finish(pod)
    {
        return Failure {
            node: pod.node.as_deref().map(Into::into),
            ..finish.cause(&pod.worker, *others, Vec::new())
        };
    }
    let kind = job.roots.last().map_or("job", |root| root.kind.as_str());
    let why = [cause.message.as_str(), cause.reason.as_str()].into_iter().find(|text| !text.is_empty());
    let message = format!("its {kind} failed: {}", why.unwrap_or("the cluster gave no reason"));
    let kind = match cause.reason.as_str() {
        "DeadlineExceeded" => FailureKind::Timeout,
        _ if seen.pods.is_empty() => FailureKind::CouldNotStart,
        _ if is_of_the_program(cause) => FailureKind::Exit,
        _ => FailureKind::Lost,
    };
    Failure::new(kind, message)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cubeloom_domain::executor::Notice;

    use super::*;
    use crate::board::Told;

    #[test]
    fn the_kubelets_words_stand_for_a_log_that_is_gone_without_its_secrets() {
        let mut seen = seen(&[("trial", 0, Some(1)), ("trial", 1, None)]);
        for pod in seen.pods.values_mut().filter(|pod| pod.view.worker.index == 0) {
            Arc::make_mut(&mut pod.view).last_words = Some("one\ntwo with hunter2\nthree\n".into());
        }
        let words = |index| {
            let worker = WorkerName { role: "trial".into(), index };
            last_words(&seen, &worker, &["hunter2".to_owned()], 2)
        };
        assert_eq!(words(0), ["two with ***", "three"]);
        assert!(words(1).is_empty());
    }

    /// Pods of these roles and indexes, with their exit codes; a pod without one is running.
    fn seen(pods: &[(&str, u32, Option<i32>)]) -> Seen {
        let pod = |(role, index, code): &(&str, u32, Option<i32>)| {
            let at = Timestamp(1);
            let state = match code {
                Some(code) => {
                    PodState::Ended { end: End::Exit { code: *code }, started_at: Some(at), ended_at: at }
                }
                None => PodState::Running { since: at },
            };
            crate::testing::pod(role, *index, state)
        };
        crate::testing::seen_with(pods.iter().map(pod))
    }

    #[test]
    fn the_first_of_a_role_decides_unless_another_failed() {
        let rule = SuccessRule::First("worker".into());
        let is_done = |pods: &[_]| first_is_done(&seen(pods), &rule, 0);
        assert!(is_done(&[("worker", 0, Some(0)), ("worker", 1, None), ("ps", 0, None)]));
        assert!(!is_done(&[("worker", 0, None), ("worker", 1, Some(0))]));
        assert!(!is_done(&[("worker", 0, Some(1))]));
        assert!(!is_done(&[("worker", 0, Some(0)), ("worker", 1, Some(2))]));
        assert!(first_is_done(&seen(&[("worker", 0, Some(0)), ("worker", 1, Some(2))]), &rule, 1));
        let has_failed = |pods: &[_]| first_has_failed(&seen(pods), &rule);
        assert!(has_failed(&[("worker", 0, Some(1)), ("worker", 1, Some(0))]));
        assert!(!has_failed(&[("worker", 0, Some(0)), ("worker", 1, Some(2))]));
        assert!(!has_failed(&[("worker", 0, None), ("worker", 1, Some(2))]));
        assert!(!has_failed(&[("worker", 1, Some(2))]));
        assert!(!first_is_done(&seen(&[("worker", 0, Some(0))]), &SuccessRule::AllWorkers, 0));
    }

    #[test]
    fn a_volume_that_cannot_be_mounted_stands_in_the_last_event_of_its_pod() {
        let mut seen = seen(&[("worker", 0, None)]);
        let pod = seen.pods.get_mut("worker-0").unwrap();
        Arc::make_mut(&mut pod.view).state = PodState::Waiting { note: None, obstacle: None };
        let mut tell = |seconds: i64, reason: &str| {
            let notice = Notice {
                at: Timestamp(seconds),
                of: "Pod/worker-0".into(),
                warning: true,
                reason: reason.into(),
                message: "no such secret".into(),
            };
            seen.events.push_back(Told { uid: reason.into(), notice });
            obstacle(&seen).map(|(_, obstacle)| (obstacle.message, obstacle.may_pass))
        };
        assert_eq!(tell(1, "Scheduled"), None);
        let unmounted = "a volume cannot be mounted: no such secret".to_owned();
        assert_eq!(tell(2, "FailedMount"), Some((unmounted, true)));
        assert_eq!(tell(3, "Pulling"), None, "it was mounted in the end");
    }

    #[test]
    fn a_job_has_ended_when_all_of_its_programs_have() {
        let of_kind = |kind: &str, pods: &[(&str, u32, Option<i32>)]| {
            let mut seen = seen(pods);
            let resource = crate::objects::resource("example.org/v1", kind);
            let object = serde_json::from_value(serde_json::json!({
                "metadata": {"name": "cl-a", "labels": {"cubeloom/job": "cl-a"}},
            }));
            let view = RootView::read(&Arc::new(resource), &object.unwrap()).unwrap().into();
            seen.roots.insert(kind.into(), crate::board::RootSeen { view, gone: false });
            seen
        };
        let well = [("worker", 0, Some(0)), ("worker", 1, Some(0))];
        assert!(all_are_done(&of_kind("Job", &well), 2));
        assert!(!all_are_done(&of_kind("RayJob", &well), 2), "Ray says how its job ended");
        assert!(!all_are_done(&of_kind("Job", &well), 3), "one has no pod yet");
        assert!(!all_are_done(&of_kind("Job", &[("worker", 0, Some(0)), ("worker", 1, Some(1))]), 2));
        let mut stopped = of_kind("Job", &well);
        for pod in stopped.pods.values_mut() {
            Arc::make_mut(&mut pod.view).deleted = Some(Timestamp(9));
        }
        assert!(!all_are_done(&stopped, 2), "it may have been suspended");
    }

    #[test]
    fn a_worker_that_was_stopped_is_not_to_blame_for_what_the_program_did() {
        let mut seen = seen(&[("head", 0, None), ("worker", 0, None)]);
        let worker = seen.pods.get_mut("worker-0").unwrap();
        let at = Timestamp(2);
        let end = |end: End| PodState::Ended { end, started_at: None, ended_at: at };
        Arc::make_mut(&mut worker.view).state = end(End::Signal { signal: 15 });
        Arc::make_mut(&mut worker.view).deleted = Some(at);
        let blamed = |seen: &Seen, reason: &str| {
            let cause = Cause { reason: reason.into(), ..Cause::default() };
            blame(seen, &cause).map(|blame| blame.pod.name)
        };
        assert_eq!(blamed(&seen, "AppFailed"), None);
        assert_eq!(blamed(&seen, "BackoffLimitExceeded").as_deref(), Some("worker-0"));
        Arc::make_mut(&mut seen.pods.get_mut("head-0").unwrap().view).state = end(End::OutOfMemory);
        assert_eq!(blamed(&seen, "AppFailed").as_deref(), Some("head-0"));
    }

    #[test]
    fn lost_workers_that_can_be_spared_fail_no_job_of_which_any_decides() {
        let done = |pods: &[_], success: &SuccessRule, reason: &str| {
            let cause = Cause { reason: reason.into(), ..Cause::default() };
            enough_are_done(&seen(pods), success, &cause)
        };
        let any = SuccessRule::AnyWorker;
        let pods = [("worker", 0, Some(0)), ("worker", 1, Some(1))];
        assert!(done(&pods, &any, "FailedIndexes"));
        assert!(!done(&pods, &any, "MaxFailedIndexesExceeded"), "too many were lost");
        assert!(!done(&pods[1..], &any, "FailedIndexes"), "none has ended well");
        assert!(!done(&pods, &SuccessRule::AllWorkers, "FailedIndexes"));
    }

    #[test]
    fn only_the_role_that_decides_fails_a_job_by_itself() {
        let rule = SuccessRule::Role("head".into());
        assert!(decider_has_failed(&seen(&[("head", 0, Some(1))]), &rule));
        assert!(!decider_has_failed(&seen(&[("head", 0, Some(0)), ("worker", 0, Some(1))]), &rule));
        assert!(!decider_has_failed(&seen(&[("head", 0, Some(1))]), &SuccessRule::AllWorkers));
    }
}
