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

/// The folders of code that a project has.
#[derive(Debug, Serialize, ToSchema)]
pub struct CodeFolders {
    /// How many there are, on all pages.
    pub folders: usize,
    /// How large they are together, in bytes.
    pub bytes: u64,
    /// The folders of this page, by digest.
    pub items: Vec<CodeFolder>,
    /// Ask for the next page with this as `cursor`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A folder of code that a project has.
#[derive(Debug, Serialize, ToSchema)]
pub struct CodeFolder {
    /// Its digest.
    pub digest: String,
    /// How many files it holds.
    pub files: u64,
    /// How large they are together, in bytes.
    pub bytes: u64,
    /// When it was last sent, or a version or run began to name it.
    pub sent_at: Time,
    /// When it is removed, unless a version or a run names it by then; absent while one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_at: Option<Time>,
}

/// The folders of code that were sent for a project's pipelines. One that no version and no run names is removed 30 days
/// after it was last sent.
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
