//! What lowering must know of an operator; its framework names it.

use cubeloom_domain::job::Job;
use serde_json::{Value, json};

use super::Frame;
use super::pods::RolePods;

/// An operator that runs one framework.
pub struct Operator {
    /// The kind of its object.
    pub kind: &'static str,
    /// What it serves, as the facts have it: `<plural>.<group>/<version>`.
    pub serves: &'static str,
    /// Who serves it.
    pub name: &'static str,
    /// The name that the worker's container must have.
    pub container: &'static str,
    /// Variables that it gives to workers: lowering leaves them to it.
    pub gives: &'static [&'static str],
    /// Why it cannot run this job; `None` when it can.
    pub unfit: fn(&Job) -> Option<&'static str>,
    /// The address of a worker: the job's name, the namespace, the role, the index in the role.
    pub address: fn(&str, &str, &str, u32) -> String,
    /// Its object.
    pub(super) object: fn(&Frame<'_>, &[RolePods]) -> Value,
}

/// Where pods of Kubeflow's operators have their index within the role.
pub const REPLICA_INDEX: &str = "metadata.labels['training.kubeflow.org/replica-index']";

/// The replicas of Kubeflow's objects: a role's name with a capital.
pub fn replica_specs(roles: &[RolePods], restart: &str) -> Value {
    let spec = |role: &RolePods| {
        let mut letters = role.name.chars();
        let name: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
        let spec = json!({"replicas": role.replicas, "restartPolicy": restart, "template": role.template});
        (name, spec)
    };
    Value::Object(roles.iter().map(spec).collect())
}
