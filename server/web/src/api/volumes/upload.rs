//! `PUT /projects/{project}/volumes/{volume}/file`

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use cubeloom_storage::browse::BrowseError;
use serde_json::json;

use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Path, Query};
use crate::files::{self, Content, FileQuery};
use crate::state::Web;
use crate::volumes::{self, Tree};

/// Writes a file of a volume: the body is its content. It appears when it has come whole, and replaces what was there;
/// with `If-None-Match: *` it replaces nothing. Folders that are missing are made.
#[utoipa::path(
    put,
    path = "/projects/{project}/volumes/{volume}/file",
    tag = "volumes",
    params(
        ("project" = String, Path),
        ("volume" = String, Path),
        FileQuery,
        ("If-None-Match" = Option<String>, Header, description = "`*`: only where there is no such file yet")
    ),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses(
        (status = 204, description = "It is there"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 413, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn upload(
    State(web): State<Web>,
    caller: Caller,
    Path((project, name)): Path<(String, String)>,
    Query(query): Query<FileQuery>,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<StatusCode> {
    let most = web.settings().upload;
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: u64| length > most) {
        return Err(files::too_large(most));
    }
    let tree = volumes::open_to_write(&web, &project, &name).await?;
    if headers.contains_key(header::IF_NONE_MATCH) && files::exists(&tree, &query.path).await? {
        return Err(BrowseError::Exists(query.path).into());
    }
    let mut content = Content::new(body, most);
    let size = match tree {
        Tree::Folder(folder) => files::write(folder, &query.path, web.new_id(), &mut content).await?,
        Tree::Bucket(bucket) => files::write_object(bucket, &query.path, &mut content).await?,
        Tree::Empty => return Err(ApiError::not_found("volume", name)),
    };
    let after = json!({"path": query.path, "size": size});
    let entry = audit::entry(&web, &caller, "volume.write", &name).after(after);
    web.store().audit(&entry).await?;
    Ok(StatusCode::NO_CONTENT)
}
