//! `DELETE /projects/{project}/volumes/{volume}/file`

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;

use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Path, Query};
use crate::files::{FileQuery, blocking};
use crate::state::Web;
use crate::volumes::{self, Tree};

/// Deletes a file of a volume, or a folder with all that is in it.
#[utoipa::path(
    delete,
    path = "/projects/{project}/volumes/{volume}/file",
    tag = "volumes",
    params(("project" = String, Path), ("volume" = String, Path), FileQuery),
    responses((status = 204, description = "It is gone"))
)]
pub(crate) async fn remove(
    State(web): State<Web>,
    caller: Caller,
    Path((project, name)): Path<(String, String)>,
    Query(query): Query<FileQuery>,
) -> ApiResult<StatusCode> {
    let path = query.path.clone();
    match volumes::open(&web, &project, &name).await? {
        Tree::Folder(folder) => blocking(move || folder.remove(&path)).await?,
        Tree::Bucket(bucket) => bucket.remove(&path).await?,
        Tree::Empty => return Err(ApiError::not_found("file", path)),
    }
    let entry = audit::entry(&web, &caller, "volume.remove", &name).before(json!({"path": query.path}));
    web.store().audit(&entry).await?;
    Ok(StatusCode::NO_CONTENT)
}
