//! `DELETE /projects/{project}/members/{user}`

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;

use crate::api::users::person;
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::etag::{IfMatch, changed};
use crate::extract::Path;
use crate::state::Web;

/// Removes a member from a project.
///
/// Their runs and pipelines are kept. The last owner cannot be removed.
#[utoipa::path(
    delete,
    path = "/projects/{project}/members/{user}",
    tag = "projects",
    params(
        ("project" = String, Path),
        ("user" = String, Path, description = "A person's name, or their id"),
        ("If-Match" = String, Header)
    ),
    responses(
        (status = 204),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 428, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn remove(
    State(web): State<Web>,
    caller: Caller,
    Path((project, user)): Path<(String, String)>,
    IfMatch(expected): IfMatch,
) -> ApiResult<StatusCode> {
    let user = person(&web, &user).await?;
    let role = web.store().role(&project, &user.id).await?;
    let entry = audit::entry(&web, &caller, "member.remove", &user.name).before(json!({"role": role}));
    let change = web.store().remove_member(&project, &user.id, expected, &entry).await?;
    changed(change, "member", &user.name)?;
    web.people().forget();
    Ok(StatusCode::NO_CONTENT)
}
