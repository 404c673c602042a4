//! Where a pipeline goes: to the place that it names, else to its project's, and nowhere that the project is not bound to.

use cubeloom_domain::clusters::LOCAL;
use cubeloom_domain::identity::Places;
use cubeloom_domain::pipeline::{Pipeline, Placement};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::{Code, Problem};

/// Gives a pipeline its project's place where it names none. Every place outside of what the project is bound to is a
/// mistake.
pub(super) fn bind(pipeline: &mut Pipeline, places: &Places) -> Vec<Problem> {
    if let Some(usual) = places.usual() {
        give(pipeline, usual, places);
    }
    if places.allowed.is_empty() {
        return Vec::new();
    }
    let cluster = pipeline.cluster.as_deref().unwrap_or(LOCAL);
    let node_group =
        |placement: &Option<Placement>| placement.as_ref().and_then(|place| place.node_group.clone());
    let pool = |node_group| Pool { cluster: cluster.to_owned(), node_group };
    let of_pipeline = node_group(&pipeline.placement);
    let mut found = Vec::new();
    let mut look = |field: String, pool: Pool| {
        if !places.allow(&pool) {
            found.push(outside(field, &pool, places));
        }
    };
    // A pipeline whose tasks all name their own node groups goes nowhere itself.
    let is_own = |task: &cubeloom_domain::pipeline::Task| node_group(&task.placement).is_some();
    let all_own = of_pipeline.is_none() && !pipeline.tasks.is_empty() && pipeline.tasks.iter().all(is_own);
    if !all_own {
        let field = if of_pipeline.is_some() { "/placement/node_group" } else { "/cluster" };
        look(field.to_owned(), pool(of_pipeline));
    }
    for (at, task) in pipeline.tasks.iter().enumerate() {
        if let Some(group) = node_group(&task.placement) {
            look(format!("/tasks/{at}/placement/node_group"), pool(Some(group)));
        }
    }
    found
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
