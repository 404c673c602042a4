//! `PUT /projects/{project}/secrets/{secret}`, `PUT /me/secrets/{secret}`

use axum::extract::State;
use cubeloom_domain::belongings::{Owner, SealedSecret};

use super::view::{DESCRIPTION, SecretChange, SecretView, audited, check_value};
use crate::audit;
use crate::auth::Caller;
use crate::check::Found;
use crate::error::{ApiError, ApiResult};
use crate::etag::{IfMatch, Tagged, changed};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Updates the value or description of a secret of a project.
///
/// Workers that start after the update get the new value.
#[utoipa::path(
    put,
    operation_id = "update",
    path = "/projects/{project}/secrets/{secret}",
    tag = "secrets",
    params(
        ("project" = String, Path, description = "The project's name"),
        ("secret" = String, Path, description = "The secret's name"),
        ("If-Match" = String, Header, description = "ETag of the secret, or *")
    ),
    request_body = SecretChange,
    responses((status = 200, body = SecretView))
)]
pub(crate) async fn in_project(
    State(web): State<Web>,
    caller: Caller,
    Path((project, secret)): Path<(String, String)>,
    expected: IfMatch,
    Json(change): Json<SecretChange>,
) -> ApiResult<Tagged<SecretView>> {
    update(&web, &caller, Owner::Project(project), &secret, expected, change).await
}

/// Updates the value or description of a personal secret of the caller.
#[utoipa::path(
    put,
    operation_id = "update",
    path = "/me/secrets/{secret}",
    tag = "secrets",
    params(
        ("secret" = String, Path, description = "The secret's name"),
        ("If-Match" = String, Header, description = "ETag of the secret, or *")
    ),
    request_body = SecretChange,
    responses((status = 200, body = SecretView))
)]
pub(crate) async fn own(
    State(web): State<Web>,
    caller: Caller,
    Path(secret): Path<String>,
    expected: IfMatch,
    Json(change): Json<SecretChange>,
) -> ApiResult<Tagged<SecretView>> {
    let owner = Owner::User(caller.user.id.clone());
    update(&web, &caller, owner, &secret, expected, change).await
}

async fn update(
    web: &Web,
    caller: &Caller,
    owner: Owner,
    name: &str,
    IfMatch(expected): IfMatch,
    change: SecretChange,
) -> ApiResult<Tagged<SecretView>> {
    let missing = || ApiError::not_found("secret", name);
    let before = web.store().secret(&owner, name).await?.ok_or_else(missing)?;
    let mut secret =
        SealedSecret { updated_at: web.now(), updated_by: caller.user.name.clone(), ..before.clone() };
    let mut found = Found::default();
    if let Some(value) = &change.value {
        check_value(&mut found, value);
        secret.sealed = web.keys().sealing.seal(web.random(), &owner, name, value);
    }
    if let Some(description) = change.description {
        found.text("/description", &description, DESCRIPTION);
        secret.description = description;
    }
    found.refuse()?;
    let mut after = audited(&secret);
    after["value_changed"] = change.value.is_some().into();
    let entry = audit::entry(web, caller, "secret.update", name).before(audited(&before)).after(after);
    // Values kept from the read above must not have changed before the write.
    let expected = Some(expected.unwrap_or(before.revision));
    let done = web.store().update_secret(&secret, expected, &entry).await?;
    secret.revision = changed(done, "secret", name)?;
    Ok(Tagged(secret.revision, secret.into()))
}
