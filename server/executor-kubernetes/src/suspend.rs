//! Suspending: each operator's own way of taking a job's pods away, so that what they held is free, and of starting them
//! again. That a job is suspended stands on its object alone, so it outlives the server.

use cubeloom_domain::AttemptKey;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::board::Seen;
use crate::cluster::Cluster;
use crate::error::Refused;
use crate::objects::resource;
use crate::roots::RootView;

/// What says that Kueue, not a person, decides when a job is suspended.
const KUEUE: &str = "kueue.x-k8s.io/queue-name";

/// How a kind of object is suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By `spec.suspend`.
    Spec,
    /// By `spec.runPolicy.suspend`.
    RunPolicy,
    /// By an object of its own, a command to Volcano.
    Command,
}

fn way(resource: &ApiResource) -> Option<Way> {
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("batch.volcano.sh", "Job") => Some(Way::Command),
        ("batch", "Job") | ("ray.io", "RayJob") | ("sparkoperator.k8s.io", "SparkApplication") => {
            Some(Way::Spec)
        }
        ("kubeflow.org", _) => Some(Way::RunPolicy),
        _ => None,
    }
}

/// Whether an object is suspended, or is to be; `None` where people cannot suspend it.
#[must_use]
pub fn is_suspended(resource: &ApiResource, object: &DynamicObject) -> Option<bool> {
    if object.metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(KUEUE)) {
        return None;
    }
    let spec = &object.data["spec"];
    Some(match way(resource)? {
        Way::Spec => spec["suspend"] == true,
        Way::RunPolicy => spec["runPolicy"]["suspend"] == true,
        Way::Command => {
            matches!(object.data["status"]["state"]["phase"].as_str(), Some("Aborting" | "Aborted"))
        }
    })
}

/// Whether a job is suspended; `None` where it cannot be. It is when one of its objects is.
#[must_use]
pub fn of_job(seen: &Seen) -> Option<bool> {
    let roots: Option<Vec<bool>> = seen.live_roots().map(|root| root.suspended).collect();
    roots.filter(|roots| !roots.is_empty()).map(|roots| roots.contains(&true))
}

/// Suspends a job, or lets it go on.
///
/// # Errors
/// A sentence why not.
pub async fn suspend(cluster: &Cluster, key: &AttemptKey, suspend: bool) -> Result<(), String> {
    let (namespace, seen) =
        cluster.board.find(&key.object_name()).ok_or("it is not on the cluster (any more)")?;
    if of_job(&seen).is_none() {
        return Err(
            "the cluster decides itself when this job is suspended, or its operator cannot suspend it".into(),
        );
    }
    for root in seen.live_roots().filter(|root| root.suspended != Some(suspend)) {
        let asked = one(cluster, &namespace, root, suspend).await;
        asked.map_err(|refused| format!("the cluster refuses: {}", refused.message()))?;
    }
    Ok(())
}

async fn one(cluster: &Cluster, namespace: &str, root: &RootView, suspend: bool) -> Result<(), Refused> {
    let api: Api<DynamicObject> = Api::namespaced_with(cluster.client().await, namespace, &*root.resource);
    let patch = match way(&root.resource) {
        Some(Way::Spec) => json!({"spec": {"suspend": suspend}}),
        Some(Way::RunPolicy) => json!({"spec": {"runPolicy": {"suspend": suspend}}}),
        Some(Way::Command) => return command(cluster, namespace, root, suspend).await,
        None => return Ok(()),
    };
    let (params, patch) = (PatchParams::default(), Patch::Merge(&patch));
    cluster.ask("suspending", api.patch(&root.name, &params, &patch)).await.map(|_| ())
}

/// Volcano is told by a command, which it deletes when it has read it.
async fn command(cluster: &Cluster, namespace: &str, root: &RootView, suspend: bool) -> Result<(), Refused> {
    let owner = json!({
        "apiVersion": root.resource.api_version, "kind": root.resource.kind, "name": root.name, "uid": root.uid,
        "controller": true,
    });
    let object: Value = json!({
        "apiVersion": "bus.volcano.sh/v1alpha1",
        "kind": "Command",
        "metadata": {"generateName": format!("{}-", root.name), "namespace": namespace, "ownerReferences": [owner]},
        "target": owner,
        "action": if suspend { "AbortJob" } else { "ResumeJob" },
    });
    let resource = resource("bus.volcano.sh/v1alpha1", "Command");
    let api: Api<DynamicObject> = Api::namespaced_with(cluster.client().await, namespace, &resource);
    let object = serde_json::from_value(object).map_err(|error| Refused::ForGood(error.to_string()))?;
    cluster.ask("suspending", api.create(&PostParams::default(), &object)).await.map(|_| ())
}

#[cfg(test)]
mod tests {
    use kube::api::GroupVersionKind;

    use super::*;

    #[test]
    fn each_operators_sign_is_read_and_kueues_jobs_are_left_alone() {
        let suspended = |group: &str, kind: &str, data: Value| {
            let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1", kind));
            let mut object = data;
            object["metadata"]["name"] = "a".into();
            is_suspended(&resource, &serde_json::from_value(object).unwrap())
        };
        for (group, kind, data, expected) in [
            ("batch", "Job", json!({"spec": {"suspend": true}}), Some(true)),
            ("batch", "Job", json!({"spec": {}}), Some(false)),
            ("ray.io", "RayJob", json!({"spec": {"suspend": true}}), Some(true)),
            ("kubeflow.org", "TFJob", json!({"spec": {"runPolicy": {"suspend": true}}}), Some(true)),
            ("kubeflow.org", "MPIJob", json!({"spec": {"suspend": true}}), Some(false)),
            ("batch.volcano.sh", "Job", json!({"status": {"state": {"phase": "Aborting"}}}), Some(true)),
            ("batch.volcano.sh", "Job", json!({"status": {"state": {"phase": "Running"}}}), Some(false)),
            ("example.org", "Job", json!({"spec": {"suspend": true}}), None),
            (
                "batch",
                "Job",
                json!({"spec": {"suspend": true}, "metadata": {"labels": {"kueue.x-k8s.io/queue-name": "q"}}}),
                None,
            ),
        ] {
            assert_eq!(suspended(group, kind, data.clone()), expected, "{kind} {data}");
        }
    }
}
