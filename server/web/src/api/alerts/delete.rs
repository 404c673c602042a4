//! `DELETE /projects/{project}/alerts/{channel}`

use axum::extract::State;
use axum::http::StatusCode;

use super::of_route;
use super::view::audited;
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::etag::{IfMatch, changed};
use crate::extract::Path;
use crate::state::Web;

/// Deletes a channel with its pending messages and its history.
#[utoipa::path(
    delete,
    path = "/projects/{project}/alerts/{channel}",
    tag = "alerts",
    params(("project" = String, Path), ("channel" = String, Path), ("If-Match" = String, Header)),
    responses(
        (status = 204),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 428, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn delete(
    State(web): State<Web>,
    caller: Caller,
    Path(names): Path<(String, String)>,
    IfMatch(expected): IfMatch,
) -> ApiResult<StatusCode> {
    let channel = of_route(&web, &names).await?;
    let entry = audit::entry(&web, &caller, "alert.delete", &channel.id).before(audited(&channel));
    let change = web.store().delete_alert_channel(&channel.id, expected, &entry).await?;
    changed(change, "alert channel", &channel.id)?;
    Ok(StatusCode::NO_CONTENT)
}
