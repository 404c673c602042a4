//! `DELETE /clusters/{cluster}`

use axum::extract::State;
use axum::http::StatusCode;

use super::settings::audited;
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::{IfMatch, changed};
use crate::extract::Path;
use crate::state::Web;

/// Removes a cluster that was added.
///
/// Nothing on the cluster is changed. The cluster cannot be removed while it has jobs of the platform.
#[utoipa::path(
    delete,
    path = "/clusters/{cluster}",
    tag = "clusters",
    params(("cluster" = String, Path), ("If-Match" = String, Header)),
    responses(
        (status = 204),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn delete(
    State(web): State<Web>,
    caller: Caller,
    Path(name): Path<String>,
    IfMatch(expected): IfMatch,
) -> ApiResult<StatusCode> {
    let record = web.store().cluster(&name).await?.ok_or_else(|| ApiError::not_found("cluster", &name))?;
    let held = web.store().holding().await?;
    let there = held.iter().filter(|held| held.attempt.bindings.cluster() == Some(name.as_str()));
    let count = there.count();
    if count > 0 {
        let message = format!("{count} attempts are running there: wait for their end, or cancel their runs");
        return Err(ApiError::conflict(message));
    }
    let entry = audit::entry(&web, &caller, "cluster.delete", &name).before(audited(&record));
    changed(web.store().delete_cluster(&name, expected, &entry).await?, "cluster", &name)?;
    web.clusters().remove(&name);
    web.wake();
    Ok(StatusCode::NO_CONTENT)
}
