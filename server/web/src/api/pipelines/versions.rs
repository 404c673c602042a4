//! `GET /projects/{project}/pipelines/{pipeline}/versions`

use axum::extract::State;

use super::VersionView;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Lists the versions of a pipeline without their documents, newest first.
#[utoipa::path(
    get,
    path = "/projects/{project}/pipelines/{pipeline}/versions",
    tag = "pipelines",
    params(("project" = String, Path), ("pipeline" = String, Path), PageQuery),
    responses(
        (status = 200, body = Page<VersionView>),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn versions(
    State(web): State<Web>,
    Path((project, name)): Path<(String, String)>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<VersionView>>> {
    Ok(Json(version_page(&web, &project, &name, &query).await?))
}

/// A page of a pipeline's versions.
///
/// # Errors
/// The pipeline does not exist, or the query is invalid.
pub(crate) async fn version_page(
    web: &Web,
    project: &str,
    name: &str,
    query: &PageQuery,
) -> ApiResult<Page<VersionView>> {
    let limit = query.limit()?;
    let before = query.after()?.map(|text| text.parse::<u32>());
    let before =
        before.transpose().map_err(|_| ApiError::field("/cursor", "the cursor is not from this list"))?;
    if web.store().newest(project, name).await?.is_none() {
        return Err(ApiError::not_found("pipeline", name));
    }
    let found = web.store().versions(project, name, before, limit + 1).await?;
    let found = Page::of(found, limit, |version| version.version.to_string());
    Ok(found.map(|version| VersionView { document: None, ..VersionView::from(version) }))
}
