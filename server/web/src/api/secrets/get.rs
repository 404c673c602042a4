//! `GET /projects/{project}/secrets/{secret}`, `GET /me/secrets/{secret}`

use axum::extract::State;
use cubeloom_domain::belongings::Owner;

use super::view::SecretView;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult};
use crate::etag::Tagged;
use crate::extract::Path;
use crate::state::Web;

/// Gets a secret of a project, without its value.
#[utoipa::path(
    get,
    operation_id = "get",
    path = "/projects/{project}/secrets/{secret}",
    tag = "secrets",
    params(("project" = String, Path, description = "The project's name"), ("secret" = String, Path, description = "The secret's name")),
    responses((status = 200, body = SecretView))
)]
pub(crate) async fn of_project(
    State(web): State<Web>,
    Path((project, secret)): Path<(String, String)>,
) -> ApiResult<Tagged<SecretView>> {
    get(&web, &Owner::Project(project), &secret).await
}

/// Gets a personal secret of the caller, without its value.
#[utoipa::path(
    get,
    operation_id = "get",
    path = "/me/secrets/{secret}",
    tag = "secrets",
    params(("secret" = String, Path, description = "The secret's name")),
    responses((status = 200, body = SecretView))
)]
pub(crate) async fn own(
    State(web): State<Web>,
    caller: Caller,
    Path(secret): Path<String>,
) -> ApiResult<Tagged<SecretView>> {
    get(&web, &Owner::User(caller.user.id.clone()), &secret).await
}

async fn get(web: &Web, owner: &Owner, name: &str) -> ApiResult<Tagged<SecretView>> {
    let found = web.store().secret(owner, name).await?;
    let secret = found.ok_or_else(|| ApiError::not_found("secret", name))?;
    Ok(Tagged(secret.revision, secret.into()))
}
