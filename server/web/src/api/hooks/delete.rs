//! `DELETE /projects/{project}/pipelines/{pipeline}/hooks/{hook}`

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;

use super::{Names, of_route};
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::etag::{IfMatch, changed};
use crate::extract::Path;
use crate::state::Web;

/// Deletes a hook. Its URL stops working.
#[utoipa::path(
    delete,
    path = "/projects/{project}/pipelines/{pipeline}/hooks/{hook}",
    tag = "pipelines",
    params(
        ("project" = String, Path),
        ("pipeline" = String, Path),
        ("hook" = String, Path),
        ("If-Match" = String, Header)
    ),
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
    Path(names): Path<Names>,
    IfMatch(expected): IfMatch,
) -> ApiResult<StatusCode> {
    let hook = of_route(&web, &names).await?;
    let before = json!({"name": hook.name, "pipeline": hook.pipeline, "parameters": hook.parameters});
    let entry = audit::entry(&web, &caller, "hook.delete", &hook.id).before(before);
    let change = web.store().delete_hook(&hook.id, expected, &entry).await?;
    changed(change, "hook", &hook.id)?;
    Ok(StatusCode::NO_CONTENT)
}
