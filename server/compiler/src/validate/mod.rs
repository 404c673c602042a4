//! Checks of a pipeline alone, without templates: names, edges, schedule, expressions, conflicts.

mod canvas;
mod expressions;
mod graph;
mod parameters;
mod schedule;
mod search;
mod tasks;

pub(crate) use expressions::run_names;
pub(crate) use graph::Edges;
pub(crate) use parameters::{accept, fits};
pub(crate) use schedule::check as check_schedule;
pub(crate) use search::can_be_tried;
pub(crate) use tasks::{secret_mount, volume_mount};

use std::collections::BTreeMap;

use cubeloom_domain::pipeline::Pipeline;
use cubeloom_domain::{Code, Problem};

/// All problems and warnings, with paths only: the caller adds the positions.
pub fn document(pipeline: &Pipeline) -> Vec<Problem> {
    let mut problems = Vec::new();
    let edges = Edges::check(&pipeline.tasks, &mut problems);
    reserved("/env", &pipeline.env, &mut problems);
    for (name, parameter) in &pipeline.parameters {
        parameters::declaration(name, parameter, &mut problems);
    }
    if let Some(schedule) = &pipeline.schedule {
        schedule::check(schedule, &pipeline.parameters, &mut problems);
    }
    for (at, task) in pipeline.tasks.iter().enumerate() {
        tasks::check(at, task, &mut problems);
    }
    expressions::check(pipeline, &edges, &mut problems);
    canvas::check(&pipeline.canvas, &edges, &mut problems);
    problems
}

/// Reports variables that are reserved for the platform.
pub fn reserved(path: &str, env: &BTreeMap<String, String>, problems: &mut Vec<Problem>) {
    for name in env.keys().filter(|name| is_reserved(name)) {
        let message =
            format!("`{name}` is set by the platform; choose a name that does not begin with CUBELOOM_");
        problems.push(Problem::error(Code::Conflict, format!("{path}/{name}"), message));
    }
}

/// Whether a variable is reserved for the platform.
pub fn is_reserved(name: &str) -> bool {
    name.starts_with("CUBELOOM_")
}
