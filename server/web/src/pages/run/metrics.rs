//! Reported metrics. The script draws them from the API.

use askama::Template;
use axum::response::Response;

use super::head::Head;
use crate::error::ApiResult;
use crate::pages::{Frame, html};

#[derive(Template)]
#[template(path = "run/metrics.html")]
struct MetricsPage {
    frame: Frame,
    head: Head,
}

pub(super) fn page(frame: Frame, head: Head) -> ApiResult<Response> {
    html(&MetricsPage { frame, head })
}
