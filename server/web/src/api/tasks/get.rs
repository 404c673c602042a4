//! `GET /runs/{run}/tasks/{task}`

use axum::extract::State;
use cubeloom_domain::RunId;

use super::view::TaskView;
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::runs::{Reader, effective};
use crate::state::Web;
use crate::texts::Lang;
use crate::told::told;

/// A task of a run.
#[utoipa::path(
    get,
    path = "/runs/{run}/tasks/{task}",
    tag = "tasks",
    params(
        ("run" = String, Path, description = "The run's id."),
        ("task" = String, Path, description = "The task's name.")
    ),
    responses(
        (status = 200, body = TaskView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn get(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path((run, task)): Path<(RunId, String)>,
) -> ApiResult<Json<TaskView>> {
    let reader = Reader::open(&web, &run).await?.with_starts(&caller).await?;
    let index = reader.find(&task)?;
    let effective = effective::of(&web, &reader, Some(index)).await?;
    Ok(Json(told(lang, TaskView { effective, ..reader.task(index.0).await? })))
}
