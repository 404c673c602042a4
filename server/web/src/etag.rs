//! ETags are the revisions of rows; changes must say which revision they change.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};

use crate::error::{ApiError, Kind};

/// The ETag of a revision: `"7"`.
#[must_use]
pub fn etag(revision: u64) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{revision}\"")).unwrap_or(HeaderValue::from_static("\"0\""))
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
