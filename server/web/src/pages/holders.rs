//! `GET /holders`: who holds what now. The script reads it from the API and keeps it true.

use askama::Template;
use axum::response::Response;

use super::{Frame, html};
use crate::error::ApiResult;

#[derive(Template)]
#[template(path = "monitoring/holders.html")]
struct HoldersPage {
    frame: Frame,
}

/// The page.
pub(crate) async fn page(frame: Frame) -> ApiResult<Response> {
    html(&HoldersPage { frame })
}
