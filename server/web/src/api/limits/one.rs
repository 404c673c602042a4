//! `GET`, `PUT` and `DELETE` of /limits/{limit}

use axum::extract::State;
use axum::http::StatusCode;

use super::view::{LimitBody, LimitView};
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::{IfMatch, Tagged};
use crate::extract::{Json, Path};
use crate::named_limits;
use crate::state::Web;

/// Returns a concurrency limit and the jobs that use it now.
#[utoipa::path(
    get,
    path = "/limits/{limit}",
    operation_id = "get_limit",
    tag = "limits",
    params(("limit" = String, Path)),
    responses((status = 200, body = LimitView, headers(("ETag" = String))))
)]
pub(crate) async fn get(
    State(web): State<Web>,
    caller: Caller,
    Path(name): Path<String>,
) -> ApiResult<Tagged<LimitView>> {
    let found = named_limits::shown(&web, &caller).await?.items.into_iter().find(|one| one.name == name);
    let found = found.ok_or_else(|| ApiError::not_found("limit", &name))?;
    Ok(Tagged(found.revision, found))
}

/// Creates a limit (`If-Match: "0"`, or `*`), or updates it.
///
/// Jobs that wait for the limit are re-evaluated immediately.
#[utoipa::path(
    put,
    path = "/limits/{limit}",
    operation_id = "put_limit",
    tag = "limits",
    params(("limit" = String, Path), ("If-Match" = String, Header)),
    request_body = LimitBody,
    responses(
        (status = 200, body = LimitView, headers(("ETag" = String))),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 428, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn put(
    State(web): State<Web>,
    caller: Caller,
    Path(name): Path<String>,
    IfMatch(expected): IfMatch,
    Json(body): Json<LimitBody>,
) -> ApiResult<Tagged<LimitView>> {
    named_limits::put(&web, &caller, &name, expected, body).await?;
    get(State(web), caller, Path(name)).await
}

/// Deletes a limit.
///
/// Tasks that reference it are no longer restricted.
#[utoipa::path(
    delete,
    path = "/limits/{limit}",
    operation_id = "delete_limit",
    tag = "limits",
    params(("limit" = String, Path), ("If-Match" = String, Header)),
    responses(
        (status = 204),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 428, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn delete(
    State(web): State<Web>,
    caller: Caller,
    Path(name): Path<String>,
    IfMatch(expected): IfMatch,
) -> ApiResult<StatusCode> {
    named_limits::delete(&web, &caller, &name, expected).await?;
    Ok(StatusCode::NO_CONTENT)
}
