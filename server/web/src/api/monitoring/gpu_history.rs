//! `GET /clusters/{cluster}/gpu-history`

use axum::extract::State;

use super::gpu_view::{GpuHistoryQuery, GpuHistoryView};
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::monitoring;
use crate::state::Web;

/// Returns the GPUs of a cluster over time: allocated and used GPUs, power, and the queue.
///
/// The server samples each cluster with GPUs once a minute. It keeps a value per minute for 26 hours, per 15 minutes
/// for 8 days and per 2 hours for 100 days. The response has about 365 intervals, or 125 if it is grouped.
#[utoipa::path(
    get,
    path = "/clusters/{cluster}/gpu-history",
    tag = "monitoring",
    params(("cluster" = String, Path), GpuHistoryQuery),
    responses(
        (status = 200, body = GpuHistoryView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn gpu_history(
    State(web): State<Web>,
    caller: Caller,
    Path(cluster): Path<String>,
    Query(query): Query<GpuHistoryQuery>,
) -> ApiResult<Json<GpuHistoryView>> {
    Ok(Json(monitoring::gpu_history(&web, &caller, &cluster, &query).await?))
}
