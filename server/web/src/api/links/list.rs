//! `GET /links`

use axum::extract::State;
use cubeloom_domain::identity::LinkPurpose;

use super::LinkView;
use crate::error::ApiResult;
use crate::extract::{Json, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Lists the unused links, newest first.
///
/// The single link for the first administrator is not listed.
#[utoipa::path(
    get,
    path = "/links",
    tag = "people",
    params(PageQuery),
    responses((status = 200, body = Page<LinkView>))
)]
pub(crate) async fn list(
    State(web): State<Web>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<LinkView>>> {
    let (limit, after) = (query.limit()?, query.after()?);
    let found = web.store().links(Some(web.now())).await?.into_iter();
    let usable = found.filter(|link| link.purpose != LinkPurpose::First);
    let later = usable.filter(|link| after.as_deref().is_none_or(|after| link.id.as_str() < after));
    let views = later.take(limit + 1).map(LinkView::from).collect();
    Ok(Json(Page::of(views, limit, |view: &LinkView| view.id.clone())))
}
