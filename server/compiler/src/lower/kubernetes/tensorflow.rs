//! `tensorflow` becomes a TFJob of Kubeflow's training operator (v1), which writes `TF_CONFIG`.
//!
//! Its default rule is ours: the chief decides, else the first worker. Parameter servers are removed then,
//! like all running pods.

use serde_json::Value;

use super::Frame;
use super::operator::{Operator, replica_specs, training_job};
use super::pods::RolePods;

/// The training operator, for TensorFlow.
pub const OPERATOR: Operator = Operator {
    // In the form that the operator writes into `TF_CONFIG`.
    address: |name, namespace, role, index| format!("{name}-{role}-{index}.{namespace}.svc"),
    ..Operator::training("TFJob", "tfjobs.kubeflow.org/v1", |_| "tensorflow", &["TF_CONFIG"], object)
};

fn object(frame: &Frame<'_>, roles: &[RolePods]) -> Value {
    let mut replicas = replica_specs(roles, "Never");
    // The operator spells only this role in capitals.
    if let Some(servers) = replicas.as_object_mut().and_then(|specs| specs.remove("Ps")) {
        replicas["PS"] = servers;
    }
    training_job(frame, "TFJob", "tfReplicaSpecs", replicas)
}
