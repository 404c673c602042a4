//! `POST /device/code`

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::auth::{Visitor, device};
use crate::error::ApiResult;
use crate::extract::Json;
use crate::state::Web;

/// Command line to sign in.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WantedDeviceCode {
    /// Description of the program and its machine, which the user sees: `cubeloom on laptop`. It becomes the
    /// token's name.
    #[schema(min_length = 1, max_length = 100)]
    pub client: String,
}

/// Codes of a command line.
#[derive(Serialize, ToSchema)]
pub struct DeviceCodeView {
    /// Secret with which the command line fetches the token.
    pub device_code: String,
    /// Code that the command line shows and the user confirms.
    pub user_code: String,
    /// URL at which the user enters the user code.
    pub verification_uri: String,
    /// The same with the user code.
    pub verification_uri_complete: String,
    /// Lifetime of the codes, in seconds.
    pub expires_in: u64,
    /// Minimum interval between requests for the token, in seconds.
    pub interval: u64,
}

/// Begins to sign in a command line through a browser (RFC 8628).
///
/// Show the user code and the URL, and request the token until the user has decided.
#[utoipa::path(
    post,
    path = "/device/code",
    tag = "people",
    request_body = WantedDeviceCode,
    responses((status = 200, body = DeviceCodeView))
)]
pub(crate) async fn begin(
    State(web): State<Web>,
    visitor: Visitor,
    Json(wanted): Json<WantedDeviceCode>,
) -> ApiResult<Json<DeviceCodeView>> {
    let (code, device_code) = device::begin(&web, &visitor, &wanted.client).await?;
    let verification_uri = format!("{}/device", web.settings().url);
    Ok(Json(DeviceCodeView {
        device_code,
        verification_uri_complete: format!("{verification_uri}?user_code={}", code.user_code),
        verification_uri,
        user_code: code.user_code,
        expires_in: device::LIFETIME.as_secs(),
        interval: device::INTERVAL.as_secs(),
    }))
}
