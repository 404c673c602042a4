//! `DELETE /projects/{project}/secrets/{secret}`, `DELETE /me/secrets/{secret}`

use axum::extract::State;
use axum::http::StatusCode;
use cubeloom_domain::belongings::Owner;

use super::view::audited;
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult};
use crate::etag::{IfMatch, changed};
use crate::extract::Path;
use crate::state::Web;

/// Deletes a secret of a project.
///
/// Running workers keep the value. New workers that use the secret cannot start.
#[utoipa::path(
    delete,
    operation_id = "delete",
    path = "/projects/{project}/secrets/{secret}",
    tag = "secrets",
    params(
        ("project" = String, Path, description = "The project's name"),
        ("secret" = String, Path, description = "The secret's name"),
        ("If-Match" = String, Header, description = "ETag of the secret, or *")
    ),
    responses((status = 204))
)]
pub(crate) async fn in_project(
    State(web): State<Web>,
    caller: Caller,
    Path((project, secret)): Path<(String, String)>,
    expected: IfMatch,
) -> ApiResult<StatusCode> {
    delete(&web, &caller, &Owner::Project(project), &secret, expected).await
}

/// Deletes a personal secret of the caller.
#[utoipa::path(
    delete,
    operation_id = "delete",
    path = "/me/secrets/{secret}",
    tag = "secrets",
    params(
        ("secret" = String, Path, description = "The secret's name"),
        ("If-Match" = String, Header, description = "ETag of the secret, or *")
    ),
    responses((status = 204))
)]
pub(crate) async fn own(
    State(web): State<Web>,
    caller: Caller,
    Path(secret): Path<String>,
    expected: IfMatch,
) -> ApiResult<StatusCode> {
    delete(&web, &caller, &Owner::User(caller.user.id.clone()), &secret, expected).await
}

async fn delete(
    web: &Web,
    caller: &Caller,
    owner: &Owner,
    name: &str,
    IfMatch(expected): IfMatch,
) -> ApiResult<StatusCode> {
    let secret = web.store().secret(owner, name).await?.ok_or_else(|| ApiError::not_found("secret", name))?;
    let entry = audit::entry(web, caller, "secret.delete", name).before(audited(&secret));
    changed(web.store().delete_secret(owner, name, expected, &entry).await?, "secret", name)?;
    Ok(StatusCode::NO_CONTENT)
}
