//! `GET /clusters/{cluster}`: a cluster's capacity, requests and usage. The script reads and refreshes them
//! through the API.

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::{Frame, html};
use crate::error::{ApiError, ApiResult};
use crate::extract::Path;
use crate::state::Web;

#[derive(Template)]
#[template(path = "monitoring/cluster.html")]
struct ClusterPage {
    frame: Frame,
    cluster: String,
}

pub(crate) async fn page(
    State(web): State<Web>,
    frame: Frame,
    Path(cluster): Path<String>,
) -> ApiResult<Response> {
    known(&web, &cluster)?;
    html(&ClusterPage { frame, cluster })
}

/// Fails if the cluster does not exist.
pub(super) fn known(web: &Web, cluster: &str) -> ApiResult<()> {
    web.clusters().get(cluster).map(|_| ()).ok_or_else(|| ApiError::not_found("cluster", cluster))
}
