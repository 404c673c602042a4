//! `GET /users`: everybody with an account, and the links that nobody has used yet. For administrators.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use cubeloom_domain::identity::LinkPurpose;
use cubeloom_store::PageOf;
use serde::Deserialize;

use super::{Frame, html, with_query};
use crate::api::links::LinkView;
use crate::api::users::UserView;
use crate::error::ApiResult;
use crate::extract::Query;
use crate::page::{Page, PageQuery};
use crate::state::Web;

#[derive(Template)]
#[template(path = "users.html")]
struct UsersPage {
    frame: Frame,
    text: String,
    users: Vec<UserView>,
    /// The next page of them.
    next: Option<String>,
    links: Vec<LinkView>,
}

/// Who is looked for.
#[derive(Debug, Deserialize)]
pub(crate) struct Search {
    #[serde(default)]
    text: String,
    cursor: Option<String>,
}

/// The page.
pub(crate) async fn show(
    State(web): State<Web>,
    frame: Frame,
    Query(search): Query<Search>,
) -> ApiResult<Response> {
    let query = PageQuery { cursor: search.cursor, limit: None };
    let limit = query.limit()?;
    let wanted = PageOf { after: query.after()?, limit: limit + 1 };
    let text = search.text.trim();
    let found = web.store().users(&wanted, Some(text).filter(|text| !text.is_empty())).await?;
    let Page { items, next_cursor } = Page::of(found, limit, |user| user.name.clone()).map(UserView::from);
    let next = next_cursor.map(|cursor| with_query("/users", &[("text", text), ("cursor", &cursor)]));
    let open = web.store().links(Some(web.now())).await?.into_iter();
    let links = open.filter(|link| link.purpose != LinkPurpose::First).map(LinkView::from).collect();
    html(&UsersPage { frame, text: text.to_owned(), users: items, next, links })
}
