//! `DELETE /links/{link}`

use axum::extract::State;
use axum::http::StatusCode;

use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult};
use crate::extract::Path;
use crate::state::Web;

/// Revokes an unused link.
#[utoipa::path(
    delete,
    path = "/links/{link}",
    tag = "people",
    params(("link" = String, Path, description = "The link's id")),
    responses((status = 204))
)]
pub(crate) async fn revoke(
    State(web): State<Web>,
    caller: Caller,
    Path(id): Path<String>,
) -> ApiResult<StatusCode> {
    let done = web.store().revoke_link(&id, &audit::entry(&web, &caller, "link.revoke", &id)).await?;
    if done { Ok(StatusCode::NO_CONTENT) } else { Err(ApiError::not_found("link", id)) }
}
