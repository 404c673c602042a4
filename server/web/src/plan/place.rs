//! Target of a pipeline: the one that it names, or the project's default, within the project's allowed
//! targets.

use cubeloom_domain::clusters::LOCAL;
use cubeloom_domain::identity::Places;
use cubeloom_domain::pipeline::{Pipeline, Placement};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::{Code, Problem};

/// Sets the chosen target, or the project's default if the pipeline names none. Returns a problem for every
/// target that the project does not allow.
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
    // If all tasks name a node group, the pipeline's own target is unused.
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

/// The pipeline's own target: a node group, or any node of its cluster. `usual` is the default cluster.
pub(super) fn of(pipeline: Pipeline, usual: &str) -> Pool {
    let node_group = pipeline.placement.and_then(|place| place.node_group);
    Pool { cluster: pipeline.cluster.unwrap_or_else(|| usual.to_owned()), node_group }
}

/// The chosen target applies to all tasks that do not name a node group.
fn put(pipeline: &mut Pipeline, chosen: &Pool) {
    pipeline.cluster = Some(chosen.cluster.clone());
    if chosen.node_group.is_some() || pipeline.placement.is_some() {
        let placement = pipeline.placement.get_or_insert_with(Placement::default);
        placement.node_group.clone_from(&chosen.node_group);
    }
}

/// Moves problems about the pipeline's target to the field of the chosen target.
pub(super) fn at_choice(problems: &mut [Problem]) {
    for problem in problems {
        let is_of_place = matches!(problem.path.as_str(), "/cluster" | "/placement/node_group");
        if is_of_place && problem.code == Code::UnknownPlace {
            "/place".clone_into(&mut problem.path);
            (problem.line, problem.column) = (None, None);
        }
    }
}

/// Fills in the project's default target.
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
    let message = format!("the project may not use `{pool}`: choose one of {}", bound.join(", "));
    Problem::error(Code::UnknownPlace, field, message)
}
