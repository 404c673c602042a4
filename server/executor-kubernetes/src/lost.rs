//! Pods on unreachable nodes. A deleted pod stays listed until its node confirms its end; a node that is
//! broken or unreachable never does. Pure.

use std::collections::BTreeSet;
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::outcome::WorkerName;
use cubeloom_workers::ends::End;

use crate::board::Seen;
use crate::pods::{PodState, PodView};

/// How long after a deleted pod's deadline its node may take to confirm the end.
const CONFIRM: Duration = Duration::from_secs(60);

impl PodView {
    /// Marks the pod as lost if it was deleted and its node, long after the deadline, has not confirmed its
    /// end.
    pub fn lose(&mut self, now: Timestamp) {
        let Some(by) = self.deleted.filter(|by| now > by.plus(CONFIRM)) else { return };
        let started_at = match &self.state {
            PodState::Running { since } => Some(*since),
            PodState::Waiting { .. } => None,
            PodState::Ended { .. } => return,
        };
        let message = "its node is unreachable".to_owned();
        self.state = PodState::Ended { end: End::NodeLost { message }, started_at, ended_at: by };
    }

    /// Whether its node is lost while the cluster still lists the pod.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.deleted.is_some() && matches!(&self.state, PodState::Ended { end: End::NodeLost { .. }, .. })
    }
}

/// Whether unreachable nodes leave the job too few workers, without replacements: a pod being deleted
/// occupies its name. Without `workers`, the cluster's scheduler decides their number, so only the visible
/// ones remain.
#[must_use]
pub fn is_torn(seen: &Seen, workers: Option<u32>, gang: u32) -> bool {
    let others: BTreeSet<&WorkerName> = seen
        .pods
        .values()
        .filter(|pod| !pod.gone && !pod.view.is_lost())
        .map(|pod| &pod.view.worker)
        .collect();
    let lost: BTreeSet<&WorkerName> =
        seen.lost_pods().map(|pod| &pod.worker).filter(|worker| !others.contains(worker)).collect();
    let left = workers.map_or(others.len(), |workers| (workers as usize).saturating_sub(lost.len()));
    !lost.is_empty() && left < gang as usize
}

/// Whether a pod that has ended stays listed long after its deadline, as a finalizer of another program may
/// keep it for good. The job's objects go after the pod; deleted ones create no more pods.
#[must_use]
pub fn is_held(seen: &Seen, now: Timestamp) -> bool {
    let is_late = |pod: &PodView| pod.deleted.is_some_and(|by| now > by.plus(CONFIRM));
    seen.pods.values().any(|pod| !pod.gone && pod.view.has_ended() && is_late(&pod.view))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::board::PodSeen;

    const BY: Timestamp = Timestamp(1_000_000_000);

    fn running(index: u32) -> PodView {
        crate::testing::pod("worker", index, PodState::Running { since: Timestamp(1) })
    }

    #[test]
    fn a_deleted_pod_of_which_its_node_says_nothing_is_lost() {
        let mut pod = running(0);
        let late = BY.plus(CONFIRM + Duration::from_secs(1));
        pod.lose(late);
        assert!(!pod.has_ended(), "nobody has deleted it");
        pod.deleted = Some(BY);
        pod.lose(BY.plus(CONFIRM));
        assert!(!pod.has_ended(), "its node may still say it");
        pod.lose(late);
        assert!(pod.is_lost());
        let PodState::Ended { started_at, ended_at, .. } = pod.state else { panic!("{:?}", pod.state) };
        assert_eq!((started_at, ended_at), (Some(Timestamp(1)), BY));
    }

    #[test]
    fn a_job_is_torn_when_lost_nodes_leave_too_few_workers() {
        let pods =
            (0..3).map(running).map(|view| (view.uid.clone(), PodSeen { view: view.into(), gone: false }));
        let mut seen = Seen { pods: pods.collect(), ..Seen::default() };
        let lose = |seen: &mut Seen, name: &str| {
            let pod = seen.pods.get_mut(name).unwrap();
            let view = Arc::make_mut(&mut pod.view);
            view.deleted = Some(BY);
            view.lose(BY.plus(2 * CONFIRM));
        };
        assert!(!is_torn(&seen, Some(3), 3) && !is_torn(&seen, None, 3));
        lose(&mut seen, "worker-1");
        assert!(is_torn(&seen, Some(3), 3));
        assert!(!is_torn(&seen, Some(3), 2) && !is_torn(&seen, None, 2), "an elastic job goes on with two");
        lose(&mut seen, "worker-2");
        assert!(is_torn(&seen, Some(3), 2));
        assert!(!is_torn(&seen, Some(8), 2), "five run that are not seen yet");
        assert!(is_torn(&seen, None, 2), "Volcano has given it three, whatever it may have");
    }

    #[test]
    fn what_has_ended_and_stays_long_after_it_was_to_be_gone_is_held() {
        let ended = || PodState::Ended {
            end: End::Exit { code: 0 },
            started_at: Some(Timestamp(1)),
            ended_at: Timestamp(2),
        };
        let late = BY.plus(CONFIRM + Duration::from_secs(1));
        let holds = |state: PodState, deleted: Option<Timestamp>, gone: bool, now: Timestamp| {
            let mut seen = crate::testing::seen_with([crate::testing::pod("worker", 0, state)]);
            let pod = seen.pods.get_mut("worker-0").unwrap();
            Arc::make_mut(&mut pod.view).deleted = deleted;
            pod.gone = gone;
            is_held(&seen, now)
        };
        assert!(holds(ended(), Some(BY), false, late));
        assert!(!holds(ended(), Some(BY), false, BY.plus(CONFIRM)), "it may still go");
        assert!(!holds(ended(), Some(BY), true, late), "it has gone");
        assert!(!holds(ended(), None, false, late), "it is not to go");
        assert!(!holds(PodState::Running { since: Timestamp(1) }, Some(BY), false, late), "it runs");
    }
}
