//! `DELETE /clusters/{cluster}/gpus/{gpu}/fault`

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;

use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::Path;
use crate::state::Web;

/// Makes a GPU of the server's own machine available to jobs again after the driver reported an XID error.
///
/// Use this operation if you know that the GPU is healthy. The error is cleared, and the next one counts as the first
/// one did.
#[utoipa::path(
    delete,
    path = "/clusters/{cluster}/gpus/{gpu}/fault",
    operation_id = "forget_fault",
    tag = "monitoring",
    params(("cluster" = String, Path), ("gpu" = String, Path)),
    responses(
        (status = 204),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn forget(
    State(web): State<Web>,
    caller: Caller,
    Path((cluster, gpu)): Path<(String, String)>,
) -> ApiResult<StatusCode> {
    let executor = web.clusters().get(&cluster).ok_or_else(|| ApiError::not_found("cluster", &cluster))?;
    let no_fault = || ApiError::not_found("faulty GPU", &gpu);
    let xid = executor.known_fault(&gpu).ok_or_else(no_fault)?;
    // Audit first: if this fails, the GPU stays unusable for jobs and the request can be retried.
    let entry = audit::entry(&web, &caller, "card.take_back", format!("{cluster}/{gpu}"));
    web.store().audit(&entry.before(json!({"xid": xid}))).await?;
    executor.forget_fault(&gpu).ok_or_else(no_fault)?;
    web.wake();
    Ok(StatusCode::NO_CONTENT)
}

#[cfg(test)]
mod tests;
