//! `GET /runs/{run}/tasks/{task}/advice`

use axum::extract::State;
use cubeloom_domain::RunId;
use serde::Serialize;
use utoipa::ToSchema;

use super::usage::UsageQuery;
use crate::api::monitoring::view::AdviceView;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::runs::{Reader, advice as of_runs};
use crate::state::Web;
use crate::texts::Lang;
use crate::told::told;

/// Recommendations for a task.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TaskAdviceView {
    /// Attempt number. 0 if there is no attempt yet.
    pub attempt: u32,
    /// Whether the attempt is still in progress.
    pub live: bool,
    /// Number of workers.
    pub workers: u32,
    /// Recommendations, one per rule. Those that concern the workers together come first.
    pub advice: Vec<AdviceView>,
}

/// Returns recommendations for a task, based on the last hour of its workers' usage.
///
/// They remain available after the task has ended, as long as the usage data is kept.
#[utoipa::path(
    get,
    path = "/runs/{run}/tasks/{task}/advice",
    tag = "tasks",
    params(
        ("run" = String, Path, description = "The run's id."),
        ("task" = String, Path, description = "The task's name."),
        UsageQuery
    ),
    responses(
        (status = 200, body = TaskAdviceView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn advice(
    State(web): State<Web>,
    lang: Lang,
    Path((run, task)): Path<(RunId, String)>,
    Query(query): Query<UsageQuery>,
) -> ApiResult<Json<TaskAdviceView>> {
    let reader = Reader::open(&web, &run).await?;
    let ix = reader.find(&task)?;
    let instance = query.instance.unwrap_or(0);
    Ok(Json(told(lang, of_runs::advice(&reader, &web, ix, instance, query.attempt).await?)))
}
