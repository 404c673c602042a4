//! `GET /metrics`: the server's own metrics, as OpenMetrics. They are collected elsewhere: see
//! [`crate::Parts::metrics`].

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use cubeloom_domain::executor::BoxFuture;

use crate::state::Web;

/// Content type.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Returns all metrics as text, including those of the web server.
pub type AskMetrics = dyn Fn(WebTally) -> BoxFuture<'static, String> + Send + Sync;

/// Metrics of the web server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WebTally {
    /// Open event streams.
    pub streams: usize,
    /// Attempts whose logs are not archived yet.
    pub archive_behind: usize,
}

/// Handler of `GET /metrics`, on this address or a separate one.
pub async fn metrics(State(web): State<Web>) -> Response {
    let ask = Arc::clone(web.ask_metrics());
    let tally = WebTally { streams: web.seats().taken(), archive_behind: web.archive().behind_of_all() };
    ([(header::CONTENT_TYPE, OPENMETRICS)], ask(tally).await).into_response()
}
