//! Outputs of a task that other tasks read.

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::JsonMap;
use cubeloom_domain::executor::Report;
use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::search::{Best, Trial};
use cubeloom_domain::state::InstanceState;
use serde_json::Value;

/// Ended tasks as expressions see them, by name: the outputs and the final state of each. The values of a
/// `for_each` task are lists; see [`readable_outputs`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outputs {
    values: BTreeMap<String, Value>,
    states: BTreeMap<String, &'static str>,
}

impl Outputs {
    /// Outputs of no task.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The outputs of a task, in the form of [`readable_outputs`].
    #[must_use]
    pub fn get(&self, task: &str) -> Option<&Value> {
        self.values.get(task)
    }

    /// The final state of a task.
    #[must_use]
    pub fn state(&self, task: &str) -> Option<&'static str> {
        self.states.get(task).copied()
    }

    /// Adds a task: its outputs and its final state ([`ended_as`]).
    pub fn add(&mut self, task: &str, reported: Value, state: &'static str) {
        self.values.insert(task.to_owned(), reported);
        self.states.insert(task.to_owned(), state);
    }
}

/// The final state of a task whose instances have all ended, as expressions see it: `succeeded`, `failed`,
/// `upstream_failed`, `skipped` or `cancelled`.
pub fn ended_as<'i>(
    task: &PlannedTask,
    states: impl Iterator<Item = &'i InstanceState> + Clone,
) -> &'static str {
    use InstanceState as S;
    if task.search().is_some_and(|search| search.has_succeeded(states.clone())) {
        return "succeeded";
    }
    let any = |is: fn(&S) -> bool| states.clone().any(is);
    let all = |is: fn(&S) -> bool| states.clone().next().is_some() && states.clone().all(is);
    if all(|state| *state == S::UpstreamFailed) {
        "upstream_failed"
    } else if any(|state| matches!(state, S::Failed { .. } | S::UpstreamFailed)) {
        "failed"
    } else if any(|state| *state == S::Cancelled) {
        "cancelled"
    } else if all(|state| matches!(state, S::Skipped { .. })) {
        "skipped"
    } else {
        "succeeded"
    }
}

impl FromIterator<(String, Value)> for Outputs {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(values: I) -> Self {
        Self { values: values.into_iter().collect(), states: BTreeMap::new() }
    }
}

impl<const N: usize> From<[(String, Value); N]> for Outputs {
    fn from(values: [(String, Value); N]) -> Self {
        values.into_iter().collect()
    }
}

/// The outputs of a task as expressions read them. If no instance of a loop ran, no output has a name. The
/// result is then a list with one null per instance, or an empty list if the loop had no items.
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

/// A task's outputs, from its instances in order. For a `for_each` task, each name has the list over its
/// instances, null where an instance did not report it. A search also has the best trial.
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

fn best<'a>(
    task: &'a PlannedTask,
    items: Option<&'a [Value]>,
    instances: &[(&'a InstanceState, &'a Report)],
) -> Option<Best<'a>> {
    let trials = (0u32..).zip(items.into_iter().flatten()).zip(instances);
    let trials = trials.map(|((instance, item), (state, report))| Trial { instance, item, state, report });
    task.search()?.best(trials)
}
