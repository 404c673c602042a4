//! `GET /projects/{project}/models/{model}/versions`

use axum::extract::State;
use cubeloom_domain::model::Model;
use cubeloom_store::PageOf;

use super::{ModelVersionView, find};
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Lists the versions of a model, newest first.
#[utoipa::path(
    get,
    path = "/projects/{project}/models/{model}/versions",
    tag = "models",
    params(("project" = String, Path), ("model" = String, Path), PageQuery),
    responses(
        (status = 200, body = Page<ModelVersionView>),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn versions(
    State(web): State<Web>,
    Path((project, name)): Path<(String, String)>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<ModelVersionView>>> {
    let model = find(&web, &project, &name).await?;
    Ok(Json(version_page(&web, &model, &query).await?))
}

/// A page of a model's versions.
///
/// # Errors
/// The query is invalid.
pub(crate) async fn version_page(
    web: &Web,
    model: &Model,
    query: &PageQuery,
) -> ApiResult<Page<ModelVersionView>> {
    let limit = query.limit()?;
    let after = query.after()?.map(|text| text.parse::<u32>()).transpose();
    let after = after.map_err(|_| ApiError::field("/cursor", "the cursor is not from this list"))?;
    let page = PageOf { after, limit: limit + 1 };
    let found = web.store().model_versions(&model.project, &model.name, &page).await?;
    let found = Page::of(found, limit, |version| version.version.to_string());
    Ok(found.map(|version| ModelVersionView::new(version, model)))
}
