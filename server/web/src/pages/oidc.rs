//! `GET /sign-in/oidc` and `GET /sign-in/oidc/callback`: redirects to the OpenID Connect provider, and
//! handles its callback.

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};

use super::Frame;
use super::preferences::local;
use super::sign_in::Next;
use crate::auth::oidc::Back;
use crate::auth::{Caller, Visitor, oidc, sign_in};
use crate::error::{ApiError, ApiResult, Kind};
use crate::extract::Query;
use crate::state::Web;

/// Redirects to the provider's page.
pub(crate) async fn begin(
    State(web): State<Web>,
    frame: Frame,
    Query(next): Query<Next>,
) -> ApiResult<Response> {
    let next = local(next.next.as_deref().unwrap_or("/")).to_owned();
    let (url, cookie) = oidc::begin(&web, &next, None).await.map_err(|error| say(&frame, error))?;
    Ok((AppendHeaders([(header::SET_COOKIE, cookie)]), Redirect::to(&url)).into_response())
}

/// Handles the callback.
pub(crate) async fn finish(
    State(web): State<Web>,
    frame: Frame,
    visitor: Visitor,
    caller: Option<Caller>,
    headers: HeaderMap,
    Query(answer): Query<oidc::Answer>,
) -> ApiResult<Response> {
    let found = oidc::finish(&web, &visitor, caller.as_ref(), &headers, answer).await;
    let done = (header::SET_COOKIE, oidc::done(&web)?);
    match found.map_err(|error| say(&frame, error))? {
        Back::Connected => Ok((AppendHeaders([done]), Redirect::to("/me")).into_response()),
        Back::SignedIn(user, next) => {
            let (_, cookie) = sign_in::enter(&web, &visitor, &user).await?;
            let cookies = [(header::SET_COOKIE, cookie), done];
            Ok((AppendHeaders(cookies), Redirect::to(&next)).into_response())
        }
    }
}

/// Translates the error. Details are only logged.
fn say(frame: &Frame, error: ApiError) -> ApiError {
    let text = match error.kind() {
        Kind::Unavailable => "sign-in.provider-away",
        Kind::Forbidden => "sign-in.provider-refused",
        Kind::Malformed => "sign-in.provider-failed",
        Kind::Conflict => "sign-in.provider-taken",
        _ => return error,
    };
    let why = error.chain().unwrap_or_default();
    tracing::info!(why, "{}", error.detail());
    ApiError::new(error.kind(), frame.t(text))
}
