//! `DELETE /projects/{project}/pipelines/{pipeline}`

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;

use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::{IfMatch, changed};
use crate::extract::Path;
use crate::state::Web;

/// Deletes a pipeline and its hooks.
///
/// The versions and runs of the pipeline are kept. A new pipeline with the same name continues the version numbers.
#[utoipa::path(
    delete,
    path = "/projects/{project}/pipelines/{pipeline}",
    tag = "pipelines",
    params(("project" = String, Path), ("pipeline" = String, Path), ("If-Match" = String, Header)),
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
    Path((project, name)): Path<(String, String)>,
    IfMatch(seen): IfMatch,
) -> ApiResult<StatusCode> {
    let expected = seen.map(|seen| u32::try_from(seen).unwrap_or(u32::MAX));
    let newest =
        web.store().newest(&project, &name).await?.ok_or_else(|| ApiError::not_found("pipeline", &name))?;
    let before = json!({"version": newest.version, "digest": newest.digest});
    let entry = audit::entry(&web, &caller, "pipeline.delete", &name).before(before);
    let change = web.store().delete_pipeline(&project, &name, expected, &entry).await?;
    changed(change, "pipeline", &name)?;
    Ok(StatusCode::NO_CONTENT)
}
