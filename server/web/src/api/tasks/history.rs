//! `GET /runs/{run}/tasks/{task}/history`

use axum::extract::State;
use cubeloom_domain::RunId;

use super::view::HistoryView;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::runs::{Reader, describe};
use crate::state::Web;

/// The latest attempts of a task that have ended, in whatever run of the pipeline: how long it takes, and what it uses.
#[utoipa::path(
    get,
    path = "/runs/{run}/tasks/{task}/history",
    tag = "tasks",
    params(
        ("run" = String, Path, description = "The run's id."),
        ("task" = String, Path, description = "The task's name."),
        PageQuery
    ),
    responses(
        (status = 200, body = Page<HistoryView>),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn history(
    State(web): State<Web>,
    Path((run, task)): Path<(RunId, String)>,
    Query(page): Query<PageQuery>,
) -> ApiResult<Json<Page<HistoryView>>> {
    let limit = page.limit()?;
    let reader = Reader::open(&web, &run).await?;
    reader.find(&task)?;
    let (project, pipeline) = (&reader.record.project, &reader.record.pipeline);
    let found = web.store().history(project, pipeline, &task, limit).await?;
    let items = found.iter().filter_map(describe::history).collect();
    Ok(Json(Page { items, next_cursor: None }))
}
