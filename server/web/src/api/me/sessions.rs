//! `GET /me/sessions`

use axum::extract::State;

use super::SessionView;
use crate::auth::{Caller, session};
use crate::error::ApiResult;
use crate::extract::{Json, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Lists the browsers in which you are signed in, newest first.
#[utoipa::path(
    get,
    path = "/me/sessions",
    tag = "people",
    params(PageQuery),
    responses((status = 200, body = Page<SessionView>))
)]
pub(crate) async fn sessions(
    State(web): State<Web>,
    caller: Caller,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<SessionView>>> {
    let (limit, after, now) = (query.limit()?, query.after()?, web.now());
    let found = web.store().sessions(&caller.user.id, now).await?.into_iter();
    let live = found.filter(|found| session::live(found, now));
    let later = live.filter(|found| after.as_deref().is_none_or(|after| found.id.as_str() < after));
    let views = later.take(limit + 1).map(|found| SessionView::new(found, &caller)).collect();
    Ok(Json(Page::of(views, limit, |view: &SessionView| view.id.clone())))
}
