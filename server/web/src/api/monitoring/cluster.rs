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

/// What a cluster has, what was asked for and what is used. Of projects that the caller is no member of, only the sum is
/// told. What is measured is read at most every ten seconds.
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
