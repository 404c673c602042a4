//! `GET /clusters/{cluster}/gpu-history`: GPUs over time, the queue, and idle GPU-hours. The script reads and
//! refreshes them through the API.

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::cluster::known;
use super::{Frame, html};
use crate::error::ApiResult;
use crate::extract::Path;
use crate::state::Web;

#[derive(Template)]
#[template(path = "monitoring/gpu-history.html")]
struct GpuHistoryPage {
    frame: Frame,
    cluster: String,
}

pub(crate) async fn page(
    State(web): State<Web>,
    frame: Frame,
    Path(cluster): Path<String>,
) -> ApiResult<Response> {
    known(&web, &cluster)?;
    html(&GpuHistoryPage { frame, cluster })
}
