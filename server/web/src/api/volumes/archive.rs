//! `GET /projects/{project}/volumes/{volume}/archive`

use axum::extract::State;
use axum::response::Response;

use crate::auth::Caller;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Path, Query};
use crate::files::{self, FileQuery};
use crate::state::Web;
use crate::volumes::{self, Tree};

/// Downloads a folder of a volume as a gzipped tar archive.
///
/// The archive is created while it is sent. Links and special files are left out.
#[utoipa::path(
    get,
    path = "/projects/{project}/volumes/{volume}/archive",
    tag = "volumes",
    params(("project" = String, Path), ("volume" = String, Path), FileQuery),
    responses((status = 200, description = "The archive", content_type = "application/gzip", body = Vec<u8>))
)]
pub(crate) async fn archive(
    State(web): State<Web>,
    caller: Caller,
    Path((project, name)): Path<(String, String)>,
    Query(query): Query<FileQuery>,
) -> ApiResult<Response> {
    match volumes::open(&web, Some(&caller), &project, &name).await? {
        Tree::Folder(folder) => files::archive(folder, &query.path, &name).await,
        Tree::Bucket(_) => Err(ApiError::conflict(
            "folders in a bucket cannot be downloaded as an archive: download their files, or copy them with the template `transfer`",
        )),
        Tree::Empty => Err(ApiError::not_found("file", query.path)),
    }
}
