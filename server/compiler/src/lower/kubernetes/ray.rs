//! `ray` becomes a RayJob of KubeRay, which creates a Ray cluster for the job and asks its head for the
//! result of the Ray job.
//!
//! The pods run the task's commands, as everywhere (`overwrite-container-cmd`). The head submits the Ray job
//! itself, under the id set here. So there is no pod besides the workers, and the job's output is in the
//! head's log. KubeRay numbers the pods of a group at random, so every worker is its own group, with its
//! index as a label.

use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::{KubernetesFacts, labels};
use cubeloom_domain::requirement;
use serde_json::{Value, json};

use super::Frame;
use super::gang;
use super::operator::{Commands, Numbers, Operator, Start};
use super::pods::RolePods;

pub const OPERATOR: Operator = Operator {
    kind: "RayJob",
    serves: "rayjobs.ray.io/v1",
    name: "KubeRay",
    container: |_| "ray",
    gives: &["RAY_ADDRESS"],
    commands: |_| Commands::Task,
    numbers: |_| Numbers::Index("metadata.labels['cubeloom/index']"),
    start: Start::Gang,
    service: false,
    unfit,
    // Pods have random names; the head is behind a Service.
    address: |name, namespace, _, _| format!("{name}-head-svc.{namespace}.svc"),
    object,
};

/// One template per worker: more would make manifests of megabytes, which the API server refuses.
const MOST: u32 = 100;

fn unfit(job: &Job, _: &KubernetesFacts) -> Option<&'static str> {
    (job.workers() > MOST).then_some("it has more than 100 workers, and each would be a group")
}

fn object(frame: &Frame<'_>, roles: &[RolePods]) -> Value {
    let workers = roles.iter().filter(|role| role.name != "head");
    let groups: Vec<Value> =
        workers.flat_map(|role| (0..role.replicas).map(move |index| group(role, index))).collect();
    let head = roles.iter().find(|role| role.name == "head");
    let mut object = json!({
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": metadata(frame),
        "spec": {
            "jobId": frame.name,
            "submissionMode": "InteractiveMode",
            "backoffLimit": 0,
            // The Ray cluster is removed when the job has ended; the RayJob stays.
            "shutdownAfterJobFinishes": true,
            "suspend": gang::kueue(frame).is_some(),
            "rayClusterSpec": {
                "headGroupSpec": {
                    "rayStartParams": {},
                    "template": head.map(|head| probed(numbered(head, 0), HEAD_HEALTH)),
                },
                "workerGroupSpecs": groups,
            },
        },
    });
    let requirements = frame.job.python.as_ref().map_or(&[][..], |python| &python.requirements);
    if let Some(version) = version_with_tokens(requirements) {
        let cluster = &mut object["spec"]["rayClusterSpec"];
        cluster["rayVersion"] = version.into();
        // KubeRay creates a token for each cluster, and authenticates to the head with it.
        cluster["authOptions"] = json!({"mode": "token"});
    }
    object
}

/// The first version of Ray that supports token authentication.
/// <https://docs.ray.io/en/latest/ray-security/token-auth.html>
const TOKENS: [u32; 2] = [2, 52];

/// The pinned version of Ray, if it supports tokens: KubeRay refuses token authentication without such a
/// version.
fn version_with_tokens(requirements: &[String]) -> Option<&str> {
    let is_ray = |text: &&String| requirement::package(text).0 == "ray";
    let version = requirements.iter().find(is_ray)?.split_once("==")?.1.trim();
    let numbers: Option<Vec<u32>> = version.split('.').map(|part| part.parse().ok()).collect();
    numbers.is_some_and(|numbers| numbers.len() == 3 && numbers[..2] >= TOKENS[..]).then_some(version)
}

fn metadata(frame: &Frame<'_>) -> Value {
    let mut metadata = gang::metadata(frame, None);
    metadata["annotations"]["ray.io/overwrite-container-cmd"] = "true".into();
    // An ended head is not recreated: its job would run a second time.
    metadata["annotations"]["ray.io/disable-provisioned-head-restart"] = "true".into();
    if let Some(volcano) = &frame.facts.volcano {
        metadata["labels"]["volcano.sh/queue-name"] = volcano.queue.as_str().into();
        if let Some(class) = &volcano.priority_class {
            metadata["labels"]["ray.io/priority-class-name"] = class.as_str().into();
        }
    }
    metadata
}

fn group(role: &RolePods, index: u32) -> Value {
    json!({
        "groupName": format!("{}-{index}", role.name),
        "replicas": 1,
        "minReplicas": 1,
        "maxReplicas": 1,
        "rayStartParams": {},
        "template": probed(numbered(role, index), WORKER_HEALTH),
    })
}

/// The health endpoints of a head, for all of Ray, and of a worker's raylet: port and path (Ray's
/// `dashboard/modules/reporter` and `dashboard/modules/healthz`).
const HEAD_HEALTH: (u16, &str) = (8265, "/api/gcs_healthz");
const WORKER_HEALTH: (u16, &str) = (52365, "/api/local_raylet_healthz");

/// A template with probes. KubeRay's default probes call `wget`: in an image without it no head becomes
/// ready, and its job is killed after ten minutes. The times are KubeRay's.
fn probed(mut template: Value, (port, path): (u16, &str)) -> Value {
    let probe = |delay: u32, failures: u32| {
        json!({
            "httpGet": {"port": port, "path": path},
            "initialDelaySeconds": delay,
            "periodSeconds": 5,
            "timeoutSeconds": 5,
            "failureThreshold": failures,
        })
    };
    let container = &mut template["spec"]["containers"][0];
    container["readinessProbe"] = probe(10, 10);
    container["livenessProbe"] = probe(30, 120);
    template
}

/// A role's template with the index of one of its workers.
fn numbered(role: &RolePods, index: u32) -> Value {
    let mut template = role.template.clone();
    template["metadata"]["labels"][labels::INDEX] = index.to_string().into();
    template
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_can_ask_for_a_token_is_named() {
        let version = |pinned: &str| {
            let requirements = ["numpy==2.4.6".to_owned(), pinned.to_owned()];
            version_with_tokens(&requirements).map(str::to_owned)
        };
        assert_eq!(version("ray[default,tune]==2.60.0").as_deref(), Some("2.60.0"));
        assert_eq!(version("ray == 2.52.0").as_deref(), Some("2.52.0"));
        assert_eq!(version("ray==3.0.1").as_deref(), Some("3.0.1"));
        for other in [
            "ray==2.51.2",
            "ray>=2.60",
            "ray-project==2.60.0",
            "ray==2.60",
            "ray==2.60.0rc1",
            "raydp==2.60.0",
        ] {
            assert_eq!(version(other), None, "{other}");
        }
    }
}
