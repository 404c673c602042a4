//! `GET /users`

use axum::extract::State;
use cubeloom_store::PageOf;
use serde::Deserialize;
use utoipa::IntoParams;

use super::UserView;
use crate::error::ApiResult;
use crate::extract::{Json, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Which people are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Wanted {
    /// Only those whose name, display name or address contains this.
    pub text: Option<String>,
}

/// Everybody with an account, by name.
#[utoipa::path(
    get,
    path = "/users",
    tag = "people",
    params(Wanted, PageQuery),
    responses((status = 200, body = Page<UserView>))
)]
pub(crate) async fn list(
    State(web): State<Web>,
    Query(wanted): Query<Wanted>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<UserView>>> {
    let limit = query.limit()?;
    let page = PageOf { after: query.after()?, limit: limit + 1 };
    let text = wanted.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let users = web.store().users(&page, text).await?;
    Ok(Json(Page::of(users, limit, |user| user.name.clone()).map(UserView::from)))
}
