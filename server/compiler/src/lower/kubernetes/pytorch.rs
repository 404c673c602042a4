//! `pytorch` becomes a PyTorchJob of Kubeflow's training operator (v1), which sets the workers' identity.

use cubeloom_domain::job::{Job, JobRole};
use cubeloom_domain::kubernetes::KubernetesFacts;
use serde_json::{Map, Value, json};

use super::Frame;
use super::gang;
use super::operator::{Operator, replica_specs};
use super::pods::RolePods;

/// The training operator, for PyTorch.
pub const OPERATOR: Operator = Operator {
    unfit,
    ..Operator::training("PyTorchJob", "pytorchjobs.kubeflow.org/v1", |_| "pytorch", GIVES, object)
};

const GIVES: &[&str] = &[
    "MASTER_ADDR",
    "MASTER_PORT",
    "WORLD_SIZE",
    "RANK",
    "PET_MASTER_ADDR",
    "PET_MASTER_PORT",
    "PET_NNODES",
    "PET_NODE_RANK",
    "PET_NPROC_PER_NODE",
    "PET_RDZV_BACKEND",
    "PET_RDZV_ENDPOINT",
    "PET_RDZV_ID",
];

/// Without a master the operator sets ranks only for elastic workers. With a master it adds an init container
/// to workers, which waits for the master and requests less than its limits. These pods are not of the QoS
/// class Guaranteed, and the kubelet assigns them no dedicated CPUs. When an elastic job releases a worker,
/// that worker ends with a special exit code, and the operator takes it for the end of the job.
fn unfit(job: &Job, facts: &KubernetesFacts) -> Option<&'static str> {
    if job.elastic.is_some() && super::are_ours(facts) {
        return Some("it is elastic, and its operator fails it when a worker is removed");
    }
    let master = job.roles.iter().any(|role| role.name == "master");
    let exclusive = |role: &JobRole| role.name != "master" && role.resources.cpu_exclusive;
    if !master && job.elastic.is_none() {
        return Some("it has no master, and is not elastic");
    }
    (master && job.roles.iter().any(exclusive)).then_some(
        "its operator adds a container that waits for the master, so its workers could not have dedicated CPUs",
    )
}

fn object(frame: &Frame<'_>, roles: &[RolePods]) -> Value {
    let mut spec = Map::new();
    spec.insert("runPolicy".into(), gang::run_policy(frame));
    // One process per worker, as everywhere; templates start more themselves.
    spec.insert("nprocPerNode".into(), "1".into());
    // The operator replaces elastic workers that a signal or the cluster ended; an error of the program ends
    // the job.
    let restart = match frame.job.elastic {
        Some(range) => {
            let policy = json!({
                "minReplicas": range.min,
                "maxReplicas": range.max,
                "rdzvBackend": "c10d",
                "rdzvId": frame.name,
            });
            spec.insert("elasticPolicy".into(), policy);
            "ExitCode"
        }
        None => "Never",
    };
    spec.insert("pytorchReplicaSpecs".into(), replica_specs(roles, restart));
    json!({
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": gang::metadata(frame, None),
        "spec": spec,
    })
}
