//! `DELETE /projects/{project}/registries/{registry}`

use axum::extract::State;
use axum::http::StatusCode;

use super::view::audited;
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult};
use crate::etag::{IfMatch, changed};
use crate::extract::Path;
use crate::state::Web;

/// Removes a registry from a project.
#[utoipa::path(
    delete,
    path = "/projects/{project}/registries/{registry}",
    tag = "registries",
    params(("project" = String, Path), ("registry" = String, Path), ("If-Match" = String, Header)),
    responses((status = 204))
)]
pub(crate) async fn delete(
    State(web): State<Web>,
    caller: Caller,
    Path((project, name)): Path<(String, String)>,
    IfMatch(expected): IfMatch,
) -> ApiResult<StatusCode> {
    let missing = || ApiError::not_found("registry", &name);
    let registry = web.store().registry(&project, &name).await?.ok_or_else(missing)?;
    let entry = audit::entry(&web, &caller, "registry.delete", &name).before(audited(&registry));
    changed(web.store().delete_registry(&project, &name, expected, &entry).await?, "registry", &name)?;
    Ok(StatusCode::NO_CONTENT)
}
