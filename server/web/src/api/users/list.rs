//! `GET /users`

use axum::extract::State;
use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::User;
use cubeloom_store::{UserFilter, UserOrder};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::UserView;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Query};
use crate::page::{Page, PageQuery};
use crate::sort::Sort;
use crate::state::Web;

/// Sort keys of users.
#[derive(Clone, Copy, Debug)]
enum By {
    Name,
    Seen,
    Created,
}

/// Values of `sort`.
const ORDERS: [(&str, By); 3] = [("name", By::Name), ("seen", By::Seen), ("created", By::Created)];

/// Filters and order of users.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Wanted {
    /// Text to search for in the name, display name or email address.
    pub text: Option<String>,
    /// Sort order: `name`, `seen` (last activity) or `created`. Prefix with `-` for descending order. With `seen`,
    /// users without any activity come first.
    pub sort: Option<String>,
}

/// Lists all user accounts, by name unless `sort` is set.
#[utoipa::path(
    get,
    path = "/users",
    tag = "people",
    params(Wanted, PageQuery),
    responses(
        (status = 200, body = Page<UserView>),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn list(
    State(web): State<Web>,
    Query(wanted): Query<Wanted>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<UserView>>> {
    Ok(Json(find(&web, &wanted, &query).await?))
}

/// One page of users. Also used by pages.
///
/// # Errors
/// The query is invalid.
pub(crate) async fn find(web: &Web, wanted: &Wanted, page: &PageQuery) -> ApiResult<Page<UserView>> {
    let limit = page.limit()?;
    let sort = Sort::read(wanted.sort.as_deref(), &ORDERS)?;
    let text = wanted.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let filter = UserFilter {
        text: text.map(ToOwned::to_owned),
        order: order(page, &sort)?,
        descending: sort.descending,
        limit: Some(limit + 1),
    };
    let users = web.store().users(&filter).await?;
    Ok(Page::sorted(users, limit, &sort.word(), |user| place(user, sort.by)).map(UserView::from))
}

/// The order, from the end of the previous page.
fn order(page: &PageQuery, sort: &Sort<By>) -> ApiResult<UserOrder> {
    let word = sort.word();
    let timed = || -> ApiResult<Option<(Timestamp, String)>> {
        Ok(page.place::<(i64, String)>(&word)?.map(|(at, name)| (Timestamp(at), name)))
    };
    Ok(match sort.by {
        By::Name => UserOrder::Name(page.place(&word)?),
        By::Seen => UserOrder::Seen(timed()?),
        By::Created => UserOrder::Created(timed()?),
    })
}

/// Position of a user in the list, which [`order`] reads.
fn place(user: &User, by: By) -> Value {
    match by {
        By::Name => json!(user.name),
        By::Seen => json!([user.seen_at.map_or(0, |at| at.0), user.name]),
        By::Created => json!([user.created_at.0, user.name]),
    }
}
