//! `GET /idle-gpus`

use axum::extract::State;

use super::gpu_view::{IdleGpusQuery, IdleGpusView};
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Query};
use crate::monitoring;
use crate::state::Web;

/// Returns the GPU-hours that were allocated and not used, on all clusters, most wasteful first.
///
/// GPUs whose utilization is unknown do not count as idle. Projects that the caller is not a member of are summed.
#[utoipa::path(
    get,
    path = "/idle-gpus",
    tag = "monitoring",
    params(IdleGpusQuery),
    responses(
        (status = 200, body = IdleGpusView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn idle_gpus(
    State(web): State<Web>,
    caller: Caller,
    Query(query): Query<IdleGpusQuery>,
) -> ApiResult<Json<IdleGpusView>> {
    Ok(Json(monitoring::idle_gpus(&web, &caller, &query).await?))
}
