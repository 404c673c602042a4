//! Properties of an operator that lowering needs; its framework refers to it.

use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::KubernetesFacts;
use serde_json::{Value, json};

use super::Frame;
use super::gang;
use super::pods::RolePods;

/// An operator that runs one framework.
pub struct Operator {
    /// The kind of its manifest.
    pub kind: &'static str,
    /// The API that it serves, as in the facts: `<plural>.<group>/<version>`.
    pub serves: &'static str,
    /// The operator's name.
    pub name: &'static str,
    /// The name that the container of a role's workers must have.
    pub container: fn(&str) -> &'static str,
    /// Variables that it sets for workers: lowering does not set them.
    pub gives: &'static [&'static str],
    /// How it handles the command of a role.
    pub commands: fn(&str) -> Commands,
    /// How its pods are numbered.
    pub numbers: fn(&str) -> Numbers,
    /// The part of a job that starts together.
    pub start: Start,
    /// Whether its pods get names only from a Service that lowering creates, as those of indexed Jobs do.
    pub service: bool,
    /// Why it cannot run this job on this cluster; `None` when it can.
    pub unfit: fn(&Job, &KubernetesFacts) -> Option<&'static str>,
    /// The address of a worker: the job's name, the namespace, the role, the index in the role.
    pub address: fn(&str, &str, &str, u32) -> String,
    /// Its manifest.
    pub(super) object: fn(&Frame<'_>, &[RolePods]) -> Value,
}

impl Operator {
    /// Kubeflow's training operator (v1), for one framework: every pod has its own name, and runs the task's
    /// command.
    pub(super) const fn training(
        kind: &'static str,
        serves: &'static str,
        container: fn(&str) -> &'static str,
        gives: &'static [&'static str],
        object: fn(&Frame<'_>, &[RolePods]) -> Value,
    ) -> Self {
        Self {
            kind,
            serves,
            name: "Kubeflow's training operator",
            container,
            gives,
            commands: |_| Commands::Task,
            numbers: |_| REPLICA_INDEX,
            start: Start::Gang,
            service: false,
            unfit: |_, _| None,
            address: |name, _, role, index| format!("{name}-{role}-{index}"),
            object,
        }
    }
}

/// How an operator handles the task's command for a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commands {
    /// The pods run it.
    Task,
    /// The operator gets its content; no shell can expand it before.
    Read,
    /// The operator starts its own command instead.
    Unused,
}

/// The field that has a pod's index within its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// This field.
    Index(&'static str),
    /// This field has numbers that start at 1 and are never reused: a replacement pod has a new one.
    Count(&'static str),
}

/// The part of a job that starts together under Volcano.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The gang.
    Gang,
    /// The first worker, which starts the others when all of them fit.
    First,
    /// Nothing: its operator does not support gangs.
    Apart,
}

/// The field of Kubeflow's operators that has a pod's index within its role.
pub const REPLICA_INDEX: Numbers = Numbers::Index("metadata.labels['training.kubeflow.org/replica-index']");

/// The replicas of Kubeflow's manifests: the role's name is capitalized.
pub fn replica_specs(roles: &[RolePods], restart: &str) -> Value {
    let spec = |role: &RolePods| {
        let mut letters = role.name.chars();
        let name: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
        let spec = json!({"replicas": role.replicas, "restartPolicy": restart, "template": role.template});
        (name, spec)
    };
    Value::Object(roles.iter().map(spec).collect())
}

/// A manifest of Kubeflow's training operator (v1), with its replicas below `key`.
pub fn training_job(frame: &Frame<'_>, kind: &str, key: &str, replicas: Value) -> Value {
    let mut object = json!({
        "apiVersion": "kubeflow.org/v1",
        "kind": kind,
        "metadata": gang::metadata(frame, None),
        "spec": {"runPolicy": gang::run_policy(frame)},
    });
    object["spec"][key] = replicas;
    object
}
