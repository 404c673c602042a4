//! `GET /users/{user}`

use axum::extract::State;

use super::{UserView, person};
use crate::error::ApiResult;
use crate::etag::Tagged;
use crate::extract::Path;
use crate::state::Web;

/// Returns a user.
#[utoipa::path(
    get,
    path = "/users/{user}",
    tag = "people",
    params(("user" = String, Path, description = "A person's name, or their id")),
    responses((status = 200, body = UserView, headers(("ETag" = String))))
)]
pub(crate) async fn get(State(web): State<Web>, Path(user): Path<String>) -> ApiResult<Tagged<UserView>> {
    let user = person(&web, &user).await?;
    Ok(Tagged(user.revision, user.into()))
}
