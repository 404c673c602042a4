//! Memory growth of running workers. Reports workers whose memory is nearly full by the cluster's metrics.
//! Resizes pods in place where the API server supports it (Kubernetes 1.33 and later).
//!
//! The engine stores the new size with the attempt before it applies it, so the submission of an adopted job
//! contains it. Requests and limits stay equal, since a pod's QoS class cannot change. A request is not yet
//! applied: the pod's status says what its container has. If the kubelet refuses it for one worker of a role,
//! or has no capacity within a minute, the server reports that. It requests no more for that role, which
//! keeps its size. Workers that were resized by then keep the new size, since lowering memory is not safe.
//!
//! <https://kubernetes.io/docs/tasks/configure-pod-container/resize-container-resources/>

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use cubeloom_domain::Bytes;
use cubeloom_domain::executor::{Event, NearlyFull, NotGiven};
use cubeloom_domain::job::Job;
use cubeloom_domain::outcome::WorkerName;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, Patch, PatchParams};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Attempt, Going};
use crate::board::Seen;
use crate::error::Refused;
use crate::pods::{PodState, PodView};

/// How long to wait before reporting a role with unchanged usage again: newer metrics take that long.
const AGAIN: Duration = Duration::from_secs(15);
/// How long a node may take to apply a resize that it has not refused.
const PATIENCE: Duration = Duration::from_secs(60);

/// Memory growth of an attempt's workers.
#[derive(Default)]
pub(super) struct Growing {
    /// Wanted memory of each role's workers; empty while they have their initial size.
    memory: BTreeMap<String, Bytes>,
    /// Resize requests sent, by pod uid: the amount, and since when.
    asked: HashMap<String, (Bytes, Instant)>,
    /// Pods whose resize request the API server refuses for now, by uid, since when.
    put_off: HashMap<String, Instant>,
    /// Pods whose spec is to be set back to what they have.
    back: Vec<PodView>,
    /// Roles whose resize the API server denied, with the reason.
    denied: BTreeMap<String, String>,
    /// Memory per worker by uid, when any was last seen running.
    had: HashMap<String, (WorkerName, Bytes)>,
    /// Last report by role: the limit, and when.
    told: HashMap<String, (Bytes, Instant)>,
}

impl Growing {
    /// Raises the wanted memory to the amounts in this job.
    pub(super) fn want(&mut self, job: &Job) {
        for role in &job.roles {
            let memory = self.memory.entry(role.name.clone()).or_default();
            *memory = (*memory).max(role.resources.memory);
        }
    }

    /// Running pods whose spec has less than the wanted memory, and for which no request was sent.
    fn due(&self, seen: &Seen) -> Vec<(PodView, Bytes)> {
        let wanted = |pod: &PodView| {
            let memory = *self.memory.get(&pod.worker.role)?;
            let has_less = pod.limit > Bytes(0) && pod.limit < memory;
            let is_asked = self.asked.get(&pod.uid).is_some_and(|(asked, _)| *asked == memory);
            (has_less && !is_asked && is_at_work(pod)).then(|| (pod.clone(), memory))
        };
        seen.live_pods().filter_map(wanted).collect()
    }

    /// Records the memory of running workers.
    fn note(&mut self, seen: &Seen) {
        let at_work = || seen.live_pods().filter(|pod| is_at_work(pod) && pod.memory > Bytes(0));
        if at_work().next().is_some() {
            self.had = at_work().map(|pod| (pod.uid.clone(), (pod.worker.clone(), pod.memory))).collect();
        }
    }

    /// Roles with a worker that does not get the wanted memory, and the pods whose spec is above what they
    /// have.
    fn refused(&mut self, seen: &Seen, now: Instant) -> Vec<(NotGiven, Vec<PodView>)> {
        let mut why: BTreeMap<String, String> = std::mem::take(&mut self.denied);
        for pod in seen.live_pods().filter(|pod| is_at_work(pod) && pod.memory > Bytes(0)) {
            let Some(memory) = self.memory.get(&pod.worker.role).filter(|memory| pod.memory < **memory)
            else {
                continue;
            };
            // An earlier server has sent this request; otherwise the pod is still due.
            let is_asked = || pod.limit >= *memory;
            let asked = self.asked.get(&pod.uid).filter(|(asked, _)| asked == memory).map(|(_, at)| *at);
            let Some(since) = asked.or_else(|| is_asked().then_some(now)) else { continue };
            self.asked.insert(pod.uid.clone(), (*memory, since));
            let refusal = pod.refused.as_ref().filter(|_| is_asked());
            if refusal.is_some_and(|refusal| refusal.for_good) || now.duration_since(since) >= PATIENCE {
                let said =
                    refusal.map_or("its node did not provide it within a minute", |refusal| &refusal.message);
                why.entry(pod.worker.role.clone()).or_insert_with(|| format!("{}: {said}", pod.worker));
            }
        }
        why.into_iter().filter_map(|(role, why)| self.give_up(seen, role, why)).collect()
    }

    /// Notes that the API server has not accepted the request. It is retried for as long as a node may take.
    fn put_off(&mut self, pod: &PodView, why: &str, now: Instant) {
        let since = *self.put_off.entry(pod.uid.clone()).or_insert(now);
        if now.duration_since(since) >= PATIENCE {
            self.denied.insert(pod.worker.role.clone(), format!("{}: {why}", pod.worker));
        }
    }

    /// Pods whose spec is to be set back to their current memory: those that still exist, and whose role has
    /// no new wanted size.
    fn over_what_they_have(&mut self, seen: &Seen) -> Vec<PodView> {
        let back = std::mem::take(&mut self.back);
        let waits = |pod: &&PodView| back.iter().any(|one| one.uid == pod.uid);
        let is_decided = |pod: &PodView| self.memory.contains_key(&pod.worker.role);
        let over = |pod: &&PodView| pod.memory > Bytes(0) && pod.limit > pod.memory && !is_decided(pod);
        seen.live_pods().filter(waits).filter(over).cloned().collect()
    }

    fn give_up(&mut self, seen: &Seen, role: String, why: String) -> Option<(NotGiven, Vec<PodView>)> {
        let memory = self.memory.remove(&role)?;
        let of_role: Vec<PodView> = seen.live_pods().filter(|pod| pod.worker.role == role).cloned().collect();
        for pod in &of_role {
            self.asked.remove(&pod.uid);
            self.put_off.remove(&pod.uid);
        }
        let over = |pod: &PodView| pod.memory > Bytes(0) && pod.limit > pod.memory;
        Some((NotGiven { role, memory, why }, of_role.into_iter().filter(over).collect()))
    }

    /// Memory of a worker when any was last seen running.
    pub(super) fn had(&self, uid: &str) -> Option<Bytes> {
        self.had.get(uid).map(|(_, memory)| *memory)
    }

    /// Roles of an ended job with a worker that had not received the wanted memory.
    fn never_given(&mut self) -> Vec<NotGiven> {
        let memory = std::mem::take(&mut self.memory);
        let lacks = |(role, memory): (String, Bytes)| {
            let (worker, _) = self.had.values().find(|(worker, had)| worker.role == role && *had < memory)?;
            Some(NotGiven { role, memory, why: format!("{worker} ended before it was provided") })
        };
        memory.into_iter().filter_map(lacks).collect()
    }

    /// The fullest worker of each role whose memory is nearly full, except roles that were reported just now.
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

fn is_for_now(refused: &Refused) -> bool {
    matches!(refused, Refused::ForNow(_) | Refused::Busy(_) | Refused::Credentials(_))
}

fn is_at_work(pod: &PodView) -> bool {
    pod.deleted.is_none() && matches!(pod.state, PodState::Running { .. })
}

/// Patches the memory of the main container only. Requests and limits are equal from the start.
fn patch(pod: &PodView, memory: Bytes) -> Value {
    let amounts = json!({"memory": memory.0.to_string()});
    let container = json!({"name": pod.main(), "resources": {"requests": amounts, "limits": amounts}});
    json!({"spec": {"containers": [container]}})
}

impl Attempt {
    /// Reports roles whose workers' memory is nearly full.
    pub(super) fn tell_full(&self, going: &mut Going) {
        if !self.known.job.grows || going.stop.is_some() {
            return;
        }
        let seen = self.cluster.look(&going.name);
        let used = |pod: &PodView| match pod.state {
            PodState::Running { since } => self.cluster.meter.memory(&going.name.0, &pod.name, since),
            _ => None,
        };
        for full in going.growing.full(&seen, used, Instant::now()) {
            self.cluster.report(&self.known.job.key, Event::NearlyFull(full));
        }
    }

    /// Resizes workers to the wanted memory. Retries what the cluster refuses for now, and reports what a
    /// node does not apply.
    pub(super) async fn give_memory(&self, going: &mut Going) {
        let growing = &going.growing;
        if !self.known.job.grows && growing.memory.is_empty() && growing.back.is_empty() {
            return;
        }
        let seen = self.cluster.look(&going.name);
        going.growing.note(&seen);
        for (pod, memory) in going.growing.due(&seen) {
            let answer = self.resize_pod(&going.name.0, &pod, memory).await;
            if let Err(refused) = &answer
                && is_for_now(refused)
            {
                going.growing.put_off(&pod, refused.message(), Instant::now());
                continue;
            }
            if let Err(refused @ Refused::ForGood(_)) = answer {
                let why = format!("{}: {}", pod.worker, refused.message());
                going.growing.denied.insert(pod.worker.role.clone(), why);
            }
            going.growing.put_off.remove(&pod.uid);
            going.growing.asked.insert(pod.uid, (memory, Instant::now()));
        }
        for (not, pods) in going.growing.refused(&seen, Instant::now()) {
            self.cluster.report(&self.known.job.key, Event::NotGiven(not));
            going.growing.back.extend(pods);
        }
        // Otherwise a node might apply it later, uncounted. Kubernetes 1.33 does not allow lowering a memory
        // limit.
        for pod in going.growing.over_what_they_have(&seen) {
            match self.resize_pod(&going.name.0, &pod, pod.memory).await {
                Err(refused) if is_for_now(&refused) => going.growing.back.push(pod),
                _ => {}
            }
        }
    }

    async fn resize_pod(&self, namespace: &str, pod: &PodView, memory: Bytes) -> Result<Pod, Refused> {
        let api: Api<Pod> = Api::namespaced(self.cluster.client().await, namespace);
        let (params, patch) = (PatchParams::default(), Patch::Strategic(patch(pod, memory)));
        let asked = api.patch_subresource("resize", &pod.name, &params, &patch);
        self.cluster.ask("increasing the memory of a worker", asked).await
    }

    /// Reports memory that workers had not received when they ended.
    pub(super) fn tell_never_given(&self, going: &mut Going) {
        for not in going.growing.never_given() {
            self.cluster.report(&self.known.job.key, Event::NotGiven(not));
        }
    }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::Timestamp;
    use cubeloom_domain::resources::Resources;

    use super::*;
    use crate::pods::Refusal;
    use crate::testing::{elastic_job, seen};

    const GIB: u64 = 1 << 30;

    /// Three workers of 1 GiB; the last has not started.
    fn three() -> Seen {
        let mut all = seen(3);
        for (index, pod) in all.pods.values_mut().enumerate() {
            let view = std::sync::Arc::make_mut(&mut pod.view);
            (view.limit, view.memory) = (Bytes(GIB), Bytes(GIB));
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
        growing.asked.insert(pod.uid, (memory, Instant::now()));
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

    fn change(seen: &mut Seen, index: usize, change: impl Fn(&mut PodView)) {
        change(std::sync::Arc::make_mut(&mut seen.pods.values_mut().nth(index).unwrap().view));
    }

    /// Two running workers with a resize requested now, as the API server shows them.
    fn asked_for_two(now: Instant) -> (Growing, Seen) {
        let (mut growing, mut seen) = (Growing::default(), three());
        growing.want(&job(2 * GIB));
        assert!(growing.refused(&seen, now).is_empty(), "it is still to be asked for");
        for (index, (pod, memory)) in growing.due(&seen).into_iter().enumerate() {
            growing.asked.insert(pod.uid, (memory, now));
            change(&mut seen, index, |pod| pod.limit = Bytes(2 * GIB));
        }
        growing.note(&seen);
        (growing, seen)
    }

    #[test]
    fn what_a_node_refuses_is_told_once_and_asked_for_no_more() {
        let now = Instant::now();
        let (mut growing, mut seen) = asked_for_two(now);
        assert!(growing.refused(&seen, now).is_empty(), "its node has not said anything");
        change(&mut seen, 0, |pod| pod.memory = Bytes(2 * GIB));
        let refusal = |for_good| Some(Refusal { for_good, message: "no room".into() });
        change(&mut seen, 1, |pod| pod.refused = refusal(false));
        assert!(growing.refused(&seen, now + PATIENCE / 2).is_empty(), "there may be room in a moment");
        change(&mut seen, 1, |pod| pod.refused = refusal(true));
        let refused = growing.refused(&seen, now + PATIENCE / 2);
        let expected =
            NotGiven { role: "worker".into(), memory: Bytes(2 * GIB), why: "worker-1: no room".into() };
        assert_eq!(refused[0].0, expected);
        let back: Vec<_> = refused[0].1.iter().map(|pod| (pod.worker.index, pod.memory)).collect();
        assert_eq!(back, [(1, Bytes(GIB))], "who has it keeps it");
        assert!(growing.refused(&seen, now + PATIENCE).is_empty() && growing.due(&seen).is_empty());
        growing.back = refused[0].1.clone();
        let back: Vec<_> = growing.over_what_they_have(&seen).iter().map(|pod| pod.worker.index).collect();
        assert_eq!((back, growing.back.len()), (vec![1], 0));
        assert!(growing.never_given().is_empty(), "it was told");
        // A new command of the engine causes a new request.
        growing.want(&job(3 * GIB));
        assert_eq!(growing.due(&seen).len(), 2);
    }

    #[test]
    fn what_is_not_given_within_a_minute_or_before_the_end_is_not_given() {
        let now = Instant::now();
        let (mut growing, mut seen) = asked_for_two(now);
        change(&mut seen, 0, |pod| pod.memory = Bytes(2 * GIB));
        growing.note(&seen);
        let not = growing.never_given();
        assert_eq!((not.len(), not[0].why.as_str()), (1, "worker-1 ended before it was provided"));
        let (mut growing, seen) = asked_for_two(now);
        let refused = growing.refused(&seen, now + PATIENCE);
        assert_eq!(refused[0].0.why, "worker-0: its node did not provide it within a minute");
        let (mut growing, mut seen) = asked_for_two(now);
        (0..2).for_each(|index| change(&mut seen, index, |pod| pod.memory = Bytes(2 * GIB)));
        growing.note(&seen);
        assert!(growing.refused(&seen, now + PATIENCE).is_empty() && growing.never_given().is_empty());
        // For requests of an earlier server, the time counts from when this server sees them.
        let (_, seen) = asked_for_two(now);
        let mut later = Growing::default();
        later.want(&job(2 * GIB));
        assert!(later.refused(&seen, now).is_empty() && later.due(&seen).is_empty());
        assert_eq!(later.refused(&seen, now + PATIENCE).len(), 1);
        // A denial by the API server is reported verbatim.
        let mut late = Growing::default();
        late.want(&job(2 * GIB));
        let (pod, _) = late.due(&three()).remove(0);
        late.put_off(&pod, "too many requests", now);
        late.put_off(&pod, "too many requests", now + PATIENCE / 2);
        assert!(late.refused(&three(), now + PATIENCE / 2).is_empty(), "it is tried again");
        late.put_off(&pod, "too many requests", now + PATIENCE);
        assert_eq!(late.refused(&three(), now + PATIENCE)[0].0.why, "worker-0: too many requests");
        assert!(late.due(&three()).is_empty() && late.put_off.is_empty());
        let mut denied = Growing::default();
        denied.want(&job(2 * GIB));
        denied.denied.insert("worker".into(), "worker-0: exceeded quota".into());
        assert_eq!(denied.refused(&three(), now)[0].0.why, "worker-0: exceeded quota");
    }
}
