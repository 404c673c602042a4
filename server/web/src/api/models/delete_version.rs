//! `DELETE /projects/{project}/models/{model}/versions/{version}`

use axum::extract::State;
use axum::http::StatusCode;
use cubeloom_store::VersionChange;

use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::Path;
use crate::state::Web;

/// Deletes a version that no alias points to.
///
/// Its files stay in the workspace. Its number is not reused.
#[utoipa::path(
    delete,
    path = "/projects/{project}/models/{model}/versions/{version}",
    tag = "models",
    params(("project" = String, Path), ("model" = String, Path), ("version" = u32, Path)),
    responses(
        (status = 204),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn delete_version(
    State(web): State<Web>,
    caller: Caller,
    Path((project, name, version)): Path<(String, String, u32)>,
) -> ApiResult<StatusCode> {
    let entry = audit::entry(&web, &caller, "model.version.delete", format!("{name}/{version}"));
    match web.store().delete_model_version((&project, &name), version, &entry).await? {
        VersionChange::Done(_) => Ok(StatusCode::NO_CONTENT),
        VersionChange::NoModel => Err(ApiError::not_found("model", &name)),
        VersionChange::NoVersion => Err(ApiError::not_found("version", format!("{name}/{version}"))),
        VersionChange::HasAlias => Err(ApiError::conflict(format!(
            "an alias points to version {version}: move it to another version first"
        ))),
    }
}
