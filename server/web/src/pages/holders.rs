//! `GET /holders`: current allocations. The script reads and refreshes them through the API.

use askama::Template;
use axum::response::Response;

use super::{Frame, html};
use crate::error::ApiResult;

#[derive(Template)]
#[template(path = "monitoring/holders.html")]
struct HoldersPage {
    frame: Frame,
}

pub(crate) async fn page(frame: Frame) -> ApiResult<Response> {
    html(&HoldersPage { frame })
}
