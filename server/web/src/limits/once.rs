//! `Idempotency-Key`: a retried creation, after a lost response, is executed once.
//!
//! Successful responses are kept for a day and repeated for the same request. They are encrypted, as they may
//! contain a token that is shown only once. A refused request changed nothing and can simply be retried.

use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cubeloom_domain::belongings::Owner;
use cubeloom_store::Idempotent;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::BODY;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, Kind};
use crate::policy::Rule;
use crate::state::Web;

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// Maximum length of a key, in characters.
const LONGEST: usize = 255;
/// How long responses are kept.
pub(super) const KEPT: Duration = Duration::from_secs(86_400);
/// Headers that are kept with the response.
const OF_ANSWER: [HeaderName; 3] = [header::CONTENT_TYPE, header::LOCATION, header::ETAG];

/// Middleware, inside the guard.
pub(crate) async fn once(State(web): State<Web>, request: Request, next: Next) -> Response {
    let creates = request.extensions().get::<&'static Rule>().is_some_and(|rule| rule.creates());
    let caller = request.extensions().get::<Caller>().cloned();
    match (request.headers().get(KEY), caller) {
        (Some(key), Some(caller)) if creates => {
            let key = key.to_str().unwrap_or_default().to_owned();
            once_only(web, caller, key, request, next).await.unwrap_or_else(IntoResponse::into_response)
        }
        _ => next.run(request).await,
    }
}

async fn once_only(
    web: Web,
    caller: Caller,
    key: String,
    request: Request,
    next: Next,
) -> ApiResult<Response> {
    if key.is_empty() || key.len() > LONGEST {
        let detail =
            format!("the header Idempotency-Key must have 1 to {LONGEST} plain characters, e.g. a UUID");
        return Err(ApiError::new(Kind::Malformed, detail));
    }
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, BODY).await;
    let body = body.map_err(|_| ApiError::new(Kind::TooLarge, "the body exceeds the size limit"))?;
    let digest = digest(parts.method.as_str(), &parts.uri.to_string(), &body);
    let user = caller.user.id.clone();
    match web.store().begin_idempotent(&user, &key, &digest, web.now()).await? {
        Idempotent::New => {}
        Idempotent::Done { status, headers_json, body } => {
            return replay(&web, &user, &key, status, &headers_json, &body);
        }
        Idempotent::Running => {
            let detail = "a request with this Idempotency-Key is in progress: try again in a moment";
            return Err(ApiError::conflict(detail).with_header(header::RETRY_AFTER, HeaderValue::from(1)));
        }
        Idempotent::Other => {
            let detail = "this Idempotency-Key was sent with another request: use a new one";
            return Err(ApiError::new(Kind::Invalid, detail));
        }
    }
    // In a separate task, so that the request completes and its response is kept even if the client
    // disconnects.
    let request = Request::from_parts(parts, Body::from(body));
    let work = tokio::spawn(async move { next.run(request).await });
    let keeper = tokio::spawn(async move {
        match work.await {
            Ok(response) => keep(&web, &user, &key, response).await,
            Err(panic) => {
                forget(&web, &user, &key).await;
                ApiError::internal(panic).into_response()
            }
        }
    });
    keeper.await.map_err(ApiError::internal)
}

/// Keeps a successful response.
async fn keep(web: &Web, user: &str, key: &str, response: Response) -> Response {
    if !response.status().is_success() {
        forget(web, user, key).await;
        return response;
    }
    let (parts, body) = response.into_parts();
    let Ok(body) = to_bytes(body, BODY).await else {
        forget(web, user, key).await;
        let detail = "the request was executed, but its response is too long to be stored: send it without Idempotency-Key";
        return ApiError::new(Kind::Internal, detail).into_response();
    };
    let text = String::from_utf8_lossy(&body);
    let sealed = web.keys().sealing.seal(web.random(), &Owner::User(user.into()), &place(key), &text);
    let headers = kept_headers(&parts.headers);
    let kept = web.store().finish_idempotent(user, key, parts.status.as_u16(), &headers, &sealed).await;
    if let Err(error) = kept {
        tracing::warn!(%error, "cannot store the response to a request with an Idempotency-Key");
    }
    Response::from_parts(parts, Body::from(body))
}

async fn forget(web: &Web, user: &str, key: &str) {
    if let Err(error) = web.store().forget_idempotent(user, key).await {
        tracing::warn!(%error, "cannot delete the record of a failed request with an Idempotency-Key");
    }
}

fn replay(web: &Web, user: &str, key: &str, status: u16, headers: &str, body: &str) -> ApiResult<Response> {
    let body = web.keys().sealing.open(&Owner::User(user.into()), &place(key), body).map_err(|_| {
        ApiError::conflict(
            "the request was executed, but its response can no longer be read: check the current state",
        )
    })?;
    let status = StatusCode::from_u16(status).map_err(ApiError::internal)?;
    let mut response = (status, body).into_response();
    response.headers_mut().remove(header::CONTENT_TYPE);
    let kept: serde_json::Map<String, serde_json::Value> = serde_json::from_str(headers).unwrap_or_default();
    for (name, value) in &kept {
        let value = value.as_str().and_then(|value| HeaderValue::from_str(value).ok());
        if let (Ok(name), Some(value)) = (name.parse::<HeaderName>(), value) {
            response.headers_mut().insert(name, value);
        }
    }
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    Ok(response)
}

fn kept_headers(headers: &HeaderMap) -> String {
    let kept = OF_ANSWER.iter().filter_map(|name| Some((name.as_str(), headers.get(name)?.to_str().ok()?)));
    json!(kept.collect::<std::collections::BTreeMap<_, _>>()).to_string()
}

/// Associated data of the encryption, besides the user.
fn place(key: &str) -> String {
    format!("answer {key}")
}

/// Hash that identifies a request.
fn digest(method: &str, uri: &str, body: &Bytes) -> String {
    let mut digest = Sha256::new();
    for part in [method.as_bytes(), uri.as_bytes(), body] {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_differ_in_any_part() {
        let of = |method, uri, body: &'static str| digest(method, uri, &Bytes::from(body));
        let one = of("POST", "/a", "b");
        assert_eq!(one, of("POST", "/a", "b"));
        assert!(
            [of("POST", "/a", "c"), of("POST", "/ab", ""), of("PUT", "/a", "b")]
                .iter()
                .all(|other| *other != one)
        );
    }
}
