//! `GET /metrics`: the server's own metrics, as OpenMetrics. Who counts them is not here: see [`crate::Parts::metrics`].

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use cubeloom_domain::executor::BoxFuture;

use crate::state::Web;

/// What the text is.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Gives all metrics as text, with what the web knows of itself among them.
pub type AskMetrics = dyn Fn(WebTally) -> BoxFuture<'static, String> + Send + Sync;

/// How many of what the web holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WebTally {
    /// Streams of events that people have open.
    pub streams: usize,
    /// Attempts of which copies of logs could not be made yet.
    pub archive_behind: usize,
}

/// The answer to `GET /metrics`, here or at an address of its own.
pub async fn metrics(State(web): State<Web>) -> Response {
    let ask = Arc::clone(web.ask_metrics());
    let tally = WebTally { streams: web.seats().taken(), archive_behind: web.archive().behind_of_all() };
    ([(header::CONTENT_TYPE, OPENMETRICS)], ask(tally).await).into_response()
}
