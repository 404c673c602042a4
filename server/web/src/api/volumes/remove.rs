//! `DELETE /projects/{project}/volumes/{volume}/file`

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde_json::json;

use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Path, Query};
use crate::files::{Demands, FileQuery, blocking};
use crate::state::Web;
use crate::volumes::{self, Tree};

/// Deletes a file of a volume, or a folder with all its content.
///
/// With `If-Match`, only a file that has this ETag is deleted.
#[utoipa::path(
    delete,
    path = "/projects/{project}/volumes/{volume}/file",
    tag = "volumes",
    params(
        ("project" = String, Path),
        ("volume" = String, Path),
        FileQuery,
        ("If-Match" = Option<String>, Header, description = "ETag of the file: the request fails if the file has changed")
    ),
    responses(
        (status = 204, description = "Deleted"),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn remove(
    State(web): State<Web>,
    caller: Caller,
    Path((project, name)): Path<(String, String)>,
    Query(query): Query<FileQuery>,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    let path = query.path.clone();
    let tree = volumes::open(&web, Some(&caller), &project, &name).await?;
    Demands::of(&headers)?.met(&tree, &path).await?;
    match tree {
        Tree::Folder(folder) => blocking(move || folder.remove(&path)).await?,
        Tree::Bucket(bucket) => bucket.remove(&path).await?,
        Tree::Empty => return Err(ApiError::not_found("file", path)),
    }
    let entry = audit::entry(&web, &caller, "volume.remove", &name).before(json!({"path": query.path}));
    web.store().audit(&entry).await?;
    Ok(StatusCode::NO_CONTENT)
}
