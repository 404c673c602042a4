//! `POST /projects/{project}/registries`

use axum::extract::State;
use axum::http::StatusCode;
use cubeloom_domain::belongings::Registry;
use cubeloom_store::Created;

use super::view::{NewRegistry, RegistryView, audited, check};
use crate::audit;
use crate::auth::Caller;
use crate::check::Found;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::Tagged;
use crate::extract::{Json, Path};
use crate::state::Web;

/// Adds a registry to a project.
#[utoipa::path(
    post,
    path = "/projects/{project}/registries",
    tag = "registries",
    params(("project" = String, Path)),
    request_body = NewRegistry,
    responses(
        (status = 201, body = RegistryView, headers(("ETag" = String))),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn create(
    State(web): State<Web>,
    caller: Caller,
    Path(project): Path<String>,
    Json(new): Json<NewRegistry>,
) -> ApiResult<(StatusCode, Tagged<RegistryView>)> {
    let mut found = Found::default();
    found.name("/name", &new.name, 63);
    let NewRegistry { name, host, user, secret } = new;
    let registry = Registry { project, name, host, user, secret, created_at: web.now(), revision: 1 };
    check(&web, &registry, found).await?;
    let entry = audit::entry(&web, &caller, "registry.create", &registry.name).after(audited(&registry));
    match web.store().create_registry(&registry, &entry).await? {
        Created::Yes => Ok((StatusCode::CREATED, Tagged(1, registry.into()))),
        Created::Exists => Err(ApiError::conflict(format!(
            "the registry `{}` already exists: choose another name",
            registry.name
        ))),
    }
}
