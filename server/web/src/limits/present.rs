//! Formats errors: a problem document for API clients, a page for browsers. Server errors are logged here,
//! once, with their causes.

use axum::RequestPartsExt;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::REQUEST_ID;
use crate::error::{ApiError, Kind};
use crate::guard::Seen;
use crate::pages::{self, Frame};
use crate::state::Web;
use crate::texts::Lang;

pub(crate) async fn present(State(web): State<Web>, request: Request, next: Next) -> Response {
    let id = request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned();
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path();
    let program = path.starts_with("/api/") || path.starts_with("/assets/") || path == "/metrics";
    let here = parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let frame = if program { None } else { parts.extract_with_state::<Frame, _>(&web).await.ok() };
    let Ok(lang) = parts.extract::<Lang>().await;
    let response = next.run(Request::from_parts(parts, body)).await;
    let Some(error) = response.extensions().get::<ApiError>().cloned().or_else(|| of_axum(&response)) else {
        return response;
    };
    log(&error, &id);
    let mut shown = match frame {
        Some(_) if error.kind() == Kind::NotSignedIn => pages::to_sign_in(&here),
        Some(frame) => {
            let seen = response.extensions().get::<Seen>().and_then(|seen| seen.0.clone());
            let frame = match seen {
                Some(caller) => frame.of(&web, caller).await,
                None => frame,
            };
            pages::error(frame, &error, &id)
        }
        None => document(&error, &id, lang),
    };
    // Keep headers of the original response: a new session cookie, rate limits.
    for (name, value) in response.headers() {
        if ![header::CONTENT_TYPE, header::CONTENT_LENGTH].contains(name) {
            shown.headers_mut().append(name.clone(), value.clone());
        }
    }
    for (name, value) in error.headers() {
        shown.headers_mut().insert(name.clone(), value.clone());
    }
    shown
}

/// Errors created by axum or a layer.
fn of_axum(response: &Response) -> Option<ApiError> {
    match response.status() {
        StatusCode::METHOD_NOT_ALLOWED => Some(ApiError::no_method()),
        StatusCode::PAYLOAD_TOO_LARGE => {
            Some(ApiError::new(Kind::TooLarge, "the body exceeds the size limit"))
        }
        StatusCode::INTERNAL_SERVER_ERROR => {
            Some(ApiError::new(Kind::Internal, "internal server error; see the server's log"))
        }
        _ => None,
    }
}

fn log(error: &ApiError, id: &str) {
    let cause = error.chain().unwrap_or_default();
    match error.kind() {
        Kind::Internal => tracing::error!(request = id, cause, "{}", error.detail()),
        Kind::Unavailable => tracing::warn!(request = id, cause, "{}", error.detail()),
        _ => tracing::debug!(request = id, cause, "{}", error.detail()),
    }
}

fn document(error: &ApiError, id: &str, lang: Lang) -> Response {
    let mut response = (error.kind().status(), axum::Json(error.document(id, lang))).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    response
}
