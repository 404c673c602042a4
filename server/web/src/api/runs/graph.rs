//! `GET /runs/{run}/graph`

use axum::extract::State;
use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::{RunId, TaskIx};

use super::view::{EdgeView, GraphView, NodeView};
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::runs::{Reader, describe};
use crate::state::Web;

/// Gets the tasks of a run as a graph, with the state of each task.
#[utoipa::path(
    get,
    path = "/runs/{run}/graph",
    tag = "runs",
    params(("run" = String, Path, description = "The run's id.")),
    responses(
        (status = 200, body = GraphView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn graph(State(web): State<Web>, Path(run): Path<RunId>) -> ApiResult<Json<GraphView>> {
    let reader = Reader::open(&web, &run).await?;
    let count = u32::try_from(reader.plan.tasks.len()).unwrap_or(u32::MAX);
    let nodes = (0..count).map(|index| node(&reader, index)).collect();
    Ok(Json(GraphView { nodes, edges: edges(&reader.plan) }))
}

fn node(reader: &Reader<'_>, index: u32) -> NodeView {
    let task = reader.plan.task(TaskIx(index));
    let stored = reader.instances(index);
    NodeView {
        id: task.name.clone(),
        template: describe::template(&reader.plan, task),
        framework: reader.plan.template_of(task).framework.clone(),
        state: reader.state(index).into(),
        instances: (stored > 0).then_some(stored),
        workers: task.roles.iter().map(|role| role.replicas).sum(),
        for_each: task.for_each.is_some(),
    }
}

fn edges(plan: &RunPlan) -> Vec<EdgeView> {
    let edge = |from: &TaskIx, to: &str, kind: &str| EdgeView {
        from: plan.task(*from).name.clone(),
        to: to.to_owned(),
        kind: kind.into(),
    };
    let of = |task: &cubeloom_domain::plan::PlannedTask| {
        let read = task.reads.iter().filter(|from| !task.needs.contains(from));
        let needs = task.needs.iter().map(|from| edge(from, &task.name, "need"));
        needs.chain(read.map(|from| edge(from, &task.name, "data"))).collect::<Vec<_>>()
    };
    plan.tasks.iter().flat_map(of).collect()
}
