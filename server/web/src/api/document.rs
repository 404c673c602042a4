//! `GET /openapi.json`: the OpenAPI 3.1 document of this very program.

use std::sync::Arc;

use axum::http::header;
use axum::routing::get;
use axum::{Router, response::IntoResponse};
use utoipa::openapi::OpenApi;

use crate::state::Web;

/// The document, as text.
#[must_use]
pub fn text() -> String {
    serialize(&super::router().split_for_parts().1)
}

pub(crate) fn route(document: OpenApi) -> Router<Web> {
    let text: Arc<str> = serialize(&document).into();
    let answer =
        async move || ([(header::CONTENT_TYPE, "application/json")], text.to_string()).into_response();
    Router::new().route("/openapi.json", get(answer))
}

fn serialize(document: &OpenApi) -> String {
    let mut document = serde_json::to_value(document).unwrap_or_default();
    super::complete::complete(&mut document);
    serde_json::to_string_pretty(&document).unwrap_or_default()
}
