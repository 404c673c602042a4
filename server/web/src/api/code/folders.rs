//! `GET /projects/{project}/code`

use axum::extract::State;
use cubeloom_domain::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::code;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;
use crate::time::Time;

/// Code folders of a project.
#[derive(Debug, Serialize, ToSchema)]
pub struct CodeFolders {
    /// Total number of folders, on all pages.
    pub folders: usize,
    /// Total size, in bytes.
    pub bytes: u64,
    /// Folders on this page, by digest.
    pub items: Vec<CodeFolder>,
    /// Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Code folder of a project.
#[derive(Debug, Serialize, ToSchema)]
pub struct CodeFolder {
    /// Digest of the folder.
    pub digest: String,
    /// Number of files in the folder.
    pub files: u64,
    /// Total size, in bytes.
    pub bytes: u64,
    /// Time when the folder was last uploaded, or when a version or run started to reference it.
    pub sent_at: Time,
    /// Time when the folder is removed, unless a version or run references it by then. Omitted while one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_at: Option<Time>,
}

/// Lists the code folders that were uploaded for a project's pipelines.
///
/// A folder that no version and no run references is removed 30 days after its last upload.
#[utoipa::path(
    get,
    path = "/projects/{project}/code",
    tag = "pipelines",
    params(("project" = String, Path), PageQuery),
    responses(
        (status = 200, body = CodeFolders),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn folders(
    State(web): State<Web>,
    Path(project): Path<String>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<CodeFolders>> {
    let kept = code::notes_of(&web, &project).await?;
    let used = web.store().code_in_use(&project).await?;
    let (folders, bytes) = (kept.len(), kept.iter().map(|one| one.bytes).sum());
    let page = Page::cut(kept, &query, |one| one.digest.clone())?;
    let after = i64::try_from(code::AFTER.as_micros()).unwrap_or(i64::MAX);
    let page = page.map(|one| CodeFolder {
        removed_at: (!used.contains(&one.digest))
            .then(|| Time(Timestamp(one.sent_at.0.saturating_add(after)))),
        digest: one.digest,
        files: one.files,
        bytes: one.bytes,
        sent_at: Time(one.sent_at),
    });
    Ok(Json(CodeFolders { folders, bytes, items: page.items, next_cursor: page.next_cursor }))
}
