//! Stops jobs: first records the cause on the job's objects, so that it survives the server, then deletes
//! them and the pods.

use std::time::Duration;

use cubeloom_domain::executor::StopCause;
use cubeloom_domain::job::Job;
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::Api;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, Preconditions};
use serde_json::json;

use crate::cluster::{Cluster, Stop};
use crate::error::{Refused, pause};
use crate::objects::{Named, Names};
use crate::pods::PodView;
use crate::roots::{RootView, STOP};
use crate::submit::secrets_of;
use crate::suspend;

/// The stop that an earlier server recorded on an object.
#[must_use]
pub fn written(root: &RootView) -> Option<Stop> {
    let (cause, grace) = root.stop.as_deref()?.split_once(' ')?;
    let cause = match cause {
        "cancelled" => StopCause::Cancelled,
        "timeout" => StopCause::Timeout,
        "preempted" => StopCause::Preempted,
        "outdone" => StopCause::Outdone,
        "hung" => StopCause::Hung,
        "marked" => StopCause::Marked,
        _ => return None,
    };
    Some(Stop { cause, grace: Duration::from_millis(grace.parse().ok()?) })
}

/// The outcome of a stopped attempt.
#[must_use]
pub fn outcome(cause: StopCause) -> Outcome {
    match cause {
        StopCause::Cancelled | StopCause::Outdone | StopCause::Marked => Outcome::Cancelled,
        StopCause::Timeout => Outcome::Failed(Failure::new(FailureKind::Timeout, "it reached its deadline")),
        StopCause::Hung => Outcome::Failed(Failure::new(FailureKind::Hung, "it was stopped because it hung")),
        StopCause::Preempted => {
            let message = "it was preempted for another job";
            Outcome::Failed(Failure::new(FailureKind::Preempted, message))
        }
    }
}

/// Records on a job's objects why it is stopped.
pub async fn write(cluster: &Cluster, job: &Names, stop: Stop) {
    let cause = match stop.cause {
        StopCause::Cancelled => "cancelled",
        StopCause::Timeout => "timeout",
        StopCause::Preempted => "preempted",
        StopCause::Outdone => "outdone",
        StopCause::Hung => "hung",
        StopCause::Marked => "marked",
    };
    let patch = json!({"metadata": {"annotations": {STOP: format!("{cause} {}", stop.grace.as_millis())}}});
    let (params, patch) = (PatchParams::default(), Patch::Merge(&patch));
    for root in &job.roots {
        let api = api(cluster, job, root).await;
        patiently(cluster, || api.patch_metadata(&root.name, &params, &patch)).await;
    }
}

/// Deletes a job's objects. They go after their pods; a bare pod after `grace`.
pub async fn remove(cluster: &Cluster, job: &Names, grace: Duration) {
    for root in &job.roots {
        let api = api(cluster, job, root).await;
        let params = if root.is_pod() {
            DeleteParams { grace_period_seconds: Some(seconds(grace)), ..DeleteParams::background() }
        } else {
            DeleteParams::foreground()
        };
        patiently(cluster, || api.delete(&root.name, &params)).await;
        if root.is_pod() {
            patiently(cluster, || suspend::let_go(&api, &root.name)).await;
        }
    }
}

/// Whole seconds, at least one: with zero, the API server forgets a pod that may still run.
fn seconds(grace: Duration) -> u32 {
    u32::try_from(grace.as_millis().div_ceil(1000)).unwrap_or(u32::MAX).max(1)
}

/// Whether all objects of a job are gone.
pub async fn is_gone(cluster: &Cluster, job: &Names) -> bool {
    for root in &job.roots {
        let api = api(cluster, job, root).await;
        if cluster.ask("stopping", api.get_metadata(&root.name)).await.err() != Some(Refused::NotFound) {
            return false;
        }
    }
    true
}

/// Deletes the Secret of an ended job.
pub async fn forget_secrets(cluster: &Cluster, names: &Names, job: &Job) {
    for name in secrets_of(job) {
        let api: Api<Secret> = Api::namespaced(cluster.client().await, &names.namespace);
        let params = DeleteParams::default();
        patiently(cluster, || api.delete(&name, &params)).await;
    }
}

/// Deletes a pod: it gets SIGTERM, and SIGKILL after `grace`.
pub async fn pod(cluster: &Cluster, namespace: &str, pod: &PodView, grace: Duration) {
    delete(cluster, namespace, pod, seconds(grace)).await;
}

/// Force-deletes a pod on an unreachable node: its owners cannot go before it.
pub async fn strike(cluster: &Cluster, namespace: &str, pod: &PodView) {
    delete(cluster, namespace, pod, 0).await;
}

async fn delete(cluster: &Cluster, namespace: &str, pod: &PodView, seconds: u32) {
    let api: Api<Pod> = Api::namespaced(cluster.client().await, namespace);
    let params = DeleteParams {
        grace_period_seconds: Some(seconds),
        // Another pod of the same name is another worker.
        preconditions: Some(Preconditions { uid: Some(pod.uid.clone()), resource_version: None }),
        ..DeleteParams::default()
    };
    patiently(cluster, || api.delete(&pod.name, &params)).await;
}

async fn api(cluster: &Cluster, job: &Names, root: &Named) -> Api<DynamicObject> {
    Api::namespaced_with(cluster.client().await, &job.namespace, &root.resource())
}

/// Retries until the cluster responds. A missing object needs no stop; a permanent refusal is logged.
async fn patiently<T, F>(cluster: &Cluster, request: impl Fn() -> F)
where
    F: Future<Output = Result<T, kube::Error>>,
{
    let mut tries = 0;
    loop {
        match cluster.ask("stopping", request()).await {
            Ok(_) | Err(Refused::NotFound) => return,
            Err(refused @ (Refused::ForGood(_) | Refused::Exists)) => {
                let (cluster, message) = (&cluster.config.name, refused.message());
                tracing::warn!(cluster, message, "a manifest of a job cannot be deleted");
                return;
            }
            Err(Refused::ForNow(_) | Refused::Busy(_) | Refused::Credentials(_)) => {
                tries += 1;
                tokio::time::sleep(pause(tries)).await;
            }
        }
    }
}
