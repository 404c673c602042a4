//! `batch/v1` Jobs: of one pod if Kueue admits it; an indexed Job per role if neither an operator nor Volcano
//! is installed.

use cubeloom_domain::kubernetes::labels;
use serde_json::{Map, Value, json};

use super::Frame;
use super::gang;
use super::pods::RolePods;

/// A Job of one pod. It never retries: the engine does, under another name.
pub fn job(frame: &Frame<'_>, role: &RolePods) -> Value {
    let spec = json!({
        "completions": 1,
        "parallelism": 1,
        "backoffLimit": 0,
        "ttlSecondsAfterFinished": gang::KEPT,
        "suspend": gang::kueue(frame).is_some(),
        "template": role.template,
    });
    object(frame, None, spec)
}

/// An indexed Job per role, after the Service that gives every pod a name.
pub fn indexed(frame: &Frame<'_>, roles: &[RolePods]) -> Vec<Value> {
    let jobs = roles.iter().map(|role| object(frame, Some(&role.name), indexed_spec(frame, role)));
    std::iter::once(service(frame)).chain(jobs).collect()
}

fn indexed_spec(frame: &Frame<'_>, role: &RolePods) -> Value {
    let mut spec = Map::new();
    spec.insert("completionMode".into(), "Indexed".into());
    spec.insert("completions".into(), role.replicas.into());
    spec.insert("parallelism".into(), role.replicas.into());
    if frame.job.elastic.is_some() {
        // A failed worker above the minimum does not end the others. `maxFailedIndexes` is mutable,
        // `backoffLimitPerIndex` is not.
        spec.insert("backoffLimitPerIndex".into(), 0.into());
        spec.insert("maxFailedIndexes".into(), role.replicas.saturating_sub(role.least).into());
    } else {
        spec.insert("backoffLimit".into(), 0.into());
    }
    spec.insert("ttlSecondsAfterFinished".into(), gang::KEPT.into());
    spec.insert("suspend".into(), gang::kueue(frame).is_some().into());
    spec.insert("template".into(), role.template.clone());
    spec.into()
}

fn object(frame: &Frame<'_>, suffix: Option<&str>, spec: Value) -> Value {
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": gang::metadata(frame, suffix), "spec": spec})
}

/// Pods must resolve each other before they are ready.
pub fn service(frame: &Frame<'_>) -> Value {
    let mut selector = Map::new();
    selector.insert(labels::JOB.into(), frame.name.as_str().into());
    let spec = json!({"clusterIP": "None", "publishNotReadyAddresses": true, "selector": selector});
    json!({"apiVersion": "v1", "kind": "Service", "metadata": frame.metadata(None), "spec": spec})
}
