//! `GET`, `PUT` and `DELETE` of /quotas/groups/{group}

use axum::extract::State;
use axum::http::StatusCode;
use cubeloom_domain::quota::Queue;

use super::view::{QueueBody, SaidView};
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::etag::{IfMatch, Tagged};
use crate::extract::{Json, Path};
use crate::quotas::{self, edit};
use crate::state::Web;

/// Gets the settings of a group.
#[utoipa::path(
    get,
    path = "/quotas/groups/{group}",
    tag = "quotas",
    params(("group" = String, Path)),
    responses((status = 200, body = SaidView, headers(("ETag" = String))))
)]
pub(crate) async fn get_group(
    State(web): State<Web>,
    Path(name): Path<String>,
) -> ApiResult<Tagged<SaidView>> {
    Ok(SaidView::of(&quotas::said_of(&web, &Queue::Group(name)).await?))
}

/// Creates a group or updates its parent and quotas.
///
/// To create a group, send `If-Match: "0"` or `*`. A refused request changes nothing.
#[utoipa::path(
    put,
    path = "/quotas/groups/{group}",
    tag = "quotas",
    params(("group" = String, Path), ("If-Match" = String, Header)),
    request_body = QueueBody,
    responses(
        (status = 200, body = SaidView, headers(("ETag" = String))),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 428, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn put_group(
    State(web): State<Web>,
    caller: Caller,
    Path(name): Path<String>,
    IfMatch(expected): IfMatch,
    Json(body): Json<QueueBody>,
) -> ApiResult<Tagged<SaidView>> {
    Ok(SaidView::of(&edit::put(&web, &caller, Queue::Group(name), expected, body).await?))
}

/// Deletes an empty group.
#[utoipa::path(
    delete,
    path = "/quotas/groups/{group}",
    tag = "quotas",
    params(("group" = String, Path), ("If-Match" = String, Header)),
    responses(
        (status = 204),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 428, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn delete_group(
    State(web): State<Web>,
    caller: Caller,
    Path(name): Path<String>,
    IfMatch(expected): IfMatch,
) -> ApiResult<StatusCode> {
    edit::delete(&web, &caller, Queue::Group(name), expected).await?;
    Ok(StatusCode::NO_CONTENT)
}
