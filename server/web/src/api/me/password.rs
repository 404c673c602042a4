//! `PUT /me/password`

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::audit::Act;
use crate::auth::{Caller, Via, Visitor, accounts, sign_in};
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::Json;
use crate::state::Web;

/// New password and current password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPassword {
    /// Current password.
    #[schema(max_length = 1024)]
    pub current: String,
    /// New value.
    #[schema(min_length = 10, max_length = 1024)]
    pub password: String,
}

/// Sets a new password, and ends all your other sessions.
#[utoipa::path(
    put,
    path = "/me/password",
    tag = "people",
    request_body = NewPassword,
    responses(
        (status = 204),
        (status = 409, description = "You have no password: you sign in with a provider.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 429, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn password(
    State(web): State<Web>,
    caller: Caller,
    visitor: Visitor,
    Json(new): Json<NewPassword>,
) -> ApiResult<Response> {
    sign_in::confirm(&web, &visitor, &caller.user, new.current).await?;
    accounts::set_password(&Act::of(&web, &caller), &caller.user, new.password).await?;
    if !matches!(caller.via, Via::Session { .. }) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    // All sessions have ended: create a new one for this browser.
    let (_, cookie) = sign_in::enter(&web, &visitor, &caller.user).await?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}
