//! One task: its node in the DAG, and its template.

use cubeloom_domain::TaskIx;
use cubeloom_domain::pipeline::Pipeline;
use cubeloom_domain::plan::RunPlan;
use serde_json::{Map, Value, json};

use super::{Export, container, marks, policy};

/// The task in the DAG.
pub fn dag(export: &mut Export, pipeline: &Pipeline, plan: &RunPlan, at: usize) -> Value {
    let task = &pipeline.tasks[at];
    let mut out = Map::new();
    out.insert("name".into(), json!(marks::task_name(&task.name)));
    out.insert("template".into(), json!(task.name));
    if let Some(depends) = policy::depends(task) {
        out.insert("depends".into(), json!(depends));
    }
    if let Some(when) = policy::when(export, task) {
        out.insert("when".into(), json!(when));
    }
    policy::elements(export, task, plan, index_of(at), &mut out);
    let inputs = &export.marks[at].inputs;
    if !inputs.is_empty() {
        let given = inputs.iter().map(|(name, value)| json!({"name": name, "value": value}));
        out.insert("arguments".into(), json!({"parameters": given.collect::<Vec<_>>()}));
    }
    Value::Object(out)
}

fn index_of(at: usize) -> TaskIx {
    TaskIx(u32::try_from(at).unwrap_or(u32::MAX))
}

pub fn template(export: &mut Export, pipeline: &Pipeline, plan: &RunPlan, at: usize) -> Value {
    let (task, planned) = (&pipeline.tasks[at], &plan.tasks[at]);
    let mut out = Map::new();
    out.insert("name".into(), json!(task.name));
    if task.description.as_ref().is_some_and(|about| about.contains("{{")) {
        export.say(format!(
            "not carried over: `description` of `{}`: Argo would interpret its two braces",
            task.name
        ));
    } else if let Some(about) = &task.description {
        out.insert("metadata".into(), json!({"annotations": {"workflows.argoproj.io/description": about}}));
    }
    let names = export.marks[at].inputs.keys().map(|name| json!({"name": name})).collect::<Vec<_>>();
    if !names.is_empty() {
        out.insert("inputs".into(), json!({"parameters": names}));
    }
    let outputs = outputs(export, pipeline, plan, at);
    if !outputs.is_empty() {
        out.insert("outputs".into(), json!({"parameters": outputs}));
    }
    policy::failures(export, task, planned, &mut out);
    if !planned.placement.selector.is_empty() {
        out.insert("nodeSelector".into(), json!(planned.placement.selector));
    }
    if !planned.placement.tolerations.is_empty() {
        out.insert("tolerations".into(), json!(planned.placement.tolerations));
    }
    match crate::preview::first_job(plan, index_of(at)) {
        Ok(Some(job)) => {
            let own = std::mem::take(&mut export.marks[at]);
            let (container, volumes) = container::container(export, &job, &own);
            export.marks[at] = own;
            if !volumes.is_empty() {
                out.insert("volumes".into(), Value::Array(volumes));
            }
            out.insert("container".into(), container);
        }
        Ok(None) if planned.asks => {
            export.say(format!(
                "`{}` waits until any user resumes it: Argo has no approval questions",
                task.name
            ));
            out.insert("suspend".into(), json!({}));
        }
        Ok(None) if planned.calls => {
            export.say(format!(
                "`{}` runs another pipeline: export that one too, and submit it here",
                task.name
            ));
            out.insert("suspend".into(), json!({}));
        }
        Ok(None) => {
            export.say(format!("`{}` has no items, so its container is unknown", task.name));
            out.insert("suspend".into(), json!({}));
        }
        Err(failure) => {
            export.say(format!(
                "the container of `{}` is known only after other tasks have ended: write it ({})",
                task.name, failure.message
            ));
            out.insert("suspend".into(), json!({}));
        }
    }
    lost(export, pipeline, at);
    Value::Object(out)
}

/// The outputs that other tasks read, and those that the task and its template declare.
fn outputs(export: &Export, pipeline: &Pipeline, plan: &RunPlan, at: usize) -> Vec<Value> {
    let task = &pipeline.tasks[at];
    let mut names: Vec<&String> = plan.tasks[at].outputs.iter().collect();
    names.extend(export.read.get(&task.name).into_iter().flatten());
    names.sort();
    names.dedup();
    names
        .iter()
        .map(|name| json!({"name": name, "valueFrom": {"path": format!("/tmp/outputs/{name}")}}))
        .collect()
}

/// Reports features that Argo does not have.
fn lost(export: &mut Export, pipeline: &Pipeline, at: usize) {
    let task = &pipeline.tasks[at];
    for (is_set, what) in [
        (task.cache.is_some(), "cache"),
        (task.elastic.is_some(), "elastic"),
        (task.priority.is_some(), "priority"),
        (task.preemptible.is_some(), "preemptible"),
        (!task.limits.is_empty(), "limits"),
        (task.sizing.or(pipeline.sizing).is_some(), "sizing"),
        (!task.role_resources.is_empty(), "role_resources"),
        (
            task.placement.as_ref().is_some_and(|place| {
                place.spread.is_some() || place.workers.is_some() || place.node_group.is_some()
            }),
            "placement (but labels and tolerations)",
        ),
    ] {
        if is_set {
            export.say(format!("not carried over: `{what}` of `{}`", task.name));
        }
    }
}
