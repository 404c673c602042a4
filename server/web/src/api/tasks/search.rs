//! `GET /runs/{run}/tasks/{task}/search`

use axum::extract::State;
use cubeloom_domain::RunId;

use super::view::SearchView;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::runs::{Reader, search as searches};
use crate::state::Web;

/// Returns the search of a task: what it tries, its trials and the best trial.
///
/// Returns 404 if the task has no search.
#[utoipa::path(
    get,
    path = "/runs/{run}/tasks/{task}/search",
    tag = "tasks",
    params(
        ("run" = String, Path, description = "The run's id."),
        ("task" = String, Path, description = "The task's name.")
    ),
    responses(
        (status = 200, body = SearchView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn search(
    State(web): State<Web>,
    Path((run, task)): Path<(RunId, String)>,
) -> ApiResult<Json<SearchView>> {
    let reader = Reader::open(&web, &run).await?;
    let index = reader.find(&task)?;
    let found = searches::of(&web, &reader, index).await?;
    found.map(Json).ok_or_else(|| ApiError::not_found("search of the task", &task))
}
