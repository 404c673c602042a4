//! Extractors whose errors are problem documents that name the field.

use std::borrow::Cow;

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use cubeloom_domain::json::exact;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{ApiError, ApiResult, Kind};

/// A JSON body or response.
#[derive(Debug)]
pub struct Json<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let body = Request::from_parts(parts.clone(), body);
        let bytes = Bytes::from_request(body, state).await.map_err(|rejection| of_body(&rejection))?;
        check(&bytes)?;
        let bytes = match exact(&bytes) {
            Cow::Borrowed(_) => bytes,
            Cow::Owned(rewritten) => rewritten.into(),
        };
        axum::Json::<T>::from_request(Request::from_parts(parts, bytes.into()), state)
            .await
            .map(|axum::Json(value)| Self(value))
            .map_err(of_json)
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        axum::Json(self.0).into_response()
    }
}

/// Maximum nesting of arrays and objects.
const DEEPEST: usize = 64;

/// Checks that must precede parsing.
fn check(body: &[u8]) -> ApiResult<()> {
    if let Err(error) = std::str::from_utf8(body) {
        let at = error.valid_up_to();
        return Err(ApiError::new(Kind::Malformed, format!("the body is not UTF-8, from byte {at} on")));
    }
    if depth(body) > DEEPEST {
        let detail = format!("lists and mappings are nested more than {DEEPEST} deep");
        return Err(ApiError::new(Kind::Malformed, detail));
    }
    Ok(())
}

/// Nesting depth of arrays and objects in a JSON text.
fn depth(body: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_text, mut escaped) = (0_usize, 0, false, false);
    for byte in body {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => depth += 1,
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn of_body(rejection: &BytesRejection) -> ApiError {
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::new(Kind::TooLarge, "the body exceeds the size limit"),
        _ => ApiError::new(Kind::Malformed, rejection.body_text()),
    }
}

fn of_json(rejection: JsonRejection) -> ApiError {
    let text = rejection.body_text();
    match &rejection {
        JsonRejection::JsonDataError(_) => {
            // serde_path_to_error writes `<axum's message>: <path>: <error>`.
            let inner = text.split_once(": ").map_or(text.as_str(), |(_, inner)| inner);
            let (path, message) = match inner.split_once(": ") {
                Some((path, message)) if !path.contains(' ') => (pointer(path), message),
                _ => (String::new(), inner),
            };
            ApiError::field(&path, message)
        }
        JsonRejection::MissingJsonContentType(_) => {
            ApiError::new(Kind::UnsupportedType, "send JSON, with the header Content-Type: application/json")
        }
        other if other.status() == StatusCode::PAYLOAD_TOO_LARGE => ApiError::new(Kind::TooLarge, text),
        _ => ApiError::new(Kind::Malformed, text),
    }
}

/// `tasks[3].name` as a JSON pointer.
fn pointer(path: &str) -> String {
    let parts = path.split(['.', '[', ']']).filter(|part| !part.is_empty());
    parts.map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1"))).collect()
}

/// Query parameters.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let found: Result<axum::extract::Query<T>, QueryRejection> =
            axum::extract::Query::from_request_parts(parts, state).await;
        found.map(|axum::extract::Query(value)| Self(value)).map_err(|rejection| {
            let text = rejection.body_text();
            let inner = text.split_once(": ").map_or(text.as_str(), |(_, inner)| inner);
            let (path, message) = inner.split_once(": ").unwrap_or(("", inner));
            ApiError::field(&pointer(path), message)
        })
    }
}

/// Path parameters.
#[derive(Debug)]
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let found: Result<axum::extract::Path<T>, PathRejection> =
            axum::extract::Path::from_request_parts(parts, state).await;
        let refuse = |rejection: PathRejection| ApiError::new(Kind::NotFound, rejection.body_text());
        found.map(|axum::extract::Path(value)| Self(value)).map_err(refuse)
    }
}

/// Form of a page.
#[derive(Debug)]
pub struct Form<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Form<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let found = axum::Form::<T>::from_request(request, state).await;
        found.map(|axum::Form(value)| Self(value)).map_err(|rejection| match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => ApiError::new(Kind::TooLarge, rejection.body_text()),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => ApiError::new(Kind::UnsupportedType, rejection.body_text()),
            _ => ApiError::new(Kind::Malformed, rejection.body_text()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_outside_texts_only() {
        assert_eq!(depth(br#"{"a": [1, {"b": 2}], "c": "[[[[{{\"[["}"#), 3);
        assert!(check("[".repeat(65).as_bytes()).is_err());
        assert!(check(format!("{}{}", "[".repeat(64), "]".repeat(64)).as_bytes()).is_ok());
        assert!(check(b"\xff").unwrap_err().detail().contains("UTF-8, from byte 0"));
    }
}
