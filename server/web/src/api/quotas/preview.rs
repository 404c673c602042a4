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

/// Says what edits would do now, all of them together, and changes nothing: why they would be refused, which running jobs
/// they affect and which waiting ones would start. To move cards from one project to another is two edits. Who is no
/// administrator may ask it of the own projects; jobs of others are counted, and not named.
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
