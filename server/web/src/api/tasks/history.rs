//! `GET /runs/{run}/tasks/{task}/history`

use axum::extract::State;
use cubeloom_domain::RunId;
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::HistoryView;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::runs::{Reader, describe};
use crate::state::Web;

/// Number of latest attempts.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LatestQuery {
    /// Number of items, from 1 to 200. Defaults to 50.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

/// Lists the latest ended attempts of a task, across all runs of the pipeline.
///
/// They show how long the task takes and what it uses. There is only one page.
#[utoipa::path(
    get,
    path = "/runs/{run}/tasks/{task}/history",
    tag = "tasks",
    params(
        ("run" = String, Path, description = "The run's id."),
        ("task" = String, Path, description = "The task's name."),
        LatestQuery
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
    Query(latest): Query<LatestQuery>,
) -> ApiResult<Json<Page<HistoryView>>> {
    let limit = PageQuery { limit: latest.limit, cursor: None }.limit()?;
    let reader = Reader::open(&web, &run).await?;
    reader.find(&task)?;
    let (project, pipeline) = (&reader.record.project, &reader.record.pipeline);
    let found = web.store().history(project, pipeline, &task, limit).await?;
    let items = found.iter().filter_map(describe::history).collect();
    Ok(Json(Page { items, next_cursor: None }))
}
