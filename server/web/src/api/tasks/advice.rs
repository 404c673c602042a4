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

/// What could be done better with a task.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TaskAdviceView {
    /// The attempt's number; 0 where there was none yet.
    pub attempt: u32,
    /// Whether it goes on.
    pub live: bool,
    /// How many workers it has.
    pub workers: u32,
    /// Each rule once, what concerns the workers together first.
    pub advice: Vec<AdviceView>,
}

/// What could be done better with a task, from the last hour of what its workers used: also when it has ended, for as long as that
/// is kept.
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
