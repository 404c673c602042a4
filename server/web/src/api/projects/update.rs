//! `PATCH /projects/{project}`

use axum::extract::State;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::ProjectView;
use crate::audit;
use crate::auth::Caller;
use crate::check;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::{IfMatch, Tagged, changed};
use crate::extract::{Json, Path};
use crate::state::Web;

/// What changes; what is absent stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectChange {
    /// What it is called.
    #[schema(min_length = 1, max_length = 80)]
    pub label: Option<String>,
    /// What it is for.
    #[schema(max_length = 2000)]
    pub description: Option<String>,
}

/// Changes what a project is called and what it is for.
#[utoipa::path(
    patch,
    path = "/projects/{project}",
    tag = "projects",
    params(("project" = String, Path), ("If-Match" = String, Header)),
    request_body = ProjectChange,
    responses(
        (status = 200, body = ProjectView, headers(("ETag" = String))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 428, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn update(
    State(web): State<Web>,
    caller: Caller,
    Path(name): Path<String>,
    IfMatch(expected): IfMatch,
    Json(change): Json<ProjectChange>,
) -> ApiResult<Tagged<ProjectView>> {
    let missing = || ApiError::not_found("project", &name);
    let mut project = web.store().project(&name).await?.ok_or_else(missing)?;
    let before = json!({"label": project.label, "description": project.description});
    project.label = change.label.unwrap_or(project.label);
    project.description = change.description.unwrap_or(project.description);
    let mut found = check::Found::default();
    found.line("/label", &project.label, 80);
    found.text("/description", &project.description, 2000);
    found.refuse()?;
    let after = json!({"label": project.label, "description": project.description});
    let entry = audit::entry(&web, &caller, "project.update", &name).before(before).after(after);
    let change = web.store().update_project(&project, expected, &entry).await?;
    project.revision = changed(change, "project", &name)?;
    web.people().forget();
    Ok(Tagged(project.revision, ProjectView::new(project, caller.role)))
}
