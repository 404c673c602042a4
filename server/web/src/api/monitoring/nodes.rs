//! `GET /clusters/{cluster}/nodes`

use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::MonitoredNodeView;
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::{Json, Path, Query};
use crate::monitoring;
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Page of the nodes. One page can contain all nodes of a large cluster.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct NodesQuery {
    /// Number of nodes, from 1 to 1,000. Defaults to 50.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Lists the nodes of a cluster with their GPUs, by name.
///
/// Task names of projects that the caller is not a member of are omitted.
#[utoipa::path(
    get,
    path = "/clusters/{cluster}/nodes",
    tag = "monitoring",
    params(("cluster" = String, Path), NodesQuery),
    responses((status = 200, body = Page<MonitoredNodeView>))
)]
pub(crate) async fn nodes(
    State(web): State<Web>,
    caller: Caller,
    Path(name): Path<String>,
    Query(NodesQuery { limit, cursor }): Query<NodesQuery>,
) -> ApiResult<Json<Page<MonitoredNodeView>>> {
    let page = PageQuery { limit, cursor };
    Ok(Json(monitoring::nodes(&web, &caller, &name, &page).await?))
}
