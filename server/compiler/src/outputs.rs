//! What others read of a task.

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::JsonMap;
use cubeloom_domain::executor::Report;
use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::search::{Best, Trial};
use cubeloom_domain::state::InstanceState;
use serde_json::Value;

/// What expressions see of tasks that have ended, by name: what each reported, and how it ended. The values of a `for_each` task
/// are lists; see [`readable_outputs`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outputs {
    values: BTreeMap<String, Value>,
    states: BTreeMap<String, &'static str>,
}

impl Outputs {
    /// Of no task.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What a task reported, as [`readable_outputs`] gives it.
    #[must_use]
    pub fn get(&self, task: &str) -> Option<&Value> {
        self.values.get(task)
    }

    /// How a task ended.
    #[must_use]
    pub fn state(&self, task: &str) -> Option<&'static str> {
        self.states.get(task).copied()
    }

    /// Adds a task: what it reported, and how it ended ([`ended_as`]).
    pub fn add(&mut self, task: &str, reported: Value, state: &'static str) {
        self.values.insert(task.to_owned(), reported);
        self.states.insert(task.to_owned(), state);
    }
}

/// How a task ended whose instances have all ended, as expressions see it: `succeeded`, `failed`, `upstream_failed`, `skipped` or
/// `cancelled`.
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
