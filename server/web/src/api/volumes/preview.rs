//! `GET /projects/{project}/volumes/{volume}/preview`

use axum::extract::State;

use crate::auth::Caller;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Json, Path, Query};
use crate::files::{self, FileQuery, Preview};
use crate::state::Web;
use crate::volumes::{self, Tree};

/// Previews a file of a volume: its text, its JSON, or the first rows of its table.
///
/// For pictures and pages, display the file itself.
#[utoipa::path(
    get,
    path = "/projects/{project}/volumes/{volume}/preview",
    tag = "volumes",
    params(("project" = String, Path), ("volume" = String, Path), FileQuery),
    responses((status = 200, body = Preview))
)]
pub(crate) async fn preview(
    State(web): State<Web>,
    caller: Caller,
    Path((project, name)): Path<(String, String)>,
    Query(query): Query<FileQuery>,
) -> ApiResult<Json<Preview>> {
    let shown = match volumes::open(&web, Some(&caller), &project, &name).await? {
        Tree::Folder(folder) => files::preview(folder, &query.path).await?,
        Tree::Bucket(bucket) => files::preview_object(&bucket, &query.path).await?,
        Tree::Empty => return Err(ApiError::not_found("file", query.path)),
    };
    Ok(Json(shown))
}
