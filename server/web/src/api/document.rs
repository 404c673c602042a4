//! `GET /openapi.json`: the OpenAPI 3.1 document of this server.

use std::io::{Read, Write};
use std::sync::Arc;

use axum::http::header;
use axum::{Router, response::IntoResponse};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use utoipa::openapi::OpenApi;

use crate::routes::get;
use crate::state::Web;

/// The document as text.
#[must_use]
pub fn text() -> String {
    serialize(&super::router().split_for_parts().1)
}

pub(crate) fn route(document: OpenApi) -> Router<Web> {
    // Keep it compressed: requests are rare, and it takes more than a megabyte.
    let packed: Arc<[u8]> = pack(&serialize(&document)).into();
    let answer =
        async move || ([(header::CONTENT_TYPE, "application/json")], unpack(&packed)).into_response();
    Router::new().route("/openapi.json", get(answer))
}

fn pack(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(text.as_bytes());
    encoder.finish().unwrap_or_default()
}

fn unpack(packed: &[u8]) -> String {
    let mut text = String::new();
    let _ = GzDecoder::new(packed).read_to_string(&mut text);
    text
}

fn serialize(document: &OpenApi) -> String {
    let mut document = serde_json::to_value(document).unwrap_or_default();
    super::complete::complete(&mut document);
    serde_json::to_string_pretty(&document).unwrap_or_default()
}
