//! `POST /quotas/preview`

use axum::extract::State;

use super::MOST;
use super::view::{PreviewBody, PreviewView};
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::Json;
use crate::quotas;
use crate::state::Web;
use crate::texts::Lang;

/// Simulates edits of queues without applying them.
///
/// The edits are evaluated together. The response shows why they would be refused, which running jobs they affect,
/// and which pending jobs would start. Moving GPUs from one project to another takes two edits. Users who are not
/// administrators can simulate edits of their own projects. Jobs of other projects are counted but not named.
#[utoipa::path(
    post,
    path = "/quotas/preview",
    tag = "quotas",
    request_body = PreviewBody,
    responses(
        (status = 200, body = PreviewView),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn preview(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Json(body): Json<PreviewBody>,
) -> ApiResult<Json<PreviewView>> {
    if body.edits.len() > MOST {
        return Err(ApiError::field("/edits", format!("send at most {MOST} edits")));
    }
    Ok(Json(quotas::preview::preview(&web, &caller, lang, body.edits).await?))
}
