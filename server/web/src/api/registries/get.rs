//! `GET /projects/{project}/registries/{registry}`

use axum::extract::State;

use super::view::RegistryView;
use crate::error::{ApiError, ApiResult};
use crate::etag::Tagged;
use crate::extract::Path;
use crate::state::Web;

/// Gets a registry of a project.
#[utoipa::path(
    get,
    path = "/projects/{project}/registries/{registry}",
    tag = "registries",
    params(("project" = String, Path), ("registry" = String, Path)),
    responses((status = 200, body = RegistryView, headers(("ETag" = String))))
)]
pub(crate) async fn get(
    State(web): State<Web>,
    Path((project, name)): Path<(String, String)>,
) -> ApiResult<Tagged<RegistryView>> {
    let found = web.store().registry(&project, &name).await?;
    let registry = found.ok_or_else(|| ApiError::not_found("registry", &name))?;
    Ok(Tagged(registry.revision, registry.into()))
}
