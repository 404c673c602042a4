//! `GET /projects/{project}/code/{digest}/file`

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::code;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Path, Query};
use crate::state::Web;

/// The file to read.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FileQuery {
    /// Path of the file, relative to the folder.
    pub path: String,
}

/// Returns a file of a code folder as plain text.
///
/// Browsers never execute its content.
#[utoipa::path(
    get,
    path = "/projects/{project}/code/{digest}/file",
    tag = "pipelines",
    params(("project" = String, Path), ("digest" = String, Path), FileQuery),
    responses(
        (status = 200, body = String, content_type = "text/plain"),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
#[expect(clippy::disallowed_methods, reason = "unpacked code holds plain files only, and is the server's")]
pub(crate) async fn file(
    State(web): State<Web>,
    Path((project, digest)): Path<(String, String)>,
    Query(query): Query<FileQuery>,
) -> ApiResult<Response> {
    let folder = code::folder(&web, &project, &digest)?;
    let path = code::file_in(&folder, &query.path).ok_or_else(|| ApiError::not_found("file", &query.path))?;
    let bytes = tokio::fs::read(path).await.map_err(ApiError::internal)?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], bytes).into_response())
}
