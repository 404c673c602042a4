//! `POST /projects`

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use cubeloom_domain::identity::{Keeping, Places, Project, Role};
use cubeloom_store::Created;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::ProjectView;
use crate::audit;
use crate::auth::Caller;
use crate::check;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::Tagged;
use crate::extract::Json;
use crate::state::Web;

/// A project to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewProject {
    /// Name of the project: lower-case letters, digits and `-`, at most 40 characters. The name cannot be changed.
    #[schema(min_length = 1, max_length = 40, pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
    pub name: String,
    /// Display name of the project. Defaults to its name.
    #[schema(max_length = 80)]
    pub label: Option<String>,
    /// Description.
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub description: String,
}

/// Creates a project.
///
/// The caller becomes its first owner. Only administrators can create projects.
#[utoipa::path(
    post,
    path = "/projects",
    tag = "projects",
    request_body = NewProject,
    responses(
        (status = 201, body = ProjectView, headers(("ETag" = String), ("Location" = String))),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn create(
    State(web): State<Web>,
    caller: Caller,
    Json(new): Json<NewProject>,
) -> ApiResult<Response> {
    let project = project(&web, new)?;
    let name = &project.name;
    let after = json!({"label": project.label, "description": project.description});
    let entry = audit::entry(&web, &caller, "project.create", name).project(name).after(after);
    if web.store().create_project(&project, &entry).await? == Created::Exists {
        return Err(ApiError::conflict(format!("the project `{name}` already exists: choose another name")));
    }
    let entry = audit::entry(&web, &caller, "member.put", &caller.user.name);
    let entry = entry.project(name).after(json!({"role": Role::Owner}));
    web.store().put_member(name, &caller.user.id, Role::Owner, None, &entry).await?;
    web.people().forget();
    let place = format!("/api/v1/projects/{name}");
    let view = ProjectView::new(project, Some(Role::Owner));
    Ok((StatusCode::CREATED, [(header::LOCATION, place)], Tagged(1, view)).into_response())
}

fn project(web: &Web, new: NewProject) -> ApiResult<Project> {
    let mut found = check::Found::default();
    found.name("/name", &new.name, 40);
    let label = new.label.unwrap_or_else(|| new.name.clone());
    found.line("/label", &label, 80);
    found.text("/description", &new.description, 2000);
    found.refuse()?;
    let (description, created_at) = (new.description, web.now());
    Ok(Project {
        name: new.name,
        label,
        description,
        keeping: Keeping::default(),
        places: Places::default(),
        sizing: web.settings().sizing,
        sizing_chosen: true,
        created_at,
        revision: 1,
    })
}
