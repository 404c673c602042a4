//! `DELETE /projects/{project}/volumes/{volume}`

use axum::extract::State;
use axum::http::StatusCode;

use super::view::audited;
use crate::audit;
use crate::auth::Caller;
use crate::belongings::WORKSPACE;
use crate::error::{ApiError, ApiResult};
use crate::etag::{IfMatch, changed};
use crate::extract::Path;
use crate::state::Web;

/// Removes a volume from the project.
///
/// Its content stays where it is.
#[utoipa::path(
    delete,
    path = "/projects/{project}/volumes/{volume}",
    tag = "volumes",
    params(("project" = String, Path), ("volume" = String, Path), ("If-Match" = String, Header)),
    responses((status = 204))
)]
pub(crate) async fn delete(
    State(web): State<Web>,
    caller: Caller,
    Path((project, name)): Path<(String, String)>,
    IfMatch(expected): IfMatch,
) -> ApiResult<StatusCode> {
    if name == WORKSPACE {
        return Err(ApiError::conflict("every project has the volume `workspace`: it cannot be removed"));
    }
    let missing = || ApiError::not_found("volume", &name);
    let volume = web.store().volume(&project, &name).await?.ok_or_else(missing)?;
    let keeping = web.store().project(&project).await?.map(|project| project.keeping);
    if keeping.is_some_and(|keeping| keeping.logs.as_ref() == Some(&name)) {
        let message =
            format!("the project's logs are copied into `{name}`: choose another volume for them first");
        return Err(ApiError::conflict(message));
    }
    let entry = audit::entry(&web, &caller, "volume.delete", &name).before(audited(&volume));
    changed(web.store().delete_volume(&project, &name, expected, &entry).await?, "volume", &name)?;
    Ok(StatusCode::NO_CONTENT)
}
