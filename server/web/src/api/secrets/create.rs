//! `POST /projects/{project}/secrets`, `POST /me/secrets`

use axum::extract::State;
use axum::http::StatusCode;
use cubeloom_domain::belongings::{Owner, SealedSecret};
use cubeloom_store::Created;

use super::view::{DESCRIPTION, NewSecret, SecretView, audited, check_value};
use crate::audit;
use crate::auth::Caller;
use crate::check::Found;
use crate::error::{ApiError, ApiResult};
use crate::etag::Tagged;
use crate::extract::{Json, Path};
use crate::state::Web;

/// Creates a secret of a project.
///
/// The value is stored encrypted.
#[utoipa::path(
    post,
    operation_id = "create",
    path = "/projects/{project}/secrets",
    tag = "secrets",
    params(("project" = String, Path, description = "The project's name")),
    request_body = NewSecret,
    responses((status = 201, body = SecretView), (status = 409, description = "The name is taken"))
)]
pub(crate) async fn in_project(
    State(web): State<Web>,
    caller: Caller,
    Path(project): Path<String>,
    Json(secret): Json<NewSecret>,
) -> ApiResult<(StatusCode, Tagged<SecretView>)> {
    create(&web, &caller, Owner::Project(project), secret).await
}

/// Creates a personal secret of the caller.
///
/// The value is stored encrypted.
#[utoipa::path(
    post,
    operation_id = "create",
    path = "/me/secrets",
    tag = "secrets",
    request_body = NewSecret,
    responses((status = 201, body = SecretView), (status = 409, description = "The name is taken"))
)]
pub(crate) async fn own(
    State(web): State<Web>,
    caller: Caller,
    Json(secret): Json<NewSecret>,
) -> ApiResult<(StatusCode, Tagged<SecretView>)> {
    let owner = Owner::User(caller.user.id.clone());
    create(&web, &caller, owner, secret).await
}

async fn create(
    web: &Web,
    caller: &Caller,
    owner: Owner,
    new: NewSecret,
) -> ApiResult<(StatusCode, Tagged<SecretView>)> {
    let mut found = Found::default();
    found.name("/name", &new.name, 63);
    check_value(&mut found, &new.value);
    found.text("/description", &new.description, DESCRIPTION);
    found.refuse()?;
    let now = web.now();
    let sealed = web.keys().sealing.seal(web.random(), &owner, &new.name, &new.value);
    let secret = SealedSecret {
        owner,
        sealed,
        name: new.name,
        description: new.description,
        created_at: now,
        updated_at: now,
        updated_by: caller.user.name.clone(),
        revision: 1,
    };
    let entry = audit::entry(web, caller, "secret.create", &secret.name).after(audited(&secret));
    match web.store().create_secret(&secret, &entry).await? {
        Created::Yes => Ok((StatusCode::CREATED, Tagged(1, secret.into()))),
        Created::Exists => Err(ApiError::conflict(format!(
            "the secret `{}` already exists: replace its value, or choose another name",
            secret.name
        ))),
    }
}
