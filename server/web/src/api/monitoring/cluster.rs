//! `GET /clusters/{cluster}/monitoring`

use axum::extract::State;

use super::view::MonitoringView;
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::{Json, Path};
use crate::monitoring;
use crate::state::Web;
use crate::texts::Lang;
use crate::told::told;

/// Returns the capacity of a cluster, the requested resources and their usage.
///
/// For projects that the caller is not a member of, only the total is returned. Metrics are read at most every ten
/// seconds.
#[utoipa::path(
    get,
    path = "/clusters/{cluster}/monitoring",
    tag = "monitoring",
    params(("cluster" = String, Path)),
    responses((status = 200, body = MonitoringView))
)]
pub(crate) async fn monitoring(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path(name): Path<String>,
) -> ApiResult<Json<MonitoringView>> {
    Ok(Json(told(lang, monitoring::overview(&web, &caller, &name).await?)))
}
