//! `GET /projects/{project}/pipelines/{pipeline}/tasks/{task}/sizing`

use axum::extract::State;
use cubeloom_domain::plan::{PlannedRole, RunPlan};
use cubeloom_domain::sizing::SizedRole;
use cubeloom_domain::{RunId, TaskIx};

use super::view::{RoleSizingView, SizeChangeView, SizingView};
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::plan;
use crate::sized::{recommended, recommended_then};
use crate::state::Web;
use crate::time::Time;

/// Maximum number of returned changes.
const CHANGES: u32 = 100;

/// Gets the resource usage and right-sizing of a task of a pipeline.
///
/// The response contains the known usage and the resulting resources of the workers, based on the pipeline's last
/// run. It also contains the changes, newest first. Recommendations do not exceed the largest node, but the quota of
/// the project may allow less.
#[utoipa::path(
    get,
    path = "/projects/{project}/pipelines/{pipeline}/tasks/{task}/sizing",
    tag = "sizing",
    params(
        ("project" = String, Path),
        ("pipeline" = String, Path),
        ("task" = String, Path, description = "The task's name.")
    ),
    responses(
        (status = 200, body = SizingView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn get(
    State(web): State<Web>,
    Path((project, pipeline, task)): Path<(String, String, String)>,
) -> ApiResult<Json<SizingView>> {
    Ok(Json(shown(&web, &project, &pipeline, &task).await?))
}

/// View of a task's sizing.
///
/// # Errors
/// Neither the pipeline's last run nor its newest version has the task.
pub(crate) async fn shown(web: &Web, project: &str, pipeline: &str, task: &str) -> ApiResult<SizingView> {
    let last = last_plan(web, project, pipeline, task).await?;
    let history = web.store().sizing(project, pipeline).await?;
    let reverted = web.store().sizing_reverted(project, pipeline, task).await?;
    let changes = web.store().size_changes(project, pipeline, task, CHANGES).await?;
    let planned = last.as_ref().map(|(_, plan, ix)| plan.task(*ix));
    let mode = planned.map_or(history.mode, |planned| history.mode_of(planned));
    let roles = last.iter().flat_map(|(_, plan, ix)| {
        let facts = web.clusters().get(&plan.cluster).map(|cluster| cluster.facts());
        let nodes = facts.map_or_else(Vec::new, |facts| facts.nodes);
        let advised = recommended(plan, *ix, &history, &nodes, None);
        let of_role = |(role, sized): (&PlannedRole, &SizedRole)| {
            let past = history.of_task(task, &plan.template_of(plan.task(*ix)).name, &role.name);
            let then = recommended_then(plan, *ix, role, &history, &nodes);
            RoleSizingView::new(role, sized, past, &then, &advised.make)
        };
        plan.task(*ix).roles.iter().zip(&advised.roles).map(of_role).collect::<Vec<_>>()
    });
    Ok(SizingView {
        run: last.as_ref().map(|(run, ..)| run.to_string()),
        mode: mode.as_str().into(),
        project_mode: history.mode.as_str().into(),
        reverted_by: reverted.as_ref().map(|reverted| reverted.by.clone()),
        reverted_at: reverted.map(|reverted| Time(reverted.at)),
        roles: roles.collect(),
        changes: changes.iter().map(SizeChangeView::from).collect(),
    })
}

/// Plan of a pipeline's last run, and its task. `None` if the task has not run yet.
///
/// # Errors
/// Neither the last run nor the newest version has the task.
pub(super) async fn last_plan(
    web: &Web,
    project: &str,
    pipeline: &str,
    task: &str,
) -> ApiResult<Option<(RunId, RunPlan, TaskIx)>> {
    if let Some(run) = web.store().last_run(project, pipeline).await?
        && let Some(plan) = web.store().plan(&run).await?
        && let Some(ix) = plan.find(task)
    {
        return Ok(Some((run, plan, ix)));
    }
    let missing = || ApiError::not_found("task", task);
    let newest = web.store().newest(project, pipeline).await?.ok_or_else(missing)?;
    let document = plan::parse(newest.document).await?.ok().ok_or_else(missing)?;
    let is_there = document.pipeline.tasks.iter().any(|one| one.name == task);
    if is_there { Ok(None) } else { Err(missing()) }
}
