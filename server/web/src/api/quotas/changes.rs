//! `POST /quotas/changes`

use axum::extract::State;

use super::MOST;
use super::view::{ChangedView, ChangesBody, ChangesView};
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::Json;
use crate::quotas::{edit, subject};
use crate::state::Web;

/// Applies several edits of queues atomically.
///
/// Moving GPUs from one project to another takes two edits and is one change in the history. Each edit contains the
/// revision of its queue that you have read. If another user has changed one of the queues since then, no edit is
/// applied.
#[utoipa::path(
    post,
    path = "/quotas/changes",
    operation_id = "change_quotas",
    tag = "quotas",
    request_body = ChangesBody,
    responses(
        (status = 200, body = ChangesView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn change(
    State(web): State<Web>,
    caller: Caller,
    Json(body): Json<ChangesBody>,
) -> ApiResult<Json<ChangesView>> {
    if body.edits.is_empty() || body.edits.len() > MOST {
        return Err(ApiError::field("/edits", format!("send from 1 to {MOST} edits")));
    }
    let made = edit::change(&web, &caller, body.edits, body.below_use).await?;
    let view = |(queue, revision)| ChangedView { queue: subject(&queue), revision };
    Ok(Json(ChangesView { items: made.into_iter().map(view).collect() }))
}
