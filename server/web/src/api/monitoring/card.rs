//! `GET /clusters/{cluster}/gpus/{gpu}`

use axum::extract::State;

use super::view::CardDetail;
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::{Json, Path};
use crate::monitoring;
use crate::state::Web;
use crate::texts::Lang;
use crate::told::told;

/// Returns one GPU by its UUID: its allocations, its last hour, and recommendations.
#[utoipa::path(
    get,
    path = "/clusters/{cluster}/gpus/{gpu}",
    tag = "monitoring",
    params(("cluster" = String, Path), ("gpu" = String, Path)),
    responses((status = 200, body = CardDetail))
)]
pub(crate) async fn gpu(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path((cluster, gpu)): Path<(String, String)>,
) -> ApiResult<Json<CardDetail>> {
    Ok(Json(told(lang, monitoring::card(&web, &caller, &cluster, &gpu).await?)))
}
