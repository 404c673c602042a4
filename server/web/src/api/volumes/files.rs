//! `GET /projects/{project}/volumes/{volume}/files`

use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::{Json, Path, Query};
use crate::files::{self, EntryView, SortQuery};
use crate::page::{Page, PageQuery};
use crate::state::Web;
use crate::volumes::{self, Tree};

/// The folder, and the page of its list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FolderQuery {
    /// Path of the folder. Empty or omitted for the whole volume.
    #[serde(default)]
    path: String,
    /// Number of entries, from 1 to 200. Defaults to 50.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// Lists the entries of a folder in a volume.
///
/// Folders come first, then entries are sorted by name unless `sort` is set. A bucket is listed in its own order.
#[utoipa::path(
    get,
    path = "/projects/{project}/volumes/{volume}/files",
    tag = "volumes",
    params(("project" = String, Path), ("volume" = String, Path), FolderQuery, SortQuery),
    responses((status = 200, body = Page<EntryView>))
)]
pub(crate) async fn files(
    State(web): State<Web>,
    caller: Caller,
    Path((project, name)): Path<(String, String)>,
    Query(query): Query<FolderQuery>,
    Query(sort): Query<SortQuery>,
) -> ApiResult<Json<Page<EntryView>>> {
    let page = PageQuery { limit: query.limit, cursor: query.cursor };
    let sort = sort.read()?;
    let listed = match volumes::open(&web, Some(&caller), &project, &name).await? {
        Tree::Folder(folder) => files::list(Some(folder), &query.path, &sort, &page).await?,
        Tree::Empty => files::list(None, &query.path, &sort, &page).await?,
        Tree::Bucket(bucket) => files::list_bucket(&bucket, &query.path, &sort, &page).await?,
    };
    Ok(Json(listed))
}
