//! Compares two runs: inputs, tasks, durations and results.

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::plan::{Late, LateMap, PlannedTask, RunPlan};
use cubeloom_domain::{JsonMap, verbatim};
use serde_json::{Value, json};

use super::Reader;
use super::series;
use crate::api::compare::view::{ComparisonView, MetricPair, TaskPair, TaskSide, ValuePair};
use crate::api::metrics::view::SeriesView;
use crate::api::tasks::view::TaskView;
use crate::error::ApiResult;
use crate::state::Web;

/// Maximum number of compared tasks per run.
const TASKS: u32 = 2_000;

pub(crate) async fn compare(web: &Web, left: &Reader<'_>, right: &Reader<'_>) -> ApiResult<ComparisonView> {
    let of = |reader: &Reader<'_>| u32::try_from(reader.plan.tasks.len()).unwrap_or(TASKS).min(TASKS);
    let left_tasks = left.tasks(0..of(left)).await?;
    let right_tasks = right.tasks(0..of(right)).await?;
    let metrics = pair_metrics(
        series::metrics(web, &left.record.id, &left.plan, None, None).await?.series,
        series::metrics(web, &right.record.id, &right.plan, None, None).await?.series,
    );
    Ok(ComparisonView {
        left: left.run(),
        right: right.run(),
        parameters: values(&left.plan.parameters, &right.plan.parameters),
        tasks: pair_tasks(left, left_tasks, right, right_tasks),
        metrics,
    })
}

/// Names of both sides with their values, in the left side's order first.
fn values(left: &JsonMap, right: &JsonMap) -> Vec<ValuePair> {
    let only_right = right.keys().filter(|name| !left.contains_key(*name));
    left.keys()
        .chain(only_right)
        .map(|name| {
            let value = |side: &JsonMap| side.get(name).cloned().unwrap_or_default();
            let same = left.get(name) == right.get(name);
            ValuePair { name: name.clone(), left: value(left), right: value(right), same }
        })
        .collect()
}

fn pair_tasks(
    left: &Reader<'_>,
    left_tasks: Vec<TaskView>,
    right: &Reader<'_>,
    right_tasks: Vec<TaskView>,
) -> Vec<TaskPair> {
    let mut others: BTreeMap<String, TaskView> =
        right_tasks.iter().map(|task| (task.name.clone(), task.clone())).collect();
    let mut pairs = Vec::with_capacity(left_tasks.len());
    for task in left_tasks {
        let other = others.remove(&task.name);
        pairs.push(pair(left, Some(task), right, other));
    }
    let rest = right_tasks.into_iter().filter(|task| others.contains_key(&task.name));
    pairs.extend(rest.map(|task| pair(left, None, right, Some(task))));
    pairs
}

fn pair(
    left: &Reader<'_>,
    left_task: Option<TaskView>,
    right: &Reader<'_>,
    right_task: Option<TaskView>,
) -> TaskPair {
    let side = match (&left_task, &right_task) {
        (Some(_), Some(_)) => "both",
        (Some(_), None) => "left",
        _ => "right",
    };
    let planned = |reader: &Reader<'_>, task: &Option<TaskView>| {
        task.as_ref().map(|task| described(&reader.plan, &reader.plan.tasks[task.index as usize]))
    };
    let (changed, arguments) = match (planned(left, &left_task), planned(right, &right_task)) {
        (Some(left), Some(right)) => (changed(&left, &right), changed_arguments(&left, &right)),
        _ => (Vec::new(), Vec::new()),
    };
    let seconds = |task: &Option<TaskView>| task.as_ref().and_then(|task| task.run_seconds);
    let ratio = seconds(&left_task).zip(seconds(&right_task)).filter(|(_, right)| *right > 0.0);
    let outputs =
        |task: &Option<TaskView>| task.as_ref().map(|task| task.outputs.clone()).unwrap_or_default();
    TaskPair {
        name: left_task.as_ref().or(right_task.as_ref()).map(|task| task.name.clone()).unwrap_or_default(),
        side: side.into(),
        changed,
        ratio: ratio.map(|(left, right)| left / right),
        outputs: values(&outputs(&left_task), &outputs(&right_task)),
        arguments,
        left: left_task.map(shown),
        right: right_task.map(shown),
    }
}

fn shown(task: TaskView) -> TaskSide {
    TaskSide {
        template: task.template,
        state: task.state,
        wait_seconds: task.wait_seconds,
        run_seconds: task.run_seconds,
        attempts: task.attempts,
        roles: task.roles,
        usage: task.usage,
    }
}

/// A task's plan as an object with names in place of positions, for comparison.
fn described(plan: &RunPlan, task: &PlannedTask) -> JsonMap {
    let mut object = match json!(task) {
        Value::Object(object) => object,
        _ => JsonMap::new(),
    };
    let names = |tasks: &[cubeloom_domain::TaskIx]| {
        let names: BTreeSet<&str> = tasks.iter().map(|task| plan.task(*task).name.as_str()).collect();
        json!(names)
    };
    let template = plan.template_of(task);
    object.insert("needs".into(), names(&task.needs));
    object.insert("template".into(), json!([template.name, template.version, template.digest]));
    object.insert("arguments".into(), arguments(&task.arguments));
    // Derived from the arguments.
    object.remove("reads");
    object.remove("name");
    object.values_mut().for_each(verbatim::unmark);
    object
}

/// Arguments by name. Expressions that are evaluated late are compared as written.
fn arguments(arguments: &LateMap) -> Value {
    let value = |late: &Late| match late {
        Late::Value(value) | Late::Source(value) => value.clone(),
    };
    arguments.iter().map(|(name, late)| (name.clone(), value(late))).collect::<JsonMap>().into()
}

/// Names of the members that differ.
fn changed(left: &JsonMap, right: &JsonMap) -> Vec<String> {
    let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    names.into_iter().filter(|name| left.get(*name) != right.get(*name)).cloned().collect()
}

fn changed_arguments(left: &JsonMap, right: &JsonMap) -> Vec<ValuePair> {
    let of = |side: &JsonMap| side.get("arguments").and_then(Value::as_object).cloned().unwrap_or_default();
    values(&of(left), &of(right)).into_iter().filter(|pair| !pair.same).collect()
}

fn pair_metrics(left: Vec<SeriesView>, right: Vec<SeriesView>) -> Vec<MetricPair> {
    let key = |series: &SeriesView| (series.name.clone(), series.task.clone(), series.instance);
    let mut pairs: BTreeMap<_, (Option<SeriesView>, Option<SeriesView>)> = BTreeMap::new();
    for series in left {
        let at = key(&series);
        pairs.entry(at).or_default().0 = Some(series);
    }
    for series in right {
        let at = key(&series);
        pairs.entry(at).or_default().1 = Some(series);
    }
    pairs
        .into_iter()
        .map(|((name, task, instance), (left, right))| MetricPair { name, task, instance, left, right })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_both_sides_are_shown_with_whether_they_are_equal() {
        let side = |value: Value| value.as_object().cloned().unwrap();
        let pairs = values(&side(json!({"a": 1, "b": 2})), &side(json!({"b": 3, "a": 1, "c": null})));
        let told: Vec<_> = pairs.iter().map(|pair| (pair.name.as_str(), pair.same)).collect();
        assert_eq!(told, [("a", true), ("b", false), ("c", false)]);
    }
}
