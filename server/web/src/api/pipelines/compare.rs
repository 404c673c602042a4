//! `GET /projects/{project}/pipelines/{pipeline}/compare`

use axum::extract::State;
use cubeloom_compiler::parse_pipeline;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::VersionView;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::pipelines::{Difference, StructureView, difference, structure};
use crate::state::Web;

/// Which two versions.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CompareQuery {
    /// The old one.
    pub from: u32,
    /// The new one.
    pub to: u32,
}

/// What differs between two versions.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VersionsComparisonView)]
pub struct ComparisonView {
    /// The old one.
    pub from: VersionView,
    /// The new one.
    pub to: VersionView,
    /// What differs in meaning; absent when one of them cannot be read by this version of Cubeloom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structure: Option<StructureView>,
    /// What differs in the text.
    pub text: Difference,
    /// Whether the folders of code differ.
    pub code_differs: bool,
}

/// Compares two versions of a pipeline: tasks, parameters, settings, and the text.
#[utoipa::path(
    get,
    path = "/projects/{project}/pipelines/{pipeline}/compare",
    tag = "pipelines",
    params(("project" = String, Path), ("pipeline" = String, Path), CompareQuery),
    responses(
        (status = 200, body = ComparisonView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn compare(
    State(web): State<Web>,
    Path((project, name)): Path<(String, String)>,
    Query(query): Query<CompareQuery>,
) -> ApiResult<Json<ComparisonView>> {
    Ok(Json(compare_versions(&web, &project, &name, (query.from, query.to)).await?))
}

/// Compares two versions.
///
/// # Errors
/// When there is no such version, or the database does not answer.
pub(crate) async fn compare_versions(
    web: &Web,
    project: &str,
    name: &str,
    (from, to): (u32, u32),
) -> ApiResult<ComparisonView> {
    let missing = |version| move || ApiError::not_found("version", format!("{name}@{version}"));
    let old = web.store().pipeline(project, name, from).await?.ok_or_else(missing(from))?;
    let new = web.store().pipeline(project, name, to).await?.ok_or_else(missing(to))?;
    let work = move || -> Result<ComparisonView, serde_json::Error> {
        let names = (format!("version {from}"), format!("version {to}"));
        let text = difference(&old.document, &new.document, (&names.0, &names.1));
        let structure = match (parse_pipeline(&old.document), parse_pipeline(&new.document)) {
            (Ok(old), Ok(new)) => Some(structure(&old.pipeline, &new.pipeline)?),
            _ => None,
        };
        let code_differs = old.code != new.code;
        let (from, to) = (VersionView::from(old), VersionView::from(new));
        Ok(ComparisonView { from, to, structure, text, code_differs })
    };
    let found = tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)?;
    found.map_err(ApiError::internal)
}
