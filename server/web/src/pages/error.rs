//! The error page.

use askama::Template;
use axum::response::{IntoResponse, Response};

use super::{Frame, html};
use crate::error::ApiError;

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    frame: Frame,
    title: String,
    detail: String,
    request: &'a str,
}

/// The page, with the error's status.
pub(crate) fn error(frame: Frame, error: &ApiError, request: &str) -> Response {
    let title = frame.t(&format!("common.error-{}", error.kind().word())).to_owned();
    let page = ErrorPage { detail: error.told(frame.lang), frame, title, request };
    match html(&page) {
        Ok(mut response) => {
            *response.status_mut() = error.kind().status();
            response
        }
        Err(_) => error.kind().status().into_response(),
    }
}
