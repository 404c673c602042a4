//! `GET /runs/{run}/files`, `.../file` and `.../preview`: the folder shared by a run's tasks.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use cubeloom_domain::RunId;
use cubeloom_storage::browse::Folder;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::files::{self, EntryView, FileQuery, Preview, Show, SortQuery};
use crate::page::{Page, PageQuery};
use crate::runs::reader;
use crate::state::Web;

/// The file, and how to show it.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ServedQuery {
    /// Path relative to the run's folder, with `/` as the separator.
    pub path: String,
    /// Whether the browser may display the file itself, e.g. in a frame with `sandbox`. Otherwise the file is
    /// downloaded.
    #[serde(default)]
    pub inline: bool,
}

/// Lists a folder of a run.
#[utoipa::path(
    get,
    path = "/runs/{run}/files",
    tag = "artifacts",
    params(("run" = String, Path, description = "The run's id."), FileQuery, SortQuery, PageQuery),
    responses(
        (status = 200, body = Page<EntryView>),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn list_files(
    State(web): State<Web>,
    Path(run): Path<RunId>,
    Query(query): Query<FileQuery>,
    Query(sort): Query<SortQuery>,
    Query(page): Query<PageQuery>,
) -> ApiResult<Json<Page<EntryView>>> {
    let sort = sort.read()?;
    let folder = folder(&web, &run).await?;
    Ok(Json(files::list(folder, &query.path, &sort, &page).await?))
}

/// Returns a file of a run, or a range of it. A page written by a task is sent with restrictions: it can only be
/// displayed.
#[utoipa::path(
    get,
    path = "/runs/{run}/file",
    tag = "artifacts",
    params(("run" = String, Path, description = "The run's id."), ServedQuery),
    responses(
        (status = 200, body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 206, body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn file(
    State(web): State<Web>,
    Path(run): Path<RunId>,
    Query(query): Query<ServedQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let folder = present(&web, &run, &query.path).await?;
    let show = if query.inline { Show::Inline } else { Show::Download };
    files::serve(folder, &query.path, &headers, show).await
}

/// Returns a preview of a file of a run.
#[utoipa::path(
    get,
    path = "/runs/{run}/preview",
    tag = "artifacts",
    params(("run" = String, Path, description = "The run's id."), FileQuery),
    responses(
        (status = 200, body = Preview),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn preview(
    State(web): State<Web>,
    Path(run): Path<RunId>,
    Query(query): Query<FileQuery>,
) -> ApiResult<Json<Preview>> {
    let folder = present(&web, &run, &query.path).await?;
    Ok(Json(files::preview(folder, &query.path).await?))
}

async fn folder(web: &Web, run: &RunId) -> ApiResult<Option<Arc<Folder>>> {
    let record = reader::record(web, run).await?;
    Ok(files::run_folder(web, &record.project, run).await?.map(Arc::new))
}

async fn present(web: &Web, run: &RunId, path: &str) -> ApiResult<Arc<Folder>> {
    folder(web, run).await?.ok_or_else(|| ApiError::not_found("file", path))
}
