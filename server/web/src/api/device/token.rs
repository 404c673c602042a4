//! `POST /device/token`

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::auth::{Visitor, device};
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::Json;
use crate::state::Web;
use crate::time::{Time, maybe};

/// Request for the token of a command line.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SentDeviceCode {
    /// Secret of the command line, from `POST /device/code`.
    #[schema(max_length = 100)]
    pub device_code: String,
}

/// Token of a command line.
#[derive(Serialize, ToSchema)]
pub struct DeviceTokenView {
    /// Token value, shown only in this response: `Authorization: Bearer <token>`.
    pub token: String,
    /// Name of the user whose token it is.
    pub user: String,
    /// Scope: `read`, `run` or `write`.
    pub scope: &'static str,
    /// Project to which the token is restricted, if set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Expiry time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
}

/// Fetches the token of a command line, once the user has allowed it.
///
/// Until then, and if there is none, the member `code` of the problem has the reason.
/// `authorization_pending`: request it again after the interval. `slow_down`: do so with an interval that is 5
/// seconds longer. `access_denied`: the user denied it. `expired_token`: start again.
#[utoipa::path(
    post,
    path = "/device/token",
    tag = "people",
    request_body = SentDeviceCode,
    responses(
        (status = 201, body = DeviceTokenView),
        (status = 400, description = "No token, or not yet: `code` has the reason.", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn redeem(
    State(web): State<Web>,
    visitor: Visitor,
    Json(sent): Json<SentDeviceCode>,
) -> ApiResult<(StatusCode, Json<DeviceTokenView>)> {
    let (user, token, text) = device::redeem(&web, &visitor, &sent.device_code).await?;
    let view = DeviceTokenView {
        token: text,
        user: user.name,
        scope: token.scope.as_str(),
        project: token.project,
        expires_at: maybe(token.expires_at),
    };
    Ok((StatusCode::CREATED, Json(view)))
}
