//! `GET /projects/{project}/volumes/{volume}/archive`

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::auth::Caller;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Path, Query};
use crate::files::{self, FileQuery};
use crate::state::Web;
use crate::volumes::{self, Tree};

/// Maximum length of an archive's name, in bytes, as of a file's.
const LONGEST_NAME: usize = 200;

/// The name of the archive.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ArchiveName {
    /// Name of the archive, without `.tar.gz`. Defaults to the name of the folder.
    #[param(max_length = 200)]
    name: Option<String>,
}

/// Downloads a folder of a volume as a gzipped tar archive.
///
/// The archive is created while it is sent. Links and special files are left out.
#[utoipa::path(
    get,
    path = "/projects/{project}/volumes/{volume}/archive",
    tag = "volumes",
    params(("project" = String, Path), ("volume" = String, Path), FileQuery, ArchiveName),
    responses((status = 200, description = "The archive", content_type = "application/gzip", body = Vec<u8>))
)]
pub(crate) async fn archive(
    State(web): State<Web>,
    caller: Caller,
    Path((project, name)): Path<(String, String)>,
    Query(query): Query<FileQuery>,
    Query(archive): Query<ArchiveName>,
) -> ApiResult<Response> {
    let last = query.path.trim_end_matches('/').rsplit('/').next().filter(|last| !last.is_empty());
    let called = archive.name.as_deref().or(last).unwrap_or(&name);
    if called.len() > LONGEST_NAME && archive.name.is_some() {
        return Err(ApiError::field("/name", format!("the name has more than {LONGEST_NAME} bytes")));
    }
    match volumes::open(&web, Some(&caller), &project, &name).await? {
        Tree::Folder(folder) => files::archive(folder, &query.path, called).await,
        Tree::Bucket(_) => Err(ApiError::conflict(
            "folders in a bucket cannot be downloaded as an archive: download their files, or copy them with the template `transfer`",
        )),
        Tree::Empty => Err(ApiError::not_found("file", query.path)),
    }
}
