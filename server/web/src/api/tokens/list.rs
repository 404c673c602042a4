//! `GET /tokens`

use axum::extract::State;

use super::TokenView;
use super::view::page;
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::{Json, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Lists your tokens, newest first.
#[utoipa::path(
    get,
    path = "/tokens",
    tag = "people",
    params(PageQuery),
    responses((status = 200, body = Page<TokenView>))
)]
pub(crate) async fn list(
    State(web): State<Web>,
    caller: Caller,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<TokenView>>> {
    let (limit, after) = (query.limit()?, query.after()?);
    let tokens = web.store().tokens(&caller.user.id).await?;
    Ok(Json(page(tokens, limit, after.as_deref())))
}
