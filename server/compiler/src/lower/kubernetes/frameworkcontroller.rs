//! `nni` becomes a Framework of frameworkcontroller, by which NNI itself runs its trials on Kubernetes: a task role for the
//! manager and one for the trials. docs/decisions/0025 says what it promises, and what it does not.
//!
//! The controller numbers pods, and gives them no names that others could look up: those are a Service's, as for the pods of
//! indexed Jobs.

use cubeloom_domain::job::{Job, SuccessRule};
use cubeloom_domain::kubernetes::KubernetesFacts;
use serde_json::{Value, json};

use super::Frame;
use super::gang;
use super::operator::{Commands, Numbers, Operator, Start};
use super::pods::RolePods;

/// frameworkcontroller.
pub const OPERATOR: Operator = Operator {
    kind: "Framework",
    serves: "frameworks.frameworkcontroller.microsoft.com/v1",
    name: "frameworkcontroller",
    container: |_| "worker",
    gives: &[],
    commands: |_| Commands::Task,
    numbers: |_| Numbers::Index("metadata.annotations['FC_TASK_INDEX']"),
    start: Start::Apart,
    service: true,
    unfit,
    address: |name, _, role, index| format!("{name}-{role}-{index}.{name}"),
    object,
};

/// The most pods of a task role that the controller takes.
const MOST: u32 = 10_000;

/// A name as the controller takes it: it splits those of pods at each `-`. The digits at its end still tell attempts apart.
fn bare(name: &str) -> String {
    name.replace('-', "")
}

fn unfit(job: &Job, facts: &KubernetesFacts) -> Option<&'static str> {
    if facts.volcano.is_none() && facts.kueue.is_some() {
        return Some("Kueue, which queues jobs here, would not know of it");
    }
    job.roles.iter().any(|role| role.replicas > MOST).then_some("a role has more than 10000 workers")
}

fn object(frame: &Frame<'_>, roles: &[RolePods]) -> Value {
    let mut metadata = gang::metadata(frame, None);
    metadata["name"] = bare(&frame.name).into();
    json!({
        "apiVersion": "frameworkcontroller.microsoft.com/v1",
        "kind": "Framework",
        "metadata": metadata,
        "spec": {
            "executionType": "Start",
            "retryPolicy": never_again(),
            "taskRoles": roles.iter().map(|role| task_role(frame, role)).collect::<Vec<_>>(),
        },
    })
}

/// Any worker that fails ends the job; the end of the role that decides completes it, and the others are removed. A Framework
/// that has no such rule has succeeded when all its pods have ended, however.
fn task_role(frame: &Frame<'_>, role: &RolePods) -> Value {
    let succeeds = match &frame.job.success {
        SuccessRule::Role(decides) if *decides == role.name => i64::from(role.replicas),
        _ => UNLIMITED,
    };
    let mut template = role.template.clone();
    template["spec"]["hostname"] = format!("{}-{}-{INDEX}", frame.name, role.name).into();
    json!({
        "name": role.name,
        "taskNumber": role.replicas,
        "frameworkAttemptCompletionPolicy": {"minFailedTaskCount": 1, "minSucceededTaskCount": succeeds},
        "task": {"retryPolicy": never_again(), "pod": template},
    })
}

/// The controller puts a pod's index here.
const INDEX: &str = "{{FC_TASK_INDEX}}";

/// No number of pods decides.
const UNLIMITED: i64 = -1;

/// The engine tries again, under another name.
fn never_again() -> Value {
    json!({"fancyRetryPolicy": false, "maxRetryCount": 0})
}
