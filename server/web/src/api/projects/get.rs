//! `GET /projects/{project}`

use axum::extract::State;

use super::ProjectView;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::Tagged;
use crate::extract::Path;
use crate::state::Web;

/// Gets a project.
#[utoipa::path(
    get,
    path = "/projects/{project}",
    tag = "projects",
    params(("project" = String, Path)),
    responses(
        (status = 200, body = ProjectView, headers(("ETag" = String))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn get(
    State(web): State<Web>,
    caller: Caller,
    Path(name): Path<String>,
) -> ApiResult<Tagged<ProjectView>> {
    let missing = || ApiError::not_found("project", &name);
    let project = web.store().project(&name).await?.ok_or_else(missing)?;
    let standing = web.store().budget_standing(&name, web.now()).await?;
    let (revision, view) = (project.revision, ProjectView::new(project, caller.role));
    Ok(Tagged(revision, view.with_behind(&web).with_budget(standing.as_ref())))
}
