//! `/welcome` (the first administrator) and `/link` (invitations, new passwords): forms that work without
//! scripts.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use cubeloom_domain::identity::{Link, LinkPurpose};
use serde::Deserialize;

use super::sign_in::enter;
use super::{Frame, html};
use crate::auth::accounts::NewAccount;
use crate::auth::{Visitor, links, sign_in};
use crate::error::{ApiError, ApiResult, Kind};
use crate::extract::{Form, Query};
use crate::state::Web;

#[derive(Template)]
#[template(path = "link.html")]
struct LinkPage<'a> {
    frame: Frame,
    /// Kind of the link: `first`, `invite` or `reset`.
    kind: &'static str,
    /// User whose password is set.
    person: String,
    /// Project of the invitation.
    project: &'a str,
    filled: Filled,
    /// Errors by field.
    wrong: Wrong,
}

/// Errors of a form in the reader's language, empty if valid.
#[derive(Default)]
struct Wrong {
    name: String,
    display_name: String,
    password: String,
}

/// Secret of a link.
#[derive(Deserialize)]
pub(crate) struct Secret {
    #[serde(default)]
    token: String,
}

/// Form data. Empty at first.
#[derive(Default, Deserialize)]
pub(crate) struct Filled {
    token: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    display_name: String,
    #[serde(default)]
    password: String,
}

pub(crate) async fn show(
    State(web): State<Web>,
    frame: Frame,
    visitor: Visitor,
    Query(secret): Query<Secret>,
) -> ApiResult<Response> {
    let act = visitor.act(&web, None);
    let link = links::open(&act, &secret.token).await.map_err(|error| say(&frame, error))?;
    let filled = Filled { token: secret.token, ..Filled::default() };
    page(&web, frame, &link, filled, Wrong::default()).await
}

/// Uses the link and signs in, or shows the form again.
pub(crate) async fn submit(
    State(web): State<Web>,
    frame: Frame,
    visitor: Visitor,
    Form(filled): Form<Filled>,
) -> ApiResult<Response> {
    let act = visitor.act(&web, None);
    let link = links::open(&act, &filled.token).await.map_err(|error| say(&frame, error))?;
    let wanted = NewAccount {
        name: filled.name.trim().to_owned(),
        display_name: filled.display_name.clone(),
        password: Some(filled.password.clone()),
        ..NewAccount::default()
    };
    let user = match links::use_up(&act, &link, wanted).await {
        Ok(user) => user,
        Err(error) => {
            let Some(wrong) = wrong(&frame, &error) else { return Err(say(&frame, error)) };
            let mut response = page(&web, frame, &link, filled, wrong).await?;
            *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
            return Ok(response);
        }
    };
    let (_, cookie) = sign_in::enter(&web, &visitor, &user).await?;
    let next = links::place(&link).map(|project| format!("/projects/{project}/pipelines"));
    Ok(enter(cookie, next.as_deref().unwrap_or("/")))
}

async fn page(web: &Web, frame: Frame, link: &Link, filled: Filled, wrong: Wrong) -> ApiResult<Response> {
    let person = links::person(web.store(), link).await?.map(|user| user.name).unwrap_or_default();
    let kind = match link.purpose {
        LinkPurpose::First => "first",
        LinkPurpose::Invite { .. } => "invite",
        LinkPurpose::Reset { .. } => "reset",
    };
    let project = links::place(link).unwrap_or_default();
    html(&LinkPage { frame, kind, person, project, filled, wrong })
}

/// Errors of a form by field. `None` for another error.
fn wrong(frame: &Frame, error: &ApiError) -> Option<Wrong> {
    let at = |path: &str| error.problems().iter().any(|problem| problem.path == path);
    let text = |there: bool, text: &str| if there { text.to_owned() } else { String::new() };
    match error.kind() {
        Kind::Invalid => Some(Wrong {
            name: text(at("/name"), frame.t("sign-in.name-rule")),
            display_name: text(at("/display_name"), frame.t("sign-in.display-name-rule")),
            password: text(at("/password"), frame.t("sign-in.password-rule")),
        }),
        Kind::Conflict => Some(Wrong { name: frame.t("sign-in.name-taken").to_owned(), ..Wrong::default() }),
        _ => None,
    }
}

/// The error of an invalid link, in the reader's language.
fn say(frame: &Frame, error: ApiError) -> ApiError {
    if error.kind() == Kind::Gone { ApiError::new(Kind::Gone, frame.t("sign-in.link-gone")) } else { error }
}
