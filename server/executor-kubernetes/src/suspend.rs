//! Suspends jobs by each operator's own way, which removes the pods and frees their resources, and resumes
//! them. Only the job's object records the suspension, so it survives the server.

use std::collections::BTreeMap;
use std::time::Duration;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::job::DEFAULT_GRACE;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Api;
use kube::api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams, Preconditions};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::board::Seen;
use crate::cluster::Cluster;
use crate::error::{Refused, pause};
use crate::objects::resource;
use crate::roots::RootView;
use crate::submit::MANAGER;

/// The label of jobs whose suspension Kueue decides, not a user.
const KUEUE: &str = "kueue.x-k8s.io/queue-name";

/// Finalizer that keeps the pod of a suspended job listed after it has ended: a Pod has no suspend field and
/// would be gone.
const KEPT: &str = "cubeloom/suspended";

/// How to suspend a kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By `spec.suspend`.
    Spec,
    /// By `spec.runPolicy.suspend`.
    RunPolicy,
    /// By a separate command object for Volcano.
    Command,
    /// By ending the pod, which is recreated later.
    Again,
}

fn way(resource: &ApiResource) -> Option<Way> {
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("batch.volcano.sh", "Job") => Some(Way::Command),
        ("batch", "Job") | ("ray.io", "RayJob") | ("sparkoperator.k8s.io", "SparkApplication") => {
            Some(Way::Spec)
        }
        ("kubeflow.org", _) => Some(Way::RunPolicy),
        ("", "Pod") => Some(Way::Again),
        _ => None,
    }
}

/// Whether an object is suspended or being suspended; `None` if users cannot suspend it.
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
        Way::Again => is_kept(&object.metadata),
    })
}

/// Whether a pod stays listed because its job is suspended.
#[must_use]
pub fn is_kept(meta: &ObjectMeta) -> bool {
    meta.finalizers.iter().flatten().any(|name| name == KEPT)
}

/// Whether any object of a job is suspended; `None` if the job cannot be suspended.
#[must_use]
pub fn of_job(seen: &Seen) -> Option<bool> {
    let roots = seen.roots.values().filter(|root| !root.gone || root.is_made_again());
    let roots: Option<Vec<bool>> = roots.map(|root| root.view.suspended).collect();
    roots.filter(|roots| !roots.is_empty()).map(|roots| roots.contains(&true))
}

/// Suspends or resumes a job.
///
/// # Errors
/// A sentence why not.
pub async fn suspend(cluster: &Cluster, key: &AttemptKey, suspend: bool) -> Result<(), String> {
    let (namespace, seen) =
        cluster.board.find(&key.object_name()).ok_or("it is not (or no longer) on the cluster")?;
    if of_job(&seen).is_none() {
        return Err("the cluster itself suspends this job, or its operator does not support it".into());
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
        Some(Way::Again) if suspend => return cluster.ask("suspending", keep(&api, root)).await,
        Some(Way::Again) => return again(cluster, namespace, &api, root).await,
        None => return Ok(()),
    };
    let (params, patch) = (PatchParams::default(), Patch::Merge(&patch));
    cluster.ask("suspending", api.patch(&root.name, &params, &patch)).await.map(|_| ())
}

/// Ends a pod that stays listed.
async fn keep(api: &Api<DynamicObject>, root: &RootView) -> kube::Result<()> {
    mark(api, &root.name, true).await?;
    let its = Preconditions { uid: Some(root.uid.clone()), resource_version: None };
    let params = DeleteParams { preconditions: Some(its), ..DeleteParams::background() };
    api.delete(&root.name, &params).await.map(drop)
}

/// Removes the finalizer from a pod, if it has one.
pub async fn let_go(api: &Api<DynamicObject>, name: &str) -> kube::Result<()> {
    mark(api, name, false).await
}

async fn mark(api: &Api<DynamicObject>, name: &str, keep: bool) -> kube::Result<()> {
    loop {
        let meta = api.get_metadata(name).await?.metadata;
        if is_kept(&meta) == keep {
            return Ok(());
        }
        let mut finalizers = meta.finalizers.unwrap_or_default();
        finalizers.retain(|name| name != KEPT);
        finalizers.extend(keep.then(|| KEPT.to_owned()));
        let patch = json!({"metadata": {"finalizers": finalizers, "resourceVersion": meta.resource_version}});
        match api.patch_metadata(name, &PatchParams::default(), &Patch::Merge(&patch)).await {
            // The kubelet has updated the status in between.
            Err(kube::Error::Api(status)) if status.is_conflict() => {}
            marked => return marked.map(drop),
        }
    }
}

/// Recreates an ended pod. The objects that it needs must not go with its predecessor.
async fn again(
    cluster: &Cluster,
    namespace: &str,
    api: &Api<DynamicObject>,
    root: &RootView,
) -> Result<(), Refused> {
    let pod = made_again(cluster.ask("resuming", api.get(&root.name)).await?);
    let files: Api<ConfigMap> = Api::namespaced(cluster.client().await, namespace);
    let own = async |owners: Value| {
        let patch = json!({"metadata": {"ownerReferences": owners}});
        let (params, patch) = (PatchParams::default(), Patch::Merge(&patch));
        match cluster.ask("resuming", files.patch_metadata(&root.name, &params, &patch)).await {
            Err(Refused::NotFound) => Ok(()),
            owned => owned.map(drop),
        }
    };
    own(Value::Null).await?;
    cluster.ask("resuming", let_go(api, &root.name)).await?;
    let until = Instant::now() + DEFAULT_GRACE * 2;
    let mut tries = 0;
    let params = PostParams { field_manager: Some(MANAGER.into()), ..PostParams::default() };
    let made = loop {
        match cluster.ask("resuming", api.create(&params, &pod)).await {
            // Its program may not have ended yet, or a quota may be exhausted for the moment.
            Err(Refused::Exists | Refused::Busy(_) | Refused::ForNow(_)) if Instant::now() < until => {
                tries += 1;
                sleep(pause(tries).min(Duration::from_secs(1))).await;
            }
            made => break made?,
        }
    };
    own(json!([{"apiVersion": "v1", "kind": "Pod", "name": root.name, "uid": made.metadata.uid}])).await
}

/// The same pod, without the fields that the cluster has set.
fn made_again(pod: DynamicObject) -> DynamicObject {
    let DynamicObject { types, metadata, mut data } = pod;
    let mut spec = data["spec"].take();
    if let Some(spec) = spec.as_object_mut() {
        spec.retain(|name, _| !matches!(name.as_str(), "nodeName" | "priority" | "preemptionPolicy"));
    }
    let own = |part: &str, all: &Option<BTreeMap<String, String>>| {
        let mut all = all.clone()?;
        all.retain(|name, _| is_own(&metadata, part, name));
        Some(all)
    };
    let metadata = ObjectMeta {
        name: metadata.name.clone(),
        namespace: metadata.namespace.clone(),
        labels: own("f:labels", &metadata.labels),
        annotations: own("f:annotations", &metadata.annotations),
        ..ObjectMeta::default()
    };
    DynamicObject { types, metadata, data: json!({"spec": spec}) }
}

/// Whether managed fields show that this server set a label or annotation. Those of schedulers and others
/// concern that one pod only.
fn is_own(meta: &ObjectMeta, part: &str, name: &str) -> bool {
    let own = meta.managed_fields.iter().flatten().filter(|entry| entry.manager.as_deref() == Some(MANAGER));
    let fields = own.filter_map(|entry| entry.fields_v1.as_ref());
    fields.into_iter().any(|fields| fields.0["f:metadata"][part].get(format!("f:{name}")).is_some())
}

/// Sends a command to Volcano, which deletes it after reading.
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
    fn a_pod_is_made_again_without_what_the_cluster_decided() {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": "cl-a", "namespace": "a", "uid": "u", "resourceVersion": "7", "finalizers": [KEPT],
                "deletionTimestamp": "2026-11-22T03:00:30Z", "labels": {"l": "1", "theirs": "x"},
                "annotations": {"a": "2", "scheduling.k8s.io/group-name": "podgroup-u"},
                "managedFields": [{
                    "manager": MANAGER,
                    "fieldsV1": {"f:metadata": {"f:labels": {"f:l": {}}, "f:annotations": {".": {}, "f:a": {}}}},
                }],
            },
            "spec": {"nodeName": "n", "priority": 5, "preemptionPolicy": "Never", "containers": [{"name": "worker"}]},
            "status": {"phase": "Failed"},
        });
        let again = serde_json::to_value(made_again(serde_json::from_value(pod).unwrap())).unwrap();
        assert_eq!(
            again,
            json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": "cl-a", "namespace": "a", "labels": {"l": "1"}, "annotations": {"a": "2"}},
                "spec": {"containers": [{"name": "worker"}]},
            })
        );
    }

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
            ("", "Pod", json!({"metadata": {"finalizers": [KEPT]}}), Some(true)),
            ("", "Pod", json!({"metadata": {"finalizers": ["example.org/other"]}}), Some(false)),
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
