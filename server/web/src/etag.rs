//! ETags are the revisions of rows; changes must say which revision they change.

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use cubeloom_store::Change;
use serde::Serialize;

use crate::error::{ApiError, ApiResult, Kind};
use crate::extract::Json;

/// The ETag of a revision: `"7"`.
#[must_use]
pub fn etag(revision: u64) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{revision}\"")).unwrap_or(HeaderValue::from_static("\"0\""))
}

/// An answer in JSON, with the ETag of this revision.
#[derive(Debug)]
pub struct Tagged<T>(pub u64, pub T);

impl<T: Serialize> IntoResponse for Tagged<T> {
    fn into_response(self) -> Response {
        ([(header::ETAG, etag(self.0))], Json(self.1)).into_response()
    }
}

/// The revision after a change: `changed(change, "project", name)`.
///
/// # Errors
/// When somebody else was faster, or there is no such thing.
pub fn changed(change: Change, what: &str, name: &str) -> ApiResult<u64> {
    match change {
        Change::Done(revision) => Ok(revision),
        Change::Stale(present) => Err(ApiError::stale(&format!("the {what} `{name}`"), etag(present))),
        Change::Missing => Err(ApiError::not_found(what, name)),
    }
}

/// The revision that a request wants to change, from `If-Match`; `*` is any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IfMatch(pub Option<u64>);

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let value = parts.headers.get(header::IF_MATCH).ok_or_else(ApiError::precondition_required)?;
        let text = value.to_str().unwrap_or_default().trim();
        if text == "*" {
            return Ok(Self(None));
        }
        let inner = text.strip_prefix("W/").unwrap_or(text).trim_matches('"');
        let wrong = || {
            let detail = format!("If-Match is `{text}`: send an ETag as it was received, e.g. \"7\", or *");
            ApiError::new(Kind::Malformed, detail)
        };
        inner.parse().map(|revision| Self(Some(revision))).map_err(|_| wrong())
    }
}

/// For things that may have to be made first.
impl<S: Send + Sync> OptionalFromRequestParts<S> for IfMatch {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Option<Self>, ApiError> {
        if !parts.headers.contains_key(header::IF_MATCH) {
            return Ok(None);
        }
        <Self as FromRequestParts<S>>::from_request_parts(parts, state).await.map(Some)
    }
}
