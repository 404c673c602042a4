//! `GET /device`, `POST /device`: allows a command line to act as the reader, or denies it. Forms that work
//! without scripts.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use cubeloom_domain::identity::Scope;
use serde::Deserialize;

use super::sign_in::wait;
use super::{Frame, html};
use crate::auth::Caller;
use crate::auth::device::{self, DeviceAnswer};
use crate::error::{ApiError, ApiResult, Kind};
use crate::extract::{Form, Query};
use crate::state::Web;
use crate::time::Time;

#[derive(Template)]
#[template(path = "device.html")]
struct DevicePage {
    frame: Frame,
    step: Step,
}

/// What the page shows.
enum Step {
    /// A field for the code.
    Code { typed: String, problem: Option<String> },
    /// The command line with this code, and the reader's choices.
    Question { code: String, client: String, address: String, at: Time },
    /// The outcome.
    Done { allowed: bool },
}

impl DevicePage {
    /// The usual scope is the first.
    fn scopes(&self) -> [&'static str; 3] {
        [Scope::Write, Scope::Run, Scope::Read].map(Scope::as_str)
    }

    fn days(&self) -> u32 {
        device::TOKEN_DAYS
    }
}

/// Query parameters.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct DeviceQuery {
    user_code: String,
    /// `allowed` or `denied`, after a decision.
    decided: String,
}

/// Form data.
#[derive(Deserialize)]
pub(crate) struct Filled {
    /// `allow` or `deny`.
    answer: String,
    scope: Scope,
    /// Empty for all projects.
    #[serde(default)]
    project: String,
}

pub(crate) async fn show(
    State(web): State<Web>,
    frame: Frame,
    caller: Caller,
    Query(query): Query<DeviceQuery>,
) -> ApiResult<Response> {
    let step = match query.decided.as_str() {
        "allowed" => Step::Done { allowed: true },
        "denied" => Step::Done { allowed: false },
        _ if query.user_code.is_empty() => Step::Code { typed: String::new(), problem: None },
        _ => match device::open(&web, &caller, &query.user_code).await {
            Ok(code) => Step::Question {
                code: code.user_code,
                client: code.client,
                address: code.address,
                at: Time(code.created_at),
            },
            Err(error) => return again(frame, query.user_code, error),
        },
    };
    html(&DevicePage { frame, step })
}

/// Decides, or shows the field for the code again.
pub(crate) async fn submit(
    State(web): State<Web>,
    frame: Frame,
    caller: Caller,
    Query(query): Query<DeviceQuery>,
    Form(filled): Form<Filled>,
) -> ApiResult<Response> {
    let project = Some(filled.project).filter(|project| !project.is_empty());
    let (answer, decided) = if filled.answer == "allow" {
        (DeviceAnswer::Allow { scope: filled.scope, project }, "allowed")
    } else {
        (DeviceAnswer::Deny, "denied")
    };
    match device::decide(&web, &caller, &query.user_code, answer).await {
        Ok(()) => Ok(Redirect::to(&format!("/device?decided={decided}")).into_response()),
        Err(error) => again(frame, query.user_code, error),
    }
}

/// The field with a code that is refused, or another error.
fn again(frame: Frame, typed: String, error: ApiError) -> ApiResult<Response> {
    let of_code = error.problems().iter().any(|problem| problem.path == "/user_code");
    let problem = match error.kind() {
        Kind::Invalid if of_code => frame.t("sign-in.device-wrong").to_owned(),
        Kind::TooMany => frame.t_with("sign-in.wait", [("seconds", wait(&error))]),
        _ => return Err(error),
    };
    let mut response = html(&DevicePage { frame, step: Step::Code { typed, problem: Some(problem) } })?;
    *response.status_mut() = error.kind().status();
    for (name, value) in error.headers() {
        response.headers_mut().insert(name, value.clone());
    }
    Ok(response)
}
