//! What lowering must know of an operator; its framework names it.

use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::KubernetesFacts;
use serde_json::{Value, json};

use super::Frame;
use super::gang;
use super::pods::RolePods;

/// An operator that runs one framework.
pub struct Operator {
    /// The kind of its object.
    pub kind: &'static str,
    /// What it serves, as the facts have it: `<plural>.<group>/<version>`.
    pub serves: &'static str,
    /// Who serves it.
    pub name: &'static str,
    /// The name that the container of a role's workers must have.
    pub container: fn(&str) -> &'static str,
    /// Variables that it gives to workers: lowering leaves them to it.
    pub gives: &'static [&'static str],
    /// What becomes of the command of a role.
    pub commands: fn(&str) -> Commands,
    /// How its pods are numbered.
    pub numbers: fn(&str) -> Numbers,
    /// What of a job starts together.
    pub start: Start,
    /// Whether its pods have names only by a Service that lowering makes, as those of indexed Jobs.
    pub service: bool,
    /// Why it cannot run this job on this cluster; `None` when it can.
    pub unfit: fn(&Job, &KubernetesFacts) -> Option<&'static str>,
    /// The address of a worker: the job's name, the namespace, the role, the index in the role.
    pub address: fn(&str, &str, &str, u32) -> String,
    /// Its object.
    pub(super) object: fn(&Frame<'_>, &[RolePods]) -> Value,
}

impl Operator {
    /// Kubeflow's training operator (v1), for one framework: every pod has a name of its own, and runs the task's command.
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

/// What becomes of the command that the task has for a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commands {
    /// The pods run it.
    Task,
    /// The operator is told what it says; no shell can work anything out before.
    Read,
    /// The operator starts something of its own in its stead.
    Unused,
}

/// Where the pods of a role have their index within the role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// In this field.
    Index(&'static str),
    /// This field has numbers that begin with 1 and are never given again: a pod that replaces another has a new one.
    Count(&'static str),
}

/// What of a job starts together under Volcano.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The gang.
    Gang,
    /// The first worker, which starts the others, when there is room for all.
    First,
    /// Nothing: its operator knows of no gangs.
    Apart,
}

/// Where pods of Kubeflow's operators have their index within the role.
pub const REPLICA_INDEX: Numbers = Numbers::Index("metadata.labels['training.kubeflow.org/replica-index']");

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

/// An object of Kubeflow's training operator (v1), with its replicas below `key`.
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
