//! `POST /device/decision`

use axum::extract::State;
use axum::http::StatusCode;
use cubeloom_domain::identity::Scope;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::auth::Caller;
use crate::auth::device::{self, DeviceAnswer};
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::Json;
use crate::state::Web;

/// Decision about a command line.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WantedDeviceDecision {
    /// Code that the command line shows.
    #[schema(max_length = 20)]
    pub user_code: String,
    /// Whether it gets a token.
    pub approve: bool,
    /// Scope of the token. Defaults to `write`.
    #[schema(value_type = Option<String>, pattern = "^(read|run|write)$")]
    pub scope: Option<Scope>,
    /// Project that the token is restricted to.
    pub project: Option<String>,
}

/// Allows a command line to act as you, or denies it.
///
/// It then fetches a token that expires after 90 days. Only available in a browser session, not with a token.
#[utoipa::path(
    post,
    path = "/device/decision",
    tag = "people",
    request_body = WantedDeviceDecision,
    responses(
        (status = 204),
        (status = 422, description = "The code is wrong, was used or has expired, or you are not in the project.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 429, description = "Too many wrong codes.", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn decide(
    State(web): State<Web>,
    caller: Caller,
    Json(wanted): Json<WantedDeviceDecision>,
) -> ApiResult<StatusCode> {
    let answer = if wanted.approve {
        DeviceAnswer::Allow { scope: wanted.scope.unwrap_or(Scope::Write), project: wanted.project }
    } else {
        DeviceAnswer::Deny
    };
    device::decide(&web, &caller, &wanted.user_code, answer).await?;
    Ok(StatusCode::NO_CONTENT)
}
