//! `GET /clusters/{cluster}/nodes`

use axum::extract::State;

use super::view::MonitoredNodeView;
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::{Json, Path, Query};
use crate::monitoring;
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// The nodes of a cluster with their cards, by name. Names of tasks of projects that the caller is no member of are not
/// told.
#[utoipa::path(
    get,
    path = "/clusters/{cluster}/nodes",
    tag = "monitoring",
    params(("cluster" = String, Path), PageQuery),
    responses((status = 200, body = Page<MonitoredNodeView>))
)]
pub(crate) async fn nodes(
    State(web): State<Web>,
    caller: Caller,
    Path(name): Path<String>,
    Query(page): Query<PageQuery>,
) -> ApiResult<Json<Page<MonitoredNodeView>>> {
    Ok(Json(monitoring::nodes(&web, &caller, &name, &page).await?))
}
