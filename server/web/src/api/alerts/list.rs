//! `GET /projects/{project}/alerts`

use axum::extract::State;

use super::view::ChannelView;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Lists the channels of a project, oldest first.
#[utoipa::path(
    get,
    path = "/projects/{project}/alerts",
    tag = "alerts",
    params(("project" = String, Path), PageQuery),
    responses(
        (status = 200, body = Page<ChannelView>),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn list(
    State(web): State<Web>,
    Path(project): Path<String>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<ChannelView>>> {
    let channels = web.store().alert_channels(&project).await?;
    let page = Page::cut(channels, &query, |channel| channel.id.clone())?;
    Ok(Json(page.map(ChannelView::from)))
}
