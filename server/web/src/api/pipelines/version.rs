//! `GET /projects/{project}/pipelines/{pipeline}/versions/{version}`

use axum::extract::State;

use super::VersionView;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Gets one version of a pipeline with its document.
///
/// Versions are immutable and are kept after the pipeline is deleted.
#[utoipa::path(
    get,
    path = "/projects/{project}/pipelines/{pipeline}/versions/{version}",
    tag = "pipelines",
    params(("project" = String, Path), ("pipeline" = String, Path), ("version" = u32, Path)),
    responses(
        (status = 200, body = VersionView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn version(
    State(web): State<Web>,
    Path((project, name, version)): Path<(String, String, u32)>,
) -> ApiResult<Json<VersionView>> {
    let found = web.store().pipeline(&project, &name, version).await?;
    let missing = || ApiError::not_found("version", format!("{name}@{version}"));
    Ok(Json(found.ok_or_else(missing)?.into()))
}
