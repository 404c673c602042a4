//! `GET /projects/{project}/volumes/{volume}/file`

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::auth::Caller;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Path, Query};
use crate::files::{self, Show};
use crate::state::Web;
use crate::volumes::{self, Tree};

/// The file, and how to send it.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DownloadQuery {
    /// Path of the file in the volume.
    path: String,
    /// Whether a browser displays the file instead of saving it.
    #[serde(default)]
    inline: bool,
}

/// Returns a file of a volume, or a range of it (`Range`).
#[utoipa::path(
    get,
    path = "/projects/{project}/volumes/{volume}/file",
    tag = "volumes",
    params(("project" = String, Path), ("volume" = String, Path), DownloadQuery),
    responses(
        (status = 200, description = "The file", content_type = "application/octet-stream", body = Vec<u8>),
        (status = 206, description = "The requested range", content_type = "application/octet-stream", body = Vec<u8>),
        (status = 304, description = "Not modified"),
        (status = 416, description = "The file has no such range")
    )
)]
pub(crate) async fn download(
    State(web): State<Web>,
    caller: Caller,
    Path((project, name)): Path<(String, String)>,
    Query(query): Query<DownloadQuery>,
    request: HeaderMap,
) -> ApiResult<Response> {
    let show = if query.inline { Show::Inline } else { Show::Download };
    match volumes::open(&web, Some(&caller), &project, &name).await? {
        Tree::Folder(folder) => files::serve(folder, &query.path, &request, show).await,
        Tree::Bucket(bucket) => files::serve_object(&bucket, &query.path, &request, show).await,
        Tree::Empty => Err(ApiError::not_found("file", query.path)),
    }
}
