//! Workers that have nearly used up their memory, as far as the cluster's metrics tell: that is told, and those that get more
//! get it in place, where the API server knows how to resize pods (Kubernetes 1.33 and later).
//!
//! What they get is stored with the attempt before it is given, so a job that is taken up has it in its submission. Requests and
//! limits stay equal: the class of a pod's quality of service cannot change. What its node has no room for the kubelet leaves
//! for later, and the worker goes on with what it has.
//!
//! <https://kubernetes.io/docs/tasks/configure-pod-container/resize-container-resources/>

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use cubeloom_domain::Bytes;
use cubeloom_domain::executor::{Event, NearlyFull};
use cubeloom_domain::job::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, Patch, PatchParams};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Attempt, Going};
use crate::board::Seen;
use crate::error::Refused;
use crate::pods::{PodState, PodView};

/// How long nothing is told again of a role that is as full as it was: there is nothing new before the metrics are.
const AGAIN: Duration = Duration::from_secs(15);

/// What is done about the memory of an attempt's workers.
#[derive(Default)]
pub(super) struct Growing {
    /// What the workers of each role are to have; empty as long as that is what they began with.
    memory: BTreeMap<String, Bytes>,
    /// Pods for which it was asked, by uid, and for how much.
    asked: HashMap<String, Bytes>,
    /// By role: of which limit it was told last, and when.
    told: HashMap<String, (Bytes, Instant)>,
}

impl Growing {
    /// The workers are to have the memory that they have in this job.
    pub(super) fn want(&mut self, job: &Job) {
        for role in &job.roles {
            let memory = self.memory.entry(role.name.clone()).or_default();
            *memory = (*memory).max(role.resources.memory);
        }
    }

    /// Pods that run with less than they are to have, and for which that was not asked.
    fn due(&self, seen: &Seen) -> Vec<(PodView, Bytes)> {
        let wanted = |pod: &PodView| {
            let memory = *self.memory.get(&pod.worker.role)?;
            let has_less = pod.memory > Bytes(0) && pod.memory < memory;
            let is_asked = self.asked.get(&pod.uid) == Some(&memory);
            (has_less && !is_asked && is_at_work(pod)).then(|| (pod.clone(), memory))
        };
        seen.live_pods().filter_map(wanted).collect()
    }

    /// Of each role the fullest worker, where that has nearly used up its memory; those of which it was told just now are left out.
    fn full(
        &mut self,
        seen: &Seen,
        used: impl Fn(&PodView) -> Option<Bytes>,
        now: Instant,
    ) -> Vec<NearlyFull> {
        let mut fullest: BTreeMap<&str, NearlyFull> = BTreeMap::new();
        for pod in seen.live_pods().filter(|pod| is_at_work(pod)) {
            let Some(used) = used(pod).filter(|used| NearlyFull::is(*used, pod.memory)) else { continue };
            let role = pod.worker.role.as_str();
            let full = NearlyFull { role: role.to_owned(), limit: pod.memory, used };
            let known = fullest.entry(role).or_insert_with(|| full.clone());
            if known.used < used {
                *known = full;
            }
        }
        let fullest: Vec<NearlyFull> = fullest.into_values().collect();
        let is_news = |full: &NearlyFull| {
            let told = self.told.get(&full.role);
            told.is_none_or(|(limit, at)| *limit != full.limit || now.duration_since(*at) >= AGAIN)
        };
        let news: Vec<NearlyFull> = fullest.into_iter().filter(is_news).collect();
        self.told.extend(news.iter().map(|full| (full.role.clone(), (full.limit, now))));
        news
    }
}

fn is_at_work(pod: &PodView) -> bool {
    pod.deleted.is_none() && matches!(pod.state, PodState::Running { .. })
}

/// The container's memory, and nothing else of the pod. Requests and limits are equal from the beginning.
fn patch(pod: &PodView, memory: Bytes) -> Value {
    let amounts = json!({"memory": memory.0.to_string()});
    let container = json!({"name": pod.main(), "resources": {"requests": amounts, "limits": amounts}});
    json!({"spec": {"containers": [container]}})
}

impl Attempt {
    /// Tells of roles whose workers have nearly used up their memory.
    pub(super) fn tell_full(&self, going: &mut Going) {
        if !self.known.job.grows || going.stop.is_some() {
            return;
        }
        let seen = self.cluster.look(&going.name);
        let used = |pod: &PodView| self.cluster.meter.memory(&going.name.0, &pod.name);
        for full in going.growing.full(&seen, used, Instant::now()) {
            self.cluster.report(&self.known.job.key, Event::NearlyFull(full));
        }
    }

    /// Gives its workers the memory that they are to have. What the cluster refuses for now is tried again.
    pub(super) async fn give_memory(&self, going: &mut Going) {
        if going.growing.memory.is_empty() {
            return;
        }
        for (pod, memory) in going.growing.due(&self.cluster.look(&going.name)) {
            let api: Api<Pod> = Api::namespaced(self.cluster.client().await, &going.name.0);
            let (params, patch) = (PatchParams::default(), Patch::Strategic(patch(&pod, memory)));
            let asked = api.patch_subresource("resize", &pod.name, &params, &patch);
            match self.cluster.ask("giving a worker more memory", asked).await {
                Err(Refused::ForNow(_) | Refused::Busy(_) | Refused::Credentials(_)) => continue,
                Err(refused @ Refused::ForGood(_)) => {
                    let (key, worker) = (&self.known.job.key, &pod.worker);
                    tracing::warn!(%key, %worker, why = refused.message(), "a worker cannot be given more memory");
                }
                _ => {}
            }
            going.growing.asked.insert(pod.uid, memory);
        }
    }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::Timestamp;
    use cubeloom_domain::resources::Resources;

    use super::*;
    use crate::testing::{elastic_job, seen};

    const GIB: u64 = 1 << 30;

    /// Three workers of one GiB, of which the last has not begun.
    fn three() -> Seen {
        let mut all = seen(3);
        for (index, pod) in all.pods.values_mut().enumerate() {
            let view = std::sync::Arc::make_mut(&mut pod.view);
            view.memory = Bytes(GIB);
            view.containers = vec!["setup".into(), "main".into()];
            if index < 2 {
                view.state = PodState::Running { since: Timestamp(0) };
            }
        }
        all
    }

    fn job(memory: u64) -> Job {
        let mut job = elastic_job();
        job.roles[0].resources = Resources { memory: Bytes(memory), ..Resources::default() };
        job
    }

    #[test]
    fn workers_that_run_get_more_once_and_nothing_becomes_less() {
        let (mut growing, seen) = (Growing::default(), three());
        let due = |growing: &Growing, seen: &Seen| -> Vec<u32> {
            growing.due(seen).iter().map(|(pod, _)| pod.worker.index).collect()
        };
        assert!(due(&growing, &seen).is_empty(), "nothing was wanted");
        growing.want(&job(2 * GIB));
        growing.want(&job(GIB / 2));
        assert_eq!(due(&growing, &seen), [0, 1], "the third gets it when it runs");
        let (pod, memory) = growing.due(&seen).remove(0);
        let both = json!({"requests": {"memory": "2147483648"}, "limits": {"memory": "2147483648"}});
        let expected = json!({"spec": {"containers": [{"name": "main", "resources": both}]}});
        assert_eq!(patch(&pod, memory), expected);
        growing.asked.insert(pod.uid, memory);
        assert_eq!(due(&growing, &seen), [1]);
        growing.want(&job(3 * GIB));
        assert_eq!(due(&growing, &seen), [0, 1]);
    }

    #[test]
    fn the_fullest_worker_of_a_role_is_told_of_when_there_is_news() {
        let (mut growing, mut seen) = (Growing::default(), three());
        let used =
            |parts: [u64; 3]| move |pod: &PodView| Some(Bytes(GIB * parts[pod.worker.index as usize] / 100));
        let now = Instant::now();
        assert!(growing.full(&seen, used([94, 10, 99]), now).is_empty(), "who has not begun uses nothing");
        let told = growing.full(&seen, used([96, 97, 0]), now);
        assert_eq!((told.len(), told[0].role.as_str(), told[0].limit), (1, "worker", Bytes(GIB)));
        assert_eq!(told[0].used, Bytes(GIB * 97 / 100));
        assert!(growing.full(&seen, used([96, 97, 0]), now).is_empty(), "it was told");
        assert_eq!(growing.full(&seen, used([96, 97, 0]), now + AGAIN).len(), 1);
        assert!(growing.full(&seen, |_| None, now + 2 * AGAIN).is_empty(), "nobody measures");
        for pod in seen.pods.values_mut() {
            std::sync::Arc::make_mut(&mut pod.view).memory = Bytes(2 * GIB);
        }
        let more = growing.full(&seen, |_| Some(Bytes(2 * GIB)), now + AGAIN);
        assert_eq!(more[0].limit, Bytes(2 * GIB), "with another limit it is news at once");
    }
}
