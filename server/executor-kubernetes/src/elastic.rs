//! Elastic jobs that Volcano scales: it takes workers above the least for whoever needs the room, on whichever nodes that
//! helps. The first worker, at which the others meet, is to go last. No operator's template says anything of one worker
//! alone, so its pod is marked when it is there.

use std::collections::HashSet;
use std::sync::Arc;

use cubeloom_domain::job::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::json;

use crate::board::Seen;
use crate::cluster::Cluster;

/// Pods with this annotation are not taken: `volcano.sh/volcano`, `PodPreemptable` of its `pkg/apis/scheduling`.
const PREEMPTABLE: &str = "volcano.sh/preemptable";

/// Marks the pods of an elastic job's first worker that are not in `marked` yet.
pub fn keep_first(
    cluster: &Arc<Cluster>,
    namespace: &str,
    job: &Job,
    seen: &Seen,
    marked: &mut HashSet<String>,
) {
    let (Some(_), Some(role)) = (job.elastic, job.roles.last()) else { return };
    if cluster.facts().kubernetes.is_none_or(|facts| facts.volcano.is_none()) {
        return;
    }
    let first = seen.live_pods().filter(|pod| pod.worker.index == 0 && pod.worker.role == role.name);
    for pod in first.filter(|pod| pod.deleted.is_none()) {
        if marked.insert(pod.uid.clone()) {
            tokio::spawn(mark(Arc::clone(cluster), namespace.to_owned(), pod.name.clone()));
        }
    }
}

/// What only makes a job's end likelier is not tried again.
async fn mark(cluster: Arc<Cluster>, namespace: String, pod: String) {
    let api: Api<Pod> = Api::namespaced(cluster.client().await, &namespace);
    let patch = json!({"metadata": {"annotations": {PREEMPTABLE: "false"}}});
    let (params, patch) = (PatchParams::default(), Patch::Merge(&patch));
    if let Err(refused) = cluster.ask("keeping a worker", api.patch_metadata(&pod, &params, &patch)).await {
        tracing::warn!(pod, why = refused.message(), "the first worker may be taken before others");
    }
}
