//! `DELETE /projects/{project}/models/{model}`

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;

use super::get::model;
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::etag::{IfMatch, changed};
use crate::extract::Path;
use crate::state::Web;

/// Deletes a model with all its versions.
///
/// Their files stay in the workspace.
#[utoipa::path(
    delete,
    path = "/projects/{project}/models/{model}",
    tag = "models",
    params(("project" = String, Path), ("model" = String, Path), ("If-Match" = String, Header)),
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
    IfMatch(expected): IfMatch,
) -> ApiResult<StatusCode> {
    let model = model(&web, &project, &name).await?;
    let before = json!({"versions": model.versions, "aliases": model.aliases});
    let entry = audit::entry(&web, &caller, "model.delete", &name).before(before);
    changed(web.store().delete_model(&project, &name, expected, &entry).await?, "model", &name)?;
    Ok(StatusCode::NO_CONTENT)
}
