//! `GET /runs/{run}/plan`

use axum::extract::State;
use cubeloom_domain::RunId;
use serde_json::Value;

use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::runs::reader;
use crate::state::Web;

/// Gets the resolved plan of a run.
///
/// The plan contains all values that were known when the run was started. Its format can change.
#[utoipa::path(
    get,
    path = "/runs/{run}/plan",
    tag = "runs",
    params(("run" = String, Path, description = "The run's id.")),
    responses(
        (status = 200, body = Object),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn plan(State(web): State<Web>, Path(run): Path<RunId>) -> ApiResult<Json<Value>> {
    reader::record(&web, &run).await?;
    let plan = reader::plan(&web, &run).await?;
    let value = tokio::task::spawn_blocking(move || serde_json::to_value(&*plan)).await;
    value.map_err(ApiError::internal)?.map(Json).map_err(ApiError::internal)
}
