//! `DELETE /tokens/{token}`

use axum::extract::State;
use axum::http::StatusCode;

use crate::audit::Act;
use crate::auth::{Caller, tokens};
use crate::error::{ApiError, ApiResult};
use crate::extract::Path;
use crate::state::Web;

/// Revokes a token immediately.
///
/// You can revoke your own tokens. An administrator can revoke every token.
#[utoipa::path(
    delete,
    path = "/tokens/{token}",
    tag = "people",
    params(("token" = String, Path, description = "The token's id")),
    responses((status = 204))
)]
pub(crate) async fn revoke(
    State(web): State<Web>,
    caller: Caller,
    Path(id): Path<String>,
) -> ApiResult<StatusCode> {
    let missing = || ApiError::not_found("token", &id);
    let theirs = |owner: &str| owner == caller.user.id || caller.user.admin;
    let token = web.store().token(&id).await?.filter(|token| theirs(&token.user_id)).ok_or_else(missing)?;
    let user = web.store().user(&token.user_id).await?.ok_or_else(missing)?;
    let done = tokens::revoke(&Act::of(&web, &caller), &token, &user).await?;
    if done { Ok(StatusCode::NO_CONTENT) } else { Err(missing()) }
}
