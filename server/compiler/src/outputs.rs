//! What others read of a task.

use std::collections::BTreeSet;

use cubeloom_domain::JsonMap;
use cubeloom_domain::executor::Report;
use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::search::{Best, Trial};
use cubeloom_domain::state::InstanceState;
use serde_json::Value;

/// What expressions read of a task. If no instance of a loop ran, no output has a name: every one is a list of nulls, one an
/// instance, and an empty list if the loop had no items. This list stands in the place of the outputs.
#[must_use]
pub fn readable_outputs(
    task: &PlannedTask,
    items: Option<&[Value]>,
    instances: &[(&InstanceState, &Report)],
) -> Value {
    let expanded = task.for_each.is_some() && items.is_some();
    if expanded && instances.iter().all(|(state, _)| matches!(state, InstanceState::Skipped { .. })) {
        return Value::Array(vec![Value::Null; instances.len()]);
    }
    Value::Object(outputs_of(task, items, instances))
}

/// A task's outputs, from its instances in their order. Of an expanded one, of each name the list over its instances, null
/// where it is missing; of a search, also the best trial.
#[must_use]
pub fn outputs_of(
    task: &PlannedTask,
    items: Option<&[Value]>,
    instances: &[(&InstanceState, &Report)],
) -> JsonMap {
    if task.for_each.is_none() {
        return instances.first().map(|(_, report)| report.outputs.clone()).unwrap_or_default();
    }
    let best = best(task, items, instances).map(|best| (Best::OUTPUT.to_owned(), best.output()));
    let reported = instances.iter().flat_map(|(_, report)| report.outputs.keys());
    let names: BTreeSet<&String> = reported.chain(&task.outputs).collect();
    let value = |name: &String, report: &Report| report.outputs.get(name).cloned().unwrap_or_default();
    let list = |name: &String| instances.iter().map(|(_, report)| value(name, report)).collect();
    let lists = names.into_iter().map(|name| (name.clone(), Value::Array(list(name))));
    lists.chain(best).collect()
}

/// The best trial of a search.
fn best<'a>(
    task: &'a PlannedTask,
    items: Option<&'a [Value]>,
    instances: &[(&'a InstanceState, &'a Report)],
) -> Option<Best<'a>> {
    let trials = (0u32..).zip(items.into_iter().flatten()).zip(instances);
    let trials = trials.map(|((instance, item), (state, report))| Trial { instance, item, state, report });
    task.search()?.best(trials)
}
