//! ETags are revisions of rows. Changes must name the revision that they change.

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use cubeloom_store::Change;
use serde::Serialize;

use crate::error::{ApiError, ApiResult, Kind};
use crate::extract::Json;

/// ETag of a revision: `"7"`.
#[must_use]
pub fn etag(revision: u64) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{revision}\"")).unwrap_or(HeaderValue::from_static("\"0\""))
}

/// A JSON response with the ETag of this revision.
#[derive(Debug)]
pub struct Tagged<T>(pub u64, pub T);

impl<T: Serialize> IntoResponse for Tagged<T> {
    fn into_response(self) -> Response {
        ([(header::ETAG, etag(self.0))], Json(self.1)).into_response()
    }
}

/// Revision after a change: `changed(change, "project", name)`.
///
/// # Errors
/// A conflict if the row was changed concurrently. Not found if it does not exist.
pub fn changed(change: Change, what: &str, name: &str) -> ApiResult<u64> {
    match change {
        Change::Done(revision) => Ok(revision),
        Change::Stale(present) => Err(ApiError::stale(&format!("the {what} `{name}`"), etag(present))),
        Change::Missing => Err(ApiError::not_found(what, name)),
    }
}

/// Value of `If-Match` (RFC 9110, section 13.1.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tags {
    /// `*`
    Any,
    /// Tags with their quotes. Weak ones are omitted: they never match.
    Strong(Vec<String>),
}

impl Tags {
    /// Parses the header. `None` without it.
    ///
    /// # Errors
    /// It contains something other than `*` and tags.
    pub(crate) fn of(headers: &HeaderMap) -> ApiResult<Option<Self>> {
        let lines: Vec<&str> = headers
            .get_all(header::IF_MATCH)
            .iter()
            .map(|value| value.to_str().unwrap_or_default())
            .collect();
        if lines.is_empty() {
            return Ok(None);
        }
        let text = lines.join(",");
        if text.trim() == "*" {
            return Ok(Some(Self::Any));
        }
        let strong = strong(&text).ok_or_else(|| {
            let detail = format!("If-Match is `{text}`: send an ETag as it was received, e.g. \"7\", or *");
            ApiError::new(Kind::Malformed, detail)
        })?;
        Ok(Some(Self::Strong(strong)))
    }
}

impl Tags {
    pub(crate) fn matches(&self, present: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Strong(tags) => tags.iter().any(|tag| tag == present),
        }
    }
}

/// Strong tags of a list. `None` if the list is invalid. Numbers may lack quotes.
fn strong(text: &str) -> Option<Vec<String>> {
    let between = [' ', '\t', ','];
    let (mut found, mut rest) = (Vec::new(), text.trim_start_matches(between));
    let mut seen = false;
    while !rest.is_empty() {
        let weak = rest.strip_prefix("W/");
        let body = weak.unwrap_or(rest);
        let length = match body.strip_prefix('"') {
            Some(inner) => inner.find('"')? + 2,
            None => body.find(between).unwrap_or(body.len()),
        };
        let (tag, behind) = body.split_at(length);
        let is_number = !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_digit());
        match weak {
            _ if !tag.starts_with('"') && !is_number => return None,
            Some(_) => {}
            None if is_number => found.push(format!("\"{tag}\"")),
            None => found.push(tag.to_owned()),
        }
        seen = true;
        rest = behind.trim_start_matches(between);
    }
    seen.then_some(found)
}

/// A revision that matches no row.
const NO_REVISION: u64 = (1 << 53) - 1;

/// Revision that a request expects, from `If-Match`. `*` is any. Of several tags, the newest counts:
/// revisions only grow, so no older one can be current.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IfMatch(pub Option<u64>);

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(match Tags::of(&parts.headers)?.ok_or_else(ApiError::precondition_required)? {
            Tags::Any => Self(None),
            Tags::Strong(tags) => {
                let revisions = tags.iter().filter_map(|tag| tag.trim_matches('"').parse().ok());
                Self(Some(revisions.filter(|revision| *revision < NO_REVISION).max().unwrap_or(NO_REVISION)))
            }
        })
    }
}

/// For objects that may have to be created first.
impl<S: Send + Sync> OptionalFromRequestParts<S> for IfMatch {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Option<Self>, ApiError> {
        if !parts.headers.contains_key(header::IF_MATCH) {
            return Ok(None);
        }
        <Self as FromRequestParts<S>>::from_request_parts(parts, state).await.map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(lines: &[&'static str]) -> Option<Tags> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::IF_MATCH, HeaderValue::from_static(line));
        }
        Tags::of(&headers).unwrap_or(Some(Tags::Strong(vec!["malformed".into()])))
    }

    #[test]
    fn if_match_is_a_list_of_which_weak_tags_never_match() {
        let strong = |tags: &[&str]| Some(Tags::Strong(tags.iter().map(|tag| (*tag).to_owned()).collect()));
        assert_eq!(tags(&[]), None);
        assert_eq!(tags(&[" * "]), Some(Tags::Any));
        assert_eq!(tags(&["\"7\""]), strong(&["\"7\""]));
        assert_eq!(tags(&["7"]), strong(&["\"7\""]));
        assert_eq!(tags(&["W/\"7\""]), strong(&[]));
        assert_eq!(tags(&["\"a,b\" , W/\"7\",\"c\"", "\"d\""]), strong(&["\"a,b\"", "\"c\"", "\"d\""]));
        for wrong in ["", "nonsense", "\"open", "\"7\", *", "W/", "W/7x"] {
            assert_eq!(tags(&[wrong]), strong(&["malformed"]), "{wrong}");
        }
    }
}
