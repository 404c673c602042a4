//! `POST /tokens`

use axum::extract::State;
use axum::http::StatusCode;
use cubeloom_domain::identity::Scope;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::TokenView;
use crate::audit::Act;
use crate::auth::tokens::{self, NewToken};
use crate::auth::{Caller, Via};
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::Json;
use crate::state::Web;
use crate::time::Time;

/// Token to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WantedToken {
    /// Token name.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// Token scope. `read` only reads, and `run` also starts and stops runs. `write` allows what you may do in
    /// projects, and `admin` everything that you may do.
    #[schema(value_type = String, pattern = "^(read|run|write|admin)$")]
    pub scope: Scope,
    /// Project that the token is restricted to.
    pub project: Option<String>,
    /// Expiry time. If omitted, the token never expires.
    pub expires_at: Option<Time>,
}

/// A new token.
#[derive(Serialize, ToSchema)]
pub struct CreatedToken {
    /// Token value, shown only in this response: `Authorization: Bearer <token>`.
    pub token: String,
    /// Metadata, without the secret.
    #[serde(flatten)]
    pub about: TokenView,
}

/// Creates a token with which a program acts as you.
#[utoipa::path(
    post,
    path = "/tokens",
    tag = "people",
    request_body = WantedToken,
    responses(
        (status = 201, body = CreatedToken),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn create(
    State(web): State<Web>,
    caller: Caller,
    Json(wanted): Json<WantedToken>,
) -> ApiResult<(StatusCode, Json<CreatedToken>)> {
    outlives(&web, &caller, wanted.expires_at).await?;
    let wanted = NewToken {
        name: wanted.name,
        scope: wanted.scope,
        project: wanted.project,
        expires_at: wanted.expires_at.map(|time| time.0),
    };
    let (token, text) = tokens::create(&Act::of(&web, &caller), &caller.user, wanted).await?;
    Ok((StatusCode::CREATED, Json(CreatedToken { token: text, about: token.into() })))
}

/// A token created with another token must not outlive it. Otherwise, a leaked token could extend its own
/// lifetime.
async fn outlives(web: &Web, caller: &Caller, until: Option<Time>) -> ApiResult<()> {
    let Via::Token { id, .. } = &caller.via else { return Ok(()) };
    let made_with = web.store().token(id).await?;
    let Some(end) = made_with.and_then(|token| token.expires_at) else { return Ok(()) };
    if until.is_some_and(|until| until.0 <= end) {
        return Ok(());
    }
    let detail = format!("a token created with a token expires with it at the latest, on {}", Time(end));
    Err(ApiError::field("/expires_at", detail))
}
