//! `POST /me/provider` and `DELETE /me/provider`

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::audit;
use crate::auth::{Caller, Via, Visitor, oidc, sign_in};
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::{IfMatch, changed};
use crate::extract::Json;
use crate::state::Web;

/// Confirmation of your identity.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Confirmation {
    /// Your current password.
    #[schema(max_length = 1024)]
    pub current: String,
}

/// Redirect target.
#[derive(Debug, Serialize, ToSchema)]
pub struct ThereView {
    /// URL of the provider's page. The provider redirects back to this browser within ten minutes.
    pub url: String,
}

/// Starts to connect your account to the OpenID Connect provider.
///
/// Afterwards, you can sign in by either method. Only available in a browser, which keeps a cookie during the
/// process.
#[utoipa::path(
    post,
    path = "/me/provider",
    tag = "people",
    request_body = Confirmation,
    responses(
        (status = 200, body = ThereView),
        (status = 404, description = "No provider is configured.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, description = "You are connected, have no password, or are signed in with a token.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 429, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn connect(
    State(web): State<Web>,
    caller: Caller,
    visitor: Visitor,
    Json(sent): Json<Confirmation>,
) -> ApiResult<Response> {
    if !matches!(caller.via, Via::Session { .. }) {
        return Err(ApiError::conflict(
            "you are signed in with a token: connect in a browser, on your profile page",
        ));
    }
    if caller.user.federated.is_some() {
        return Err(ApiError::conflict("you are connected with a provider already: disconnect first"));
    }
    if web.oidc().is_none() {
        return Err(ApiError::not_found("provider", "here"));
    }
    sign_in::confirm(&web, &visitor, &caller.user, sent.current).await?;
    let (url, cookie) = oidc::begin(&web, "/me", Some(caller.user.id.clone())).await?;
    Ok(([(header::SET_COOKIE, cookie)], Json(ThereView { url })).into_response())
}

/// Disconnects your account from the OpenID Connect provider.
///
/// From then on, you can sign in with your password only.
#[utoipa::path(
    delete,
    path = "/me/provider",
    tag = "people",
    params(("If-Match" = String, Header)),
    responses(
        (status = 204),
        (status = 404, description = "You are not connected.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, description = "You have no password.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn disconnect(
    State(web): State<Web>,
    caller: Caller,
    IfMatch(expected): IfMatch,
) -> ApiResult<StatusCode> {
    let user = &caller.user;
    let Some(federated) = &user.federated else {
        return Err(ApiError::not_found("provider", "you"));
    };
    let entry = audit::entry(&web, &caller, "user.disconnect", &user.name);
    let entry = entry.before(serde_json::json!(federated));
    let change = web.store().disconnect_user(&user.id, expected, &entry).await?;
    changed(change, "account of", &user.name)?;
    Ok(StatusCode::NO_CONTENT)
}
