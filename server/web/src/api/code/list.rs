//! `GET /projects/{project}/code/{digest}`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::code;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Code folder.
#[derive(Debug, Serialize, ToSchema)]
pub struct CodeView {
    /// Digest of the folder.
    pub digest: String,
    /// Files of the folder, by name.
    pub files: Vec<CodeFile>,
}

/// File of a code folder.
#[derive(Debug, Serialize, ToSchema)]
pub struct CodeFile {
    /// Path of the file, relative to the folder, with `/` as separator.
    pub path: String,
    /// Size, in bytes.
    pub bytes: u64,
    /// Whether it is executable.
    pub executable: bool,
}

/// Lists the files of a code folder.
#[utoipa::path(
    get,
    path = "/projects/{project}/code/{digest}",
    tag = "pipelines",
    params(("project" = String, Path), ("digest" = String, Path)),
    responses(
        (status = 200, body = CodeView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn list(
    State(web): State<Web>,
    Path((project, digest)): Path<(String, String)>,
) -> ApiResult<Json<CodeView>> {
    let folder = code::folder(&web, &project, &digest)?;
    let files = code::listing(folder).await?.into_iter().map(|file| CodeFile {
        path: file.name.to_string_lossy().into_owned(),
        bytes: file.bytes,
        executable: file.executable,
    });
    Ok(Json(CodeView { digest, files: files.collect() }))
}
