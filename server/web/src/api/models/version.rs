//! `GET /projects/{project}/models/{model}/versions/{version}`

use axum::extract::State;

use super::ModelVersionView;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::state::Web;

/// One version of a model: where it lies, how good it is, and where it comes from.
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
    let model = web.store().model(&project, &name).await?;
    let model = model.ok_or_else(|| ApiError::not_found("model", &name))?;
    let found = web.store().model_version(&project, &name, version).await?;
    let found = found.ok_or_else(|| ApiError::not_found("version", format!("{name}/{version}")))?;
    Ok(Json(ModelVersionView::new(found, &model)))
}
