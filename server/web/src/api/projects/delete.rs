//! `DELETE /projects/{project}`

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;

use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::{IfMatch, changed};
use crate::extract::Path;
use crate::state::Web;

/// Deletes a project with its members, secrets, volumes, registries and hooks.
///
/// The request is refused if the project has pipelines or runs that have not ended. The project's history is kept
/// under its name, and no other project can use that name.
#[utoipa::path(
    delete,
    path = "/projects/{project}",
    tag = "projects",
    params(("project" = String, Path), ("If-Match" = String, Header)),
    responses(
        (status = 204),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
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
    let project = web.store().project(&name).await?.ok_or_else(|| ApiError::not_found("project", &name))?;
    let before = json!({"label": project.label, "description": project.description});
    let entry = audit::entry(&web, &caller, "project.delete", &name).before(before);
    let change = web.store().delete_project(&name, expected, &entry).await?;
    changed(change, "project", &name)?;
    web.people().forget();
    Ok(StatusCode::NO_CONTENT)
}
