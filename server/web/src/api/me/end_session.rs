//! `DELETE /me/sessions/{session}`

use axum::extract::State;
use axum::http::StatusCode;

use crate::audit;
use crate::auth::{Caller, session};
use crate::error::{ApiError, ApiResult};
use crate::extract::Path;
use crate::state::Web;

/// Signs you out of a browser.
#[utoipa::path(
    delete,
    path = "/me/sessions/{session}",
    tag = "people",
    params(("session" = String, Path)),
    responses((status = 204))
)]
pub(crate) async fn end_session(
    State(web): State<Web>,
    caller: Caller,
    Path(id): Path<String>,
) -> ApiResult<StatusCode> {
    let found = web.store().session(&id).await?.filter(|found| found.user_id == caller.user.id);
    let missing = || ApiError::not_found("session", &id);
    let found = found.filter(|found| session::live(found, web.now())).ok_or_else(missing)?;
    session::end(&web, &found.id, &audit::entry(&web, &caller, "session.end", &found.id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
