//! `GET /projects/{project}/code/{digest}`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::code;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::state::Web;

/// A folder of code.
#[derive(Debug, Serialize, ToSchema)]
pub struct CodeView {
    /// Its digest.
    pub digest: String,
    /// Its files, by name.
    pub files: Vec<CodeFile>,
}

/// A file of a folder of code.
#[derive(Debug, Serialize, ToSchema)]
pub struct CodeFile {
    /// Its path below the folder, with `/` between its parts.
    pub path: String,
    /// Its length, in bytes.
    pub bytes: u64,
    /// Whether it may be executed.
    pub executable: bool,
}

/// The files of a folder of code.
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
