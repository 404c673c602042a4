//! Response headers: security headers and the request's id.

use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use tower_http::request_id::{MakeRequestId, RequestId};

use crate::state::Web;

/// CSP nonce for one style element of a page. Editors that create their own styles use it.
#[derive(Clone, Debug)]
pub(crate) struct Nonce(pub String);

/// Generates ids for requests without one.
#[derive(Clone)]
pub(crate) struct Ids(pub Web);

impl MakeRequestId for Ids {
    fn make_request_id<B>(&mut self, _: &axum::http::Request<B>) -> Option<RequestId> {
        HeaderValue::from_str(&self.0.new_id()).ok().map(RequestId::new)
    }
}

/// Sets the headers that the handler has not set.
pub(crate) async fn set(State(web): State<Web>, mut request: Request, next: Next) -> Response {
    let nonce = STANDARD_NO_PAD.encode(web.random::<16>());
    request.extensions_mut().insert(Nonce(nonce.clone()));
    let secure = web.settings().url.starts_with("https:");
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data: blob:; \
         font-src 'self'; connect-src 'self'; worker-src 'self'; frame-src 'self'; form-action 'self'; \
         frame-ancestors 'none'; base-uri 'none'"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    }
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if secure {
        let value = HeaderValue::from_static("max-age=31536000");
        headers.entry(header::STRICT_TRANSPORT_SECURITY).or_insert(value);
    }
    response
}
