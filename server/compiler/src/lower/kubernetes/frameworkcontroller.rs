//! `nni` becomes a Framework of frameworkcontroller, which NNI itself uses for its trials on Kubernetes: a
//! task role for the manager and one for the trials. docs/decisions/0025 says what it guarantees, and what it
//! does not.
//!
//! The controller numbers pods, but gives them no DNS names. A Service provides those, as for the pods of
//! indexed Jobs.

use cubeloom_domain::job::{Job, SuccessRule};
use cubeloom_domain::kubernetes::KubernetesFacts;
use serde_json::{Value, json};

use super::Frame;
use super::gang;
use super::operator::{Commands, Numbers, Operator, Start};
use super::pods::RolePods;

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

/// Maximum number of pods in a task role of the controller.
const MOST: u32 = 10_000;

/// A name that the controller accepts: it splits pod names at each `-`. The digits at its end still
/// distinguish attempts.
fn bare(name: &str) -> String {
    name.replace('-', "")
}

fn unfit(job: &Job, facts: &KubernetesFacts) -> Option<&'static str> {
    if facts.volcano.is_none() && facts.kueue.is_some() {
        return Some("Kueue, which queues jobs here, does not support it");
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

/// Any failed worker ends the job. The end of the role that decides success completes it, and the other pods
/// are removed. Without such a rule, a Framework succeeds when all its pods have ended, whatever their
/// result.
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

/// The controller replaces this with a pod's index.
const INDEX: &str = "{{FC_TASK_INDEX}}";

/// No number of pods decides.
const UNLIMITED: i64 = -1;

/// The engine retries, under another name.
fn never_again() -> Value {
    json!({"fancyRetryPolicy": false, "maxRetryCount": 0})
}
