//! `POST /device/revoke`

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::auth::{Visitor, tokens};
use crate::error::ApiResult;
use crate::extract::Json;
use crate::state::Web;

/// Token to revoke.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokedToken {
    /// The token itself. It needs no scope for this, and may be bound to a project.
    #[schema(max_length = 200)]
    pub token: String,
}

/// Revokes the token that is sent (RFC 7009), for a program that signs out.
///
/// An unknown token gets the same response: it is not valid.
#[utoipa::path(
    post,
    path = "/device/revoke",
    tag = "people",
    request_body = RevokedToken,
    responses((status = 204))
)]
pub(crate) async fn revoke(
    State(web): State<Web>,
    visitor: Visitor,
    Json(sent): Json<RevokedToken>,
) -> ApiResult<StatusCode> {
    tokens::give_back(&web, &visitor, &sent.token).await?;
    Ok(StatusCode::NO_CONTENT)
}
