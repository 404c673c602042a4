//! `GET /runs/{run}/tasks/{task}/instances/{instance}/attempts/{attempt}/notices`

use axum::extract::State;
use cubeloom_domain::RunId;

use super::view::NoticeView;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::page::Page;
use crate::runs::{Reader, describe};
use crate::state::Web;

/// Lists the cluster events of an attempt, newest last.
///
/// These are the events of its Kubernetes objects. They are stored with the attempt because a cluster deletes them
/// within the hour.
#[utoipa::path(
    get,
    path = "/runs/{run}/tasks/{task}/instances/{instance}/attempts/{attempt}/notices",
    tag = "tasks",
    params(
        ("run" = String, Path, description = "The run's id."),
        ("task" = String, Path, description = "The task's name."),
        ("instance" = u32, Path, description = "The instance."),
        ("attempt" = u32, Path, description = "The attempt's number.")
    ),
    responses(
        (status = 200, body = Page<NoticeView>),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn notices(
    State(web): State<Web>,
    Path((run, task, instance, attempt)): Path<(RunId, String, u32, u32)>,
) -> ApiResult<Json<Page<NoticeView>>> {
    let reader = Reader::open(&web, &run).await?;
    let ix = reader.find(&task)?;
    let attempts = web.store().attempts_of(&run, ix, instance).await?;
    let record = attempts.iter().find(|record| record.key.n == attempt);
    let record = record.ok_or_else(|| ApiError::not_found("attempt", attempt.to_string()))?;
    let items = describe::notices(&web, record).await;
    Ok(Json(Page { items, next_cursor: None }))
}
