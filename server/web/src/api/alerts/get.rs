//! `GET /projects/{project}/alerts/{channel}`

use axum::extract::State;

use super::of_route;
use super::view::ChannelView;
use crate::error::{ApiResult, ProblemDocument};
use crate::etag::Tagged;
use crate::extract::Path;
use crate::state::Web;

/// Returns a channel.
#[utoipa::path(
    get,
    path = "/projects/{project}/alerts/{channel}",
    tag = "alerts",
    params(("project" = String, Path), ("channel" = String, Path)),
    responses(
        (status = 200, body = ChannelView, headers(("ETag" = String))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn get(
    State(web): State<Web>,
    Path(names): Path<(String, String)>,
) -> ApiResult<Tagged<ChannelView>> {
    let channel = of_route(&web, &names).await?;
    Ok(Tagged(channel.revision, channel.into()))
}
