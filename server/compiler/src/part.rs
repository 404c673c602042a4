//! Restricts a plan to a part of its pipeline, and finds changes in the tasks that are not rerun.

use cubeloom_domain::TaskIx;
use cubeloom_domain::graph::Graph;
use cubeloom_domain::plan::{Choice, PlannedTask, RunPlan};
use serde_json::{Map, Value};

/// A plan of a part of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The chosen tasks and everything upstream of them, in the document's order.
    pub plan: RunPlan,
    /// Tasks that do not run: their results come from an earlier run.
    pub taken: Vec<TaskIx>,
    /// The index of each task of the plan in the document.
    pub places: Vec<usize>,
}

/// Restricts a plan to the chosen tasks and everything upstream; the rest of a run has all tasks. Chosen
/// tasks always run and are never answered from the cache. `None` if a chosen task does not exist.
#[must_use]
pub fn cut(plan: RunPlan, choice: &Choice) -> Option<Part> {
    let named = choice.tasks().iter().map(|task| plan.find(task).map(|ix| ix.0));
    let named = named.collect::<Option<Vec<u32>>>()?;
    let graph = graph(&plan);
    let chosen: Vec<u32> = match choice {
        Choice::Only(_) => named,
        Choice::From(_) | Choice::Rest(_) => numbers(&graph.with_descendants(&named)),
    };
    let kept = match choice {
        Choice::Rest(_) => (0u32..).zip(&plan.tasks).map(|(ix, _)| ix).collect(),
        _ => numbers(&graph.with_ancestors(&chosen)),
    };
    let mut new_place = vec![None; plan.tasks.len()];
    for (at, old) in (0u32..).zip(&kept) {
        new_place[*old as usize] = Some(TaskIx(at));
    }
    let is_chosen = |old: &u32| chosen.binary_search(old).is_ok();
    let moved = |old: &Vec<TaskIx>| old.iter().filter_map(|ix| new_place[ix.index()]).collect();
    let task = |old: &u32| {
        let task = &plan.tasks[*old as usize];
        let cache = task.cache.clone().filter(|_| !is_chosen(old));
        PlannedTask { needs: moved(&task.needs), reads: moved(&task.reads), cache, ..task.clone() }
    };
    let tasks = kept.iter().map(task).collect();
    let taken = (0u32..).zip(&kept).filter(|(_, old)| !is_chosen(old)).map(|(at, _)| TaskIx(at)).collect();
    let places = kept.iter().map(|old| *old as usize).collect();
    Some(Part { plan: RunPlan { tasks, ..plan }, taken, places })
}

/// These tasks and all tasks downstream of them, in the document's order.
#[must_use]
pub fn with_downstream(plan: &RunPlan, tasks: &[TaskIx]) -> Vec<TaskIx> {
    let tasks: Vec<u32> = tasks.iter().map(|ix| ix.0).collect();
    numbers(&graph(plan).with_descendants(&tasks)).into_iter().map(TaskIx).collect()
}

fn graph(plan: &RunPlan) -> Graph {
    let edges: Vec<(u32, u32)> = (0u32..)
        .zip(&plan.tasks)
        .flat_map(|(after, task)| task.needs.iter().map(move |before| (before.0, after)))
        .collect();
    Graph::new(plan.tasks.len(), &edges)
}

fn numbers(flags: &[bool]) -> Vec<u32> {
    (0u32..).zip(flags).filter(|(_, flag)| **flag).map(|(at, _)| at).collect()
}

/// The fields of a task that differ from an earlier plan; empty if it would do the same.
#[must_use]
pub fn changed(now: (&RunPlan, &PlannedTask), then: (&RunPlan, &PlannedTask)) -> Vec<String> {
    let (new, old) = (described(now), described(then));
    let names: std::collections::BTreeSet<&String> = new.keys().chain(old.keys()).collect();
    names.into_iter().filter(|name| new.get(*name) != old.get(*name)).cloned().collect()
}

/// A task without what differs between equal tasks of two plans: indexes, and the run's own id.
fn described((plan, task): (&RunPlan, &PlannedTask)) -> Map<String, Value> {
    let text = serde_json::to_string(task).unwrap_or_default().replace(plan.context.id.as_str(), "");
    let mut fields: Map<String, Value> = serde_json::from_str(&text).unwrap_or_default();
    for name in [
        "reads",
        "cache",
        "priority",
        "preempts",
        "protected",
        "retry",
        "placement",
        "timeout",
        "hang",
        "preflight",
    ] {
        fields.remove(name);
    }
    let names: Vec<&str> = task.needs.iter().map(|ix| plan.task(*ix).name.as_str()).collect();
    fields.insert("needs".into(), names.into());
    let template = plan.template_of(task);
    fields.insert(
        "template".into(),
        format!("{}@{} {}", template.name, template.version, template.digest).into(),
    );
    fields
}
