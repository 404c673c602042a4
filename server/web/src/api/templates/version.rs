//! `GET /templates/{template}/versions/{version}`

use axum::extract::State;
use cubeloom_compiler::newest_template;

use super::TemplateView;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::state::Web;
use crate::templates::beside;

/// Returns a version of a task template.
#[utoipa::path(
    get,
    path = "/templates/{template}/versions/{version}",
    tag = "templates",
    params(("template" = String, Path), ("version" = String, Path)),
    responses(
        (status = 200, body = TemplateView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn version(
    State(web): State<Web>,
    Path((name, version)): Path<(String, String)>,
) -> ApiResult<Json<TemplateView>> {
    Ok(Json(detail(&web, name, Some(version)).await?))
}

/// A template in this version or the newest.
///
/// # Errors
/// The template or version does not exist.
pub(crate) async fn detail(web: &Web, name: String, version: Option<String>) -> ApiResult<TemplateView> {
    let set = web.templates();
    // Reads files of the template's folder, which blocks.
    let work = move || {
        let versions = set.get(&name).ok_or_else(|| ApiError::not_found("task template", &name))?;
        let found = match &version {
            Some(version) => versions.values().find(|found| found.template.version == *version),
            None => newest_template(versions),
        };
        let missing =
            || ApiError::not_found("version", format!("{name}@{}", version.as_deref().unwrap_or("")));
        let found = found.ok_or_else(missing)?;
        Ok(TemplateView::new(found, versions, beside(found)))
    };
    tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)?
}
