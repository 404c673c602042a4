//! `PUT /projects/{project}/volumes/{volume}/file`

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use serde_json::json;

use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Path, Query};
use crate::files::{self, Content, Demands, FileQuery};
use crate::state::Web;
use crate::volumes;

/// Writes a file of a volume: the request body is its content.
///
/// The file appears once it is complete, and replaces an existing file. With `If-None-Match: *`, it replaces nothing.
/// With `If-Match`, it replaces only a file that has this ETag. Missing folders are created.
#[utoipa::path(
    put,
    path = "/projects/{project}/volumes/{volume}/file",
    tag = "volumes",
    params(
        ("project" = String, Path),
        ("volume" = String, Path),
        FileQuery,
        ("If-Match" = Option<String>, Header, description = "ETag of the file: the request fails if the file has changed"),
        ("If-None-Match" = Option<String>, Header, description = "`*`: the request fails if the file exists")
    ),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses(
        (status = 204, description = "Stored"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
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
    let tree = volumes::open_to_write(&web, &caller, &project, &name).await?;
    let mut content = Content::new(body, most);
    let demands = Demands::of(&headers)?;
    let size = files::write(&tree, &query.path, web.new_id(), &mut content, &demands).await?;
    let after = json!({"path": query.path, "size": size});
    let entry = audit::entry(&web, &caller, "volume.write", &name).after(after);
    web.store().audit(&entry).await?;
    Ok(StatusCode::NO_CONTENT)
}
