//! `GET /projects/{project}/pipelines/{pipeline}/compare`

use axum::extract::State;
use cubeloom_compiler::parse_pipeline;
use cubeloom_domain::state::RunState;
use cubeloom_store::RunFilter;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::VersionView;
use crate::api::runs::view::RunView;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::pipelines::{Difference, StructureView, difference, structure};
use crate::runs::reader;
use crate::state::Web;

/// The two versions to compare.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CompareQuery {
    /// Old version.
    pub from: u32,
    /// New value.
    pub to: u32,
}

/// Differences between two versions.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VersionsComparisonView)]
pub struct ComparisonView {
    /// Old version.
    pub from: VersionView,
    /// New value.
    pub to: VersionView,
    /// Semantic differences. Omitted if this release of Cubeloom cannot read one of the versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structure: Option<StructureView>,
    /// Differences in the text of the document.
    pub text: Difference,
    /// Whether the code folders differ.
    pub code_differs: bool,
    /// Most recent finished run of the old version. `GET /runs/{run}/compare` compares its duration, usage and
    /// results with those of the run of the new version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_run: Option<RunView>,
    /// Most recent finished run of the new version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_run: Option<RunView>,
}

/// Compares two versions of a pipeline.
///
/// The response contains the differences in tasks, parameters, settings and text, and a run of each version.
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
/// A version does not exist.
pub(crate) async fn compare_versions(
    web: &Web,
    project: &str,
    name: &str,
    (from, to): (u32, u32),
) -> ApiResult<ComparisonView> {
    let missing = |version| move || ApiError::not_found("version", format!("{name}@{version}"));
    let old = web.store().pipeline(project, name, from).await?.ok_or_else(missing(from))?;
    let new = web.store().pipeline(project, name, to).await?.ok_or_else(missing(to))?;
    let from_run = newest_run(web, project, name, from).await?;
    let to_run = newest_run(web, project, name, to).await?;
    let work = move || -> Result<ComparisonView, serde_json::Error> {
        let names = (format!("version {from}"), format!("version {to}"));
        let text = difference(&old.document, &new.document, (&names.0, &names.1));
        let structure = match (parse_pipeline(&old.document), parse_pipeline(&new.document)) {
            (Ok(old), Ok(new)) => Some(structure(&old.pipeline, &new.pipeline)?),
            _ => None,
        };
        let code_differs = old.code != new.code;
        let (from, to) = (VersionView::from(old), VersionView::from(new));
        Ok(ComparisonView { from, to, structure, text, code_differs, from_run, to_run })
    };
    let found = tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)?;
    found.map_err(ApiError::internal)
}

/// The newest ended run of a version. Active runs are not comparable yet.
async fn newest_run(web: &Web, project: &str, name: &str, version: u32) -> ApiResult<Option<RunView>> {
    let filter = RunFilter {
        projects: Some(vec![project.to_owned()]),
        pipeline: Some(name.to_owned()),
        version: Some(version),
        states: RunState::ALL.into_iter().filter(|state| state.is_final()).collect(),
        limit: Some(1),
        ..RunFilter::default()
    };
    match web.store().runs(&filter).await?.first() {
        Some(record) => Ok(Some(reader::shown(web, record).await?)),
        None => Ok(None),
    }
}
