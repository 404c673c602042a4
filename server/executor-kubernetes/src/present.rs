//! Which pod each worker runs in: do not expect progress from a worker without one.

use std::collections::HashMap;

use cubeloom_domain::outcome::WorkerName;
use cubeloom_workers::tails::Tails;

use crate::board::Seen;

/// The pod uid of each worker when last seen, by rank.
#[derive(Default)]
pub struct Present(HashMap<usize, Option<String>>);

impl Present {
    /// Reports to `tails` workers that have ended or are absent, and restarted ones. Also detects a pod that
    /// was replaced between two calls.
    pub fn follow(&mut self, seen: &Seen, workers: impl Iterator<Item = WorkerName>, tails: &mut Tails) {
        let pods: HashMap<&WorkerName, &str> =
            seen.live_pods().map(|pod| (&pod.worker, pod.uid.as_str())).collect();
        for (rank, worker) in workers.enumerate() {
            let now = pods.get(&worker).copied();
            let before = self.0.get(&rank);
            if before.is_some_and(|before| before.as_deref() == now) {
                continue;
            }
            match now {
                None => tails.ended(rank),
                Some(_) if before.is_some() => tails.began(rank),
                // The first pod seen: an earlier server may have seen it start.
                Some(_) => {}
            }
            self.0.insert(rank, now.map(Into::into));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cubeloom_domain::Timestamp;

    use super::*;
    use crate::board::PodSeen;
    use crate::pods::{PodState, PodView};

    fn worker() -> WorkerName {
        WorkerName { role: "worker".into(), index: 0 }
    }

    fn seen(uids: &[&str]) -> Seen {
        let mut seen = Seen::default();
        for uid in uids {
            let running = PodState::Running { since: Timestamp(1) };
            let view = PodView { uid: (*uid).into(), ..crate::testing::pod("worker", 0, running) };
            seen.pods.insert((*uid).into(), PodSeen { view: Arc::new(view), gone: false });
        }
        seen
    }

    #[test]
    fn a_worker_is_waited_for_while_its_pod_is_the_one_that_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("outputs.jsonl");
        let (mut present, mut tails) = (Present::default(), Tails::default());
        let mut text = String::new();
        let mut after = |uids: &[&str], reports: bool| {
            present.follow(&seen(uids), [worker()].into_iter(), &mut tails);
            if reports {
                text += &format!("{{\"progress\":{{\"step\":{}}}}}\n", text.len());
                std::fs::write(&path, &text).unwrap();
            }
            let pace = tails.read([&path].into_iter(), Timestamp(1), Timestamp(9)).pace;
            pace.map(|pace| pace.behind.is_some())
        };
        assert_eq!(after(&["a"], true), Some(true));
        assert_eq!(after(&["a"], false), None, "nothing has changed");
        assert_eq!(after(&["b"], false), Some(false), "another is there, and has reported nothing");
        assert_eq!(after(&["b"], true), Some(true));
        assert_eq!(after(&[], false), Some(false), "it is away");
        assert_eq!(after(&["c"], false), None, "it has come again, and has reported nothing");
        assert_eq!(after(&["c"], true), Some(true));
    }
}
