//! `GET /projects/{project}/models/{model}`

use axum::extract::State;
use cubeloom_domain::model::Model;

use super::ModelView;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::Tagged;
use crate::extract::Path;
use crate::state::Web;

/// Returns a model with its newest version.
#[utoipa::path(
    get,
    path = "/projects/{project}/models/{model}",
    tag = "models",
    params(("project" = String, Path), ("model" = String, Path)),
    responses(
        (status = 200, body = ModelView, headers(("ETag" = String))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn get(
    State(web): State<Web>,
    Path((project, name)): Path<(String, String)>,
) -> ApiResult<Tagged<ModelView>> {
    let model = model(&web, &project, &name).await?;
    Ok(Tagged(model.revision, model))
}

/// A model of a project, without its versions.
///
/// # Errors
/// The model does not exist.
pub(crate) async fn find(web: &Web, project: &str, name: &str) -> ApiResult<Model> {
    let found = web.store().model(project, name).await?;
    found.ok_or_else(|| ApiError::not_found("model", name))
}

/// View of a project's model.
///
/// # Errors
/// The model does not exist.
pub(crate) async fn model(web: &Web, project: &str, name: &str) -> ApiResult<ModelView> {
    let found = web.store().model_summary(project, name).await?;
    Ok(found.ok_or_else(|| ApiError::not_found("model", name))?.into())
}
