//! `POST /projects/{project}/pipelines/{pipeline}/tasks/{task}/sizing/resume`

use axum::extract::State;
use serde_json::json;

use super::get::{last_plan, shown};
use super::view::SizingView;
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Resumes right-sizing of a task after it was reverted.
#[utoipa::path(
    post,
    path = "/projects/{project}/pipelines/{pipeline}/tasks/{task}/sizing/resume",
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
pub(crate) async fn resume(
    State(web): State<Web>,
    caller: Caller,
    Path((project, pipeline, task)): Path<(String, String, String)>,
) -> ApiResult<Json<SizingView>> {
    last_plan(&web, &project, &pipeline, &task).await?;
    if web.store().sizing_reverted(&project, &pipeline, &task).await?.is_some() {
        let entry = audit::entry(&web, &caller, "sizing.resume", format!("{pipeline}/{task}"));
        let entry = entry.project(&project).before(json!({"reverted": true}));
        web.store().resume_sizing(&project, &pipeline, &task, &entry).await?;
    }
    Ok(Json(shown(&web, &project, &pipeline, &task).await?))
}
