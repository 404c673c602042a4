//! `GET /docs/api` and `GET /docs/api/{operation}`: documentation of this server's OpenAPI document.

mod model;
mod sample;
mod schema;

use std::sync::LazyLock;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde_json::Value;

use self::model::{Document, Operation};
use super::{Frame, html};
use crate::api::document;
use crate::error::{ApiError, ApiResult};
use crate::extract::Path;
use crate::state::Web;

/// Parsed once: it does not change while the program runs.
static DOCUMENT: LazyLock<Document> = LazyLock::new(|| {
    let value: Value = serde_json::from_str(&document::text()).unwrap_or_default();
    Document::read(&value)
});

#[derive(Template)]
#[template(path = "api.html")]
struct ListPage {
    frame: Frame,
    document: &'static Document,
}

#[derive(Template)]
#[template(path = "api-operation.html")]
struct OperationPage {
    frame: Frame,
    operation: &'static Operation,
    curl: String,
}

/// All operations, by tag.
pub(super) async fn list(frame: Frame) -> ApiResult<Response> {
    html(&ListPage { frame, document: &DOCUMENT })
}

/// One operation.
pub(super) async fn show(
    State(web): State<Web>,
    Path(id): Path<String>,
    frame: Frame,
) -> ApiResult<Response> {
    let mut all = DOCUMENT.tags.iter().flat_map(|tag| &tag.operations);
    let operation =
        all.find(|operation| operation.id == id).ok_or_else(|| ApiError::not_found("operation", &id))?;
    let curl = sample::curl(operation, &web.settings().url);
    html(&OperationPage { frame, operation, curl })
}
