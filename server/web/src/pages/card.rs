//! `GET /clusters/{cluster}/gpus/{gpu}`: one GPU and its last hour. The script reads and refreshes it through
//! the API. While metrics are unavailable, any UUID has a page.

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::{Frame, html};
use crate::error::{ApiError, ApiResult};
use crate::extract::Path;
use crate::monitoring;
use crate::state::Web;

#[derive(Template)]
#[template(path = "monitoring/card.html")]
struct CardPage {
    frame: Frame,
    cluster: String,
    uuid: String,
}

pub(crate) async fn page(
    State(web): State<Web>,
    frame: Frame,
    Path((cluster, uuid)): Path<(String, String)>,
) -> ApiResult<Response> {
    if !monitoring::may_have(&web, &cluster, &uuid).await? {
        return Err(ApiError::not_found("card", &uuid));
    }
    html(&CardPage { frame, cluster, uuid })
}
