//! `GET`, `PUT` and `DELETE` of /projects/{project}/quota

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

/// Gets the group and quotas of a project.
#[utoipa::path(
    get,
    path = "/projects/{project}/quota",
    tag = "quotas",
    params(("project" = String, Path)),
    responses((status = 200, body = SaidView, headers(("ETag" = String))))
)]
pub(crate) async fn get_project(
    State(web): State<Web>,
    Path(name): Path<String>,
) -> ApiResult<Tagged<SaidView>> {
    Ok(SaidView::of(&quotas::said_of(&web, &Queue::Project(name)).await?))
}

/// Sets the group of a project and its quotas for each cluster and node group.
///
/// A refused request changes nothing.
#[utoipa::path(
    put,
    path = "/projects/{project}/quota",
    tag = "quotas",
    params(("project" = String, Path), ("If-Match" = String, Header)),
    request_body = QueueBody,
    responses(
        (status = 200, body = SaidView, headers(("ETag" = String))),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 428, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn put_project(
    State(web): State<Web>,
    caller: Caller,
    Path(name): Path<String>,
    IfMatch(expected): IfMatch,
    Json(body): Json<QueueBody>,
) -> ApiResult<Tagged<SaidView>> {
    Ok(SaidView::of(&edit::put(&web, &caller, Queue::Project(name), expected, body).await?))
}

/// Removes the quota settings of a project.
///
/// The project then is at the top level of the tree, without a guarantee and without a limit.
#[utoipa::path(
    delete,
    path = "/projects/{project}/quota",
    tag = "quotas",
    params(("project" = String, Path), ("If-Match" = String, Header)),
    responses(
        (status = 204),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 428, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn delete_project(
    State(web): State<Web>,
    caller: Caller,
    Path(name): Path<String>,
    IfMatch(expected): IfMatch,
) -> ApiResult<StatusCode> {
    edit::delete(&web, &caller, Queue::Project(name), expected).await?;
    Ok(StatusCode::NO_CONTENT)
}
