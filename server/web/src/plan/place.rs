//! Where a pipeline goes: to the place that it names, else to its project's, and nowhere that the project is not bound to.

use cubeloom_domain::clusters::LOCAL;
use cubeloom_domain::identity::Places;
use cubeloom_domain::pipeline::{Pipeline, Placement};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::{Code, Problem};

/// Gives a pipeline the place that was chosen, or, where it names none, its project's. Every place outside of what the
/// project is bound to is a mistake.
pub(super) fn bind(pipeline: &mut Pipeline, places: &Places, chosen: Option<&Pool>) -> Vec<Problem> {
    match (chosen, places.usual()) {
        (Some(chosen), _) => put(pipeline, chosen),
        (None, Some(usual)) => give(pipeline, usual, places),
        (None, None) => {}
    }
    if places.allowed.is_empty() {
        return Vec::new();
    }
    let cluster = pipeline.cluster.as_deref().unwrap_or(LOCAL);
    let node_group = |placement: Option<&Placement>| placement.and_then(|place| place.node_group.clone());
    let pool = |node_group| Pool { cluster: cluster.to_owned(), node_group };
    let of_pipeline = node_group(pipeline.placement.as_ref());
    let mut found = Vec::new();
    let mut look = |field: String, pool: Pool| {
        if !places.allow(&pool) {
            found.push(outside(field, &pool, places));
        }
    };
    // A pipeline whose tasks all name their own node groups goes nowhere itself.
    let is_own = |task: &cubeloom_domain::pipeline::Task| node_group(task.placement.as_deref()).is_some();
    let all_own = of_pipeline.is_none() && !pipeline.tasks.is_empty() && pipeline.tasks.iter().all(is_own);
    if !all_own {
        let field = if of_pipeline.is_some() { "/placement/node_group" } else { "/cluster" };
        look(field.to_owned(), pool(of_pipeline));
    }
    for (at, task) in pipeline.tasks.iter().enumerate() {
        if let Some(group) = node_group(task.placement.as_deref()) {
            look(format!("/tasks/{at}/placement/node_group"), pool(Some(group)));
        }
    }
    found
}

/// Where a pipeline goes itself: to a node group, or anywhere on its cluster; on this one, where it names none.
pub(super) fn of(pipeline: Pipeline, usual: &str) -> Pool {
    let node_group = pipeline.placement.and_then(|place| place.node_group);
    Pool { cluster: pipeline.cluster.unwrap_or_else(|| usual.to_owned()), node_group }
}

/// A chosen place is the one of all that does not name its own: of tasks with a node group of theirs.
fn put(pipeline: &mut Pipeline, chosen: &Pool) {
    pipeline.cluster = Some(chosen.cluster.clone());
    if chosen.node_group.is_some() || pipeline.placement.is_some() {
        let placement = pipeline.placement.get_or_insert_with(Placement::default);
        placement.node_group.clone_from(&chosen.node_group);
    }
}

/// Mistakes about the place of a pipeline are about the one that was chosen for it.
pub(super) fn at_choice(problems: &mut [Problem]) {
    for problem in problems {
        let is_of_place = matches!(problem.path.as_str(), "/cluster" | "/placement/node_group");
        if is_of_place && problem.code == Code::UnknownPlace {
            "/place".clone_into(&mut problem.path);
            (problem.line, problem.column) = (None, None);
        }
    }
}

/// The project's place for what the pipeline leaves open.
fn give(pipeline: &mut Pipeline, usual: &Pool, places: &Places) {
    let cluster = pipeline.cluster.get_or_insert_with(|| usual.cluster.clone()).clone();
    let mut allowed = places.allowed.iter().filter(|place| place.cluster == cluster);
    let here = if usual.cluster == cluster { Some(usual) } else { allowed.next() };
    let Some(group) = here.and_then(|place| place.node_group.clone()) else { return };
    let placement = pipeline.placement.get_or_insert_with(Placement::default);
    placement.node_group.get_or_insert(group);
}

fn outside(field: String, pool: &Pool, places: &Places) -> Problem {
    let bound: Vec<String> = places.allowed.iter().map(|place| format!("`{place}`")).collect();
    let message = format!("the project is not bound to `{pool}`: name one of {}", bound.join(", "));
    Problem::error(Code::UnknownPlace, field, message)
}
