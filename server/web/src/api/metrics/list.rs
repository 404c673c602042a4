//! `GET /runs/{run}/metrics`

use axum::extract::State;
use cubeloom_domain::RunId;
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::MetricsView;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::runs::{Reader, series};
use crate::state::Web;

/// Filters of metrics.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct MetricsQuery {
    /// Returns only the entries of this task.
    pub task: Option<String>,
    /// Returns only the metrics with this name.
    pub name: Option<String>,
}

/// Lists the metrics reported by a run's programs, as series over their steps.
///
/// Includes metrics of runs in progress.
#[utoipa::path(
    get,
    path = "/runs/{run}/metrics",
    tag = "artifacts",
    params(("run" = String, Path, description = "The run's id."), MetricsQuery),
    responses(
        (status = 200, body = MetricsView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn metrics(
    State(web): State<Web>,
    Path(run): Path<RunId>,
    Query(query): Query<MetricsQuery>,
) -> ApiResult<Json<MetricsView>> {
    let reader = Reader::open(&web, &run).await?;
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let task = given(query.task).map(|name| reader.find(&name)).transpose()?;
    let name = given(query.name);
    Ok(Json(series::metrics(&web, &run, &reader.plan, task, name.as_deref()).await?))
}
