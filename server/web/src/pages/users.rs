//! `GET /users`: all users and unused links. For administrators.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use cubeloom_domain::identity::LinkPurpose;
use serde::Deserialize;

use super::{Frame, html, with_query};
use crate::api::links::LinkView;
use crate::api::users::{self, UserView, Wanted};
use crate::error::ApiResult;
use crate::extract::Query;
use crate::page::PageQuery;
use crate::sort::Heading;
use crate::state::Web;

#[derive(Template)]
#[template(path = "users.html")]
struct UsersPage {
    frame: Frame,
    text: String,
    sort: String,
    users: Vec<UserView>,
    /// URL of the next page.
    next: Option<String>,
    links: Vec<LinkView>,
}

/// Query parameters.
#[derive(Debug, Deserialize)]
pub(crate) struct Search {
    #[serde(default)]
    text: String,
    #[serde(default)]
    sort: String,
    cursor: Option<String>,
}

pub(crate) async fn show(
    State(web): State<Web>,
    frame: Frame,
    Query(search): Query<Search>,
) -> ApiResult<Response> {
    let query = PageQuery { cursor: search.cursor, limit: None };
    let text = search.text.trim().to_owned();
    let sort = if search.sort.is_empty() { "name".to_owned() } else { search.sort };
    let wanted = Wanted { text: Some(text.clone()), sort: Some(sort.clone()) };
    let found = users::find(&web, &wanted, &query).await?;
    let pairs =
        |cursor: String| with_query("/users", &[("text", &text), ("sort", &sort), ("cursor", &cursor)]);
    let next = found.next_cursor.map(pairs);
    let open = web.store().links(Some(web.now())).await?.into_iter();
    let links = open.filter(|link| link.purpose != LinkPurpose::First).map(LinkView::from).collect();
    html(&UsersPage { frame, text, sort, users: found.items, next, links })
}

impl UsersPage {
    /// Sortable heading of the users.
    fn sorted(&self, first: &str) -> Heading {
        Heading::new(first, &self.sort, |sort| with_query("/users", &[("text", &self.text), ("sort", sort)]))
    }
}
