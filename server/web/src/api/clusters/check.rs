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

/// For whom a cluster is checked.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CheckQuery {
    /// The project; `default` when absent.
    pub project: Option<String>,
}

/// What a cluster offers to a project's jobs, and what is missing.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ClusterCheck {
    /// Its own version; absent when it did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Why it did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What is installed there.
    pub parts: Vec<PartView>,
    /// What becomes of the tasks of each framework.
    pub frameworks: Vec<FrameworkView>,
    /// What measures it; empty where no Prometheus is named.
    pub exporters: Vec<ExporterView>,
    /// What keeps jobs of the project from running, each with what to do.
    pub problems: Vec<String>,
}

/// Something that a cluster may have.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PartView {
    /// What it is called.
    pub name: String,
    /// What it is good for.
    pub purpose: String,
    /// Whether it is there.
    pub found: bool,
    /// Its version, where that can be found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// Something that measures a cluster.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ExporterView {
    /// What it is called.
    pub name: String,
    /// What it is good for.
    pub purpose: String,
    /// Whether Prometheus has series of it.
    pub found: bool,
}

/// What becomes of the tasks of a framework.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FrameworkView {
    /// The framework.
    pub name: String,
    /// The kind of object that a job of it becomes.
    pub object: String,
    /// Why that one.
    pub why: String,
}

/// Asks the cluster what it has, and says what a project's jobs become there and what they miss.
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
