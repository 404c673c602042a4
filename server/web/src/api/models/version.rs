//! `GET /projects/{project}/models/{model}/versions/{version}`

use axum::extract::State;
use cubeloom_domain::model::{Model, ModelVersion};

use super::{ModelVersionView, find};
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Returns one version of a model: its location, quality and provenance.
#[utoipa::path(
    get,
    path = "/projects/{project}/models/{model}/versions/{version}",
    tag = "models",
    params(("project" = String, Path), ("model" = String, Path), ("version" = u32, Path)),
    responses(
        (status = 200, body = ModelVersionView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn version(
    State(web): State<Web>,
    Path((project, name, version)): Path<(String, String, u32)>,
) -> ApiResult<Json<ModelVersionView>> {
    let model = find(&web, &project, &name).await?;
    let found = find_version(&web, &model, version).await?;
    Ok(Json(ModelVersionView::new(found, &model)))
}

/// A version of a model.
///
/// # Errors
/// The version does not exist.
pub(crate) async fn find_version(web: &Web, model: &Model, version: u32) -> ApiResult<ModelVersion> {
    let found = web.store().model_version(&model.project, &model.name, version).await?;
    found.ok_or_else(|| ApiError::not_found("version", format!("{}/{version}", model.name)))
}
