//! Volcano's Job: a task for each role, one PodGroup for all of them. It uses only the plugin `svc`, which
//! gives pods their names; a worker's identity is in its pod.

use cubeloom_domain::job::SuccessRule;
use serde_json::{Map, Value, json};

use super::Frame;
use super::gang;
use super::pods::RolePods;

pub fn job(frame: &Frame<'_>, roles: &[RolePods]) -> Value {
    let mut spec = Map::new();
    spec.insert("schedulerName".into(), "volcano".into());
    if let Some(volcano) = &frame.facts.volcano {
        spec.insert("queue".into(), volcano.queue.as_str().into());
        spec.extend(volcano.priority_class.iter().map(|class| ("priorityClassName".into(), json!(class))));
    }
    spec.insert("minAvailable".into(), frame.job.gang.into());
    spec.insert("ttlSecondsAfterFinished".into(), gang::KEPT.into());
    spec.insert("plugins".into(), json!({"svc": []}));
    spec.insert("policies".into(), policies(frame));
    spec.insert("tasks".into(), roles.iter().map(|role| task(frame, role)).collect());
    json!({
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": gang::metadata(frame, None),
        "spec": spec,
    })
}

/// A worker that fails ends the job. An evicted elastic worker restarts. A failed one is only counted,
/// because the remaining workers may form a group again.
fn policies(frame: &Frame<'_>) -> Value {
    match frame.job.elastic {
        Some(_) => json!([{"event": "PodEvicted", "action": "RestartPod"}]),
        None => json!([{"events": ["PodFailed", "PodEvicted"], "action": "TerminateJob"}]),
    }
}

/// A role. If one role decides the job's success, the end of that role completes the job.
fn task(frame: &Frame<'_>, role: &RolePods) -> Value {
    let mut task = Map::new();
    task.insert("name".into(), role.name.as_str().into());
    task.insert("replicas".into(), role.replicas.into());
    task.insert("minAvailable".into(), role.least.into());
    // Volcano's policies apply to tasks, not to one worker of a task: if only the first decides, the executor
    // checks it.
    if let SuccessRule::Role(decides) | SuccessRule::First(decides) = &frame.job.success
        && *decides == role.name
    {
        task.insert("policies".into(), json!([{"event": "TaskCompleted", "action": "CompleteJob"}]));
    }
    task.insert("template".into(), role.template.clone());
    task.into()
}
