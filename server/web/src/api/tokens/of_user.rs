//! `GET /users/{user}/tokens`

use axum::extract::State;

use super::TokenView;
use super::view::page;
use crate::api::users::person;
use crate::error::ApiResult;
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Lists the tokens of a user, newest first.
#[utoipa::path(
    get,
    path = "/users/{user}/tokens",
    tag = "people",
    params(("user" = String, Path, description = "A person's name, or their id"), PageQuery),
    responses((status = 200, body = Page<TokenView>))
)]
pub(crate) async fn of_user(
    State(web): State<Web>,
    Path(user): Path<String>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<TokenView>>> {
    let (limit, after) = (query.limit()?, query.after()?);
    let user = person(&web, &user).await?;
    let tokens = web.store().tokens(&user.id).await?;
    Ok(Json(page(tokens, limit, after.as_deref())))
}
