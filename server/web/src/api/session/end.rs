//! `DELETE /session`

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::audit;
use crate::auth::{Caller, Via, cookie, session};
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::state::Web;

/// Signs you out of this browser.
#[utoipa::path(
    delete,
    path = "/session",
    tag = "people",
    responses(
        (status = 204),
        (status = 409, description = "You are signed in with a token.", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn end(State(web): State<Web>, caller: Caller) -> ApiResult<Response> {
    let Via::Session { id } = &caller.via else {
        return Err(ApiError::conflict("there is no session to end: you are signed in with a token"));
    };
    session::end(&web, id, &audit::entry(&web, &caller, "session.end", id)).await?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie::removal(&web)?)]).into_response())
}
