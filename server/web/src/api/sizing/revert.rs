//! `POST /projects/{project}/pipelines/{pipeline}/tasks/{task}/sizing/revert`

use axum::extract::State;
use cubeloom_domain::sizing::Reverted;
use serde_json::json;

use super::get::{last_plan, shown};
use super::view::SizingView;
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Reverts right-sizing of a task to the requested resources.
///
/// From its next run on, the task gets the requested resources until right-sizing is resumed. The usage history is
/// kept and continues to grow.
#[utoipa::path(
    post,
    path = "/projects/{project}/pipelines/{pipeline}/tasks/{task}/sizing/revert",
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
pub(crate) async fn revert(
    State(web): State<Web>,
    caller: Caller,
    Path((project, pipeline, task)): Path<(String, String, String)>,
) -> ApiResult<Json<SizingView>> {
    last_plan(&web, &project, &pipeline, &task).await?;
    if web.store().sizing_reverted(&project, &pipeline, &task).await?.is_none() {
        let entry = audit::entry(&web, &caller, "sizing.revert", format!("{pipeline}/{task}"));
        let entry = entry.project(&project).after(json!({"reverted": true}));
        let (project, pipeline, task) = (project.clone(), pipeline.clone(), task.clone());
        let reverted = Reverted { project, pipeline, task, by: caller.user.name.clone(), at: web.now() };
        web.store().revert_sizing(&reverted, &entry).await?;
    }
    Ok(Json(shown(&web, &project, &pipeline, &task).await?))
}
