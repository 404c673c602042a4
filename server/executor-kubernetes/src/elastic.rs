//! Elastic jobs that Volcano scales: it preempts workers above the minimum, on any node where that frees
//! capacity. The first worker, at which the others meet, must go last. No operator's template can mark a
//! single worker, so the server annotates the pod after its creation.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cubeloom_domain::job::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::json;

use crate::board::Seen;
use crate::cluster::Cluster;
use crate::error::Refused;
use crate::pods::{PodState, PodView};

/// Volcano does not preempt pods where this annotation is false: `volcano.sh/volcano`, `PodPreemptable` in
/// `pkg/apis/scheduling`.
const PREEMPTABLE: &str = "volcano.sh/preemptable";

/// Pods of one attempt that are annotated, or being annotated, by uid.
#[derive(Clone, Default)]
pub struct Marked(Arc<Mutex<HashSet<String>>>);

impl Marked {
    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether to annotate the pod now. Returns false while a request is under way.
    fn begin(&self, uid: &str) -> bool {
        self.lock().insert(uid.to_owned())
    }

    /// Handles the response. A temporary refusal is retried on the next tick.
    fn take(&self, uid: &str, answer: Result<(), Refused>) {
        match answer {
            Ok(()) | Err(Refused::NotFound) => {}
            Err(refused @ Refused::ForGood(_)) => {
                tracing::warn!(
                    pod = uid,
                    why = refused.message(),
                    "the first worker may be taken before others"
                );
            }
            Err(_) => {
                self.lock().remove(uid);
            }
        }
    }
}

/// Annotates pods of an elastic job's first worker that are not in `marked` yet.
pub fn keep_first(cluster: &Arc<Cluster>, namespace: &str, job: &Job, seen: &Seen, marked: &Marked) {
    let Some(role) = job.roles.last() else { return };
    if !is_lent(cluster, job) {
        return;
    }
    let first = seen.live_pods().filter(|pod| pod.worker.index == 0 && pod.worker.role == role.name);
    for pod in first.filter(|pod| pod.deleted.is_none() && marked.begin(&pod.uid)) {
        let (cluster, marked) = (Arc::clone(cluster), marked.clone());
        let (namespace, pod, uid) = (namespace.to_owned(), pod.name.clone(), pod.uid.clone());
        tokio::spawn(async move { marked.take(&uid, mark(&cluster, &namespace, &pod).await) });
    }
}

/// Whether Volcano adds and preempts the job's workers above the minimum.
#[must_use]
pub fn is_lent(cluster: &Cluster, job: &Job) -> bool {
    job.elastic.is_some() && cluster.facts().kubernetes.is_some_and(|facts| facts.volcano.is_some())
}

/// Number of running workers of an elastic job that Volcano scales, without those being deleted. `None` if
/// Volcano does not scale it, or fewer run than required, as while it is suspended.
#[must_use]
pub fn running(cluster: &Cluster, job: &Job, seen: &Seen) -> Option<u32> {
    is_lent(cluster, job).then(|| enough(job, seen)).flatten()
}

fn enough(job: &Job, seen: &Seen) -> Option<u32> {
    let runs = |pod: &&PodView| pod.deleted.is_none() && matches!(pod.state, PodState::Running { .. });
    let workers: HashSet<_> = seen.live_pods().filter(runs).map(|pod| &pod.worker).collect();
    u32::try_from(workers.len()).ok().filter(|count| *count >= job.gang)
}

async fn mark(cluster: &Cluster, namespace: &str, pod: &str) -> Result<(), Refused> {
    let api: Api<Pod> = Api::namespaced(cluster.client().await, namespace);
    let patch = json!({"metadata": {"annotations": {PREEMPTABLE: "false"}}});
    let (params, patch) = (PatchParams::default(), Patch::Merge(&patch));
    cluster.ask("keeping a worker", api.patch_metadata(pod, &params, &patch)).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::Marked;
    use crate::error::Refused;

    #[test]
    fn what_is_refused_for_now_is_tried_again_and_what_is_done_is_not() {
        let marked = Marked::default();
        assert!(marked.begin("pod"));
        assert!(!marked.begin("pod"), "one request at a time");
        marked.take("pod", Err(Refused::ForNow("no answer".into())));
        assert!(marked.begin("pod"), "the next look tries again");
        marked.take("pod", Err(Refused::Busy("another change came first".into())));
        assert!(marked.begin("pod"));
        marked.take("pod", Ok(()));
        assert!(!marked.begin("pod"));
    }

    #[test]
    fn what_would_be_refused_again_is_not_tried_again() {
        let marked = Marked::default();
        assert!(marked.begin("pod"));
        marked.take("pod", Err(Refused::ForGood("forbidden".into())));
        assert!(!marked.begin("pod"));
    }
}
