//! `GET /clusters/{cluster}/check`

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::error::ApiResult;
use crate::extract::{Json, Path, Query};
use crate::state::Web;
use crate::surveys;
use crate::texts::Lang;
use crate::told::told;

/// The project for which a cluster is checked.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CheckQuery {
    /// Project. Defaults to `default`.
    pub project: Option<String>,
}

/// Capabilities of a cluster for a project's jobs, and missing components.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ClusterCheck {
    /// Version of the cluster. Omitted if the cluster did not respond.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Reason why the cluster did not respond.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Installed components.
    pub parts: Vec<PartView>,
    /// How the tasks of each framework run on the cluster.
    pub frameworks: Vec<FrameworkView>,
    /// Metrics exporters of the cluster. Empty when no Prometheus is configured.
    pub exporters: Vec<ExporterView>,
    /// Problems that prevent the project's jobs from running, each with a remedy.
    pub problems: Vec<String>,
}

/// Optional component of a cluster.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PartView {
    /// Name.
    pub name: String,
    /// Purpose of the component.
    pub purpose: String,
    /// Whether it is installed.
    pub found: bool,
    /// Version of the component, if it can be determined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// Metrics exporter of a cluster.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ExporterView {
    /// Name.
    pub name: String,
    /// Purpose of the component.
    pub purpose: String,
    /// Whether Prometheus has series from the exporter.
    pub found: bool,
}

/// How the tasks of a framework run on a cluster.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FrameworkView {
    /// Framework.
    pub name: String,
    /// Kind of the manifest that a job of the framework becomes.
    pub object: String,
    /// Reason for this kind.
    pub why: String,
}

/// Checks a cluster for the jobs of a project.
///
/// Returns the installed components, what the project's jobs become on the cluster, and what they lack.
#[utoipa::path(
    get,
    path = "/clusters/{cluster}/check",
    tag = "clusters",
    params(("cluster" = String, Path), CheckQuery),
    responses((status = 200, body = ClusterCheck))
)]
pub(crate) async fn check(
    State(web): State<Web>,
    lang: Lang,
    Path(name): Path<String>,
    Query(query): Query<CheckQuery>,
) -> ApiResult<Json<ClusterCheck>> {
    let project = query.project.as_deref().unwrap_or("default");
    Ok(Json(told(lang, surveys::check(&web, &name, project).await?)))
}
