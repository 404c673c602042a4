//! Middleware of all requests: ids, size limits, headers and error format.

mod drain;
mod headers;
mod measured;
mod once;
mod present;
mod rate;
mod sweep;
mod time;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::HeaderName;
use axum::middleware::{from_fn, from_fn_with_state};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use tower_http::request_id::{PropagateRequestIdLayer, SetRequestIdLayer};
use tower_http::trace::TraceLayer;

pub(crate) use headers::Nonce;
pub(crate) use once::once;
pub(crate) use rate::{Rates, Standing};
pub(crate) use sweep::start as sweep;
pub(crate) use time::bound;

use crate::state::Web;

/// Maximum body size, unless the handler overrides it, in bytes.
const BODY: usize = 4 << 20;

/// Header with the request's id.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Adds the middleware to the routes. The last layer is the outermost.
pub(crate) fn around(routes: Router<Web>, web: &Web) -> Router<Web> {
    // Send events at once, not when the compressor's block is full.
    let compress = SizeAbove::new(1024)
        .and(NotForContentType::new("text/event-stream"))
        .and(NotForContentType::const_new("application/gzip"))
        .and(NotForContentType::IMAGES);
    routes
        .layer(DefaultBodyLimit::max(BODY))
        .layer(CatchPanicLayer::new())
        .layer(from_fn_with_state(web.clone(), present::present))
        .layer(from_fn_with_state(web.clone(), headers::set))
        .layer(from_fn(drain::drain))
        .layer(CompressionLayer::new().compress_when(compress))
        .layer(from_fn(measured::measured))
        .layer(TraceLayer::new_for_http().make_span_with(measured::span))
        .layer(PropagateRequestIdLayer::new(REQUEST_ID))
        .layer(SetRequestIdLayer::new(REQUEST_ID, headers::Ids(web.clone())))
}
