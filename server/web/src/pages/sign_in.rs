//! `GET /sign-in`, `POST /sign-in`: a form that works without scripts.

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::preferences::local;
use super::{Frame, html};
use crate::auth::{Caller, Visitor, sign_in};
use crate::error::{ApiError, ApiResult, Kind};
use crate::extract::{Form, Query};
use crate::state::Web;

#[derive(Template)]
#[template(path = "sign-in.html")]
struct SignInPage {
    frame: Frame,
    /// Path to continue at.
    next: String,
    name: String,
    problem: Option<String>,
    /// Whether no account exists yet.
    nobody: bool,
    /// Name of the OpenID Connect provider, as an alternative.
    provider: Option<String>,
}

fn provider(web: &Web) -> Option<String> {
    web.oidc().map(|provider| provider.settings.name.clone())
}

/// Path to continue at.
#[derive(Debug, Deserialize)]
pub(crate) struct Next {
    pub(super) next: Option<String>,
}

pub(crate) async fn show(
    State(web): State<Web>,
    frame: Frame,
    caller: Option<Caller>,
    Query(next): Query<Next>,
) -> ApiResult<Response> {
    let next = local(next.next.as_deref().unwrap_or("/")).to_owned();
    if caller.is_some() {
        return Ok(Redirect::to(&next).into_response());
    }
    let nobody = web.store().count_users().await? == 0;
    let provider = provider(&web);
    html(&SignInPage { frame, next, name: String::new(), problem: None, nobody, provider })
}

/// Form data.
#[derive(Deserialize)]
pub(crate) struct Filled {
    name: String,
    password: String,
    #[serde(default)]
    next: String,
}

/// Signs in, or shows the form again.
pub(crate) async fn submit(
    State(web): State<Web>,
    frame: Frame,
    visitor: Visitor,
    Form(filled): Form<Filled>,
) -> ApiResult<Response> {
    let next = local(&filled.next).to_owned();
    let error = match sign_in::sign_in(&web, &visitor, &filled.name, filled.password).await {
        Ok((_, _, cookie)) => return Ok(enter(cookie, &next)),
        Err(error) => error,
    };
    let problem = match error.kind() {
        Kind::NotSignedIn => frame.t("sign-in.wrong").to_owned(),
        Kind::TooMany => frame.t_with("sign-in.wait", [("seconds", wait(&error))]),
        _ => return Err(error),
    };
    let (name, problem, provider) = (filled.name, Some(problem), provider(&web));
    let page = SignInPage { frame, next, name, problem, nobody: false, provider };
    let mut response = html(&page)?;
    *response.status_mut() = error.kind().status();
    for (name, value) in error.headers() {
        response.headers_mut().insert(name, value.clone());
    }
    Ok(response)
}

/// Redirects to the next page, with the session cookie.
pub(super) fn enter(cookie: HeaderValue, next: &str) -> Response {
    (AppendHeaders([(header::SET_COOKIE, cookie)]), Redirect::to(next)).into_response()
}

/// Seconds until the next attempt.
pub(super) fn wait(error: &ApiError) -> String {
    let mut headers = error.headers().iter();
    let found = headers.find(|(name, _)| name == header::RETRY_AFTER);
    found.and_then(|(_, value)| value.to_str().ok()).unwrap_or_default().to_owned()
}
