//! Tracing and metrics of requests: a span for each, and its duration.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;
use cubeloom_domain::measure::{self, Measure};
use tracing::Span;
use tracing::field::Empty;

use super::REQUEST_ID;

/// Middleware, inside the span.
pub(crate) async fn measured(request: Request, next: Next) -> Response {
    let began = Instant::now();
    let (method, route) = (request.method().clone(), request.extensions().get::<MatchedPath>().cloned());
    let response = next.run(request).await;
    let status = response.status();
    Span::current().record("http.response.status_code", status.as_u16());
    if status.is_server_error() {
        Span::current().record("otel.status_code", "error");
    }
    measure::tell(&Measure::Request {
        method: method.as_str(),
        route: route.as_ref().map(MatchedPath::as_str).unwrap_or_default(),
        status: status.as_u16(),
        took: began.elapsed(),
    });
    response
}

/// Span of a request. It omits the query and headers, which may contain secrets.
pub(crate) fn span<B>(request: &axum::http::Request<B>) -> Span {
    let id = request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or_default();
    let method = request.method();
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    tracing::debug_span!(
        "request",
        otel.kind = "server",
        otel.name = %format_args!("{method} {}", route.unwrap_or("other")),
        otel.status_code = Empty,
        http.request.method = %method,
        http.route = route,
        http.response.status_code = Empty,
        url.path = request.uri().path(),
        id
    )
}
