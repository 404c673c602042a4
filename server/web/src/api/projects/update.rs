//! `PATCH /projects/{project}`

use axum::extract::State;
use cubeloom_domain::identity::{Keeping, Project};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{KeepingView, ProjectView, SizingWord};
use crate::archive;
use crate::audit;
use crate::auth::Caller;
use crate::check;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::{IfMatch, Tagged, changed};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Changes to apply. Omitted fields keep their values.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectChange {
    /// Display name.
    #[schema(min_length = 1, max_length = 80)]
    pub label: Option<String>,
    /// Description.
    #[schema(max_length = 2000)]
    pub description: Option<String>,
    /// Retention settings of the project's jobs. They replace all existing settings.
    pub keeping: Option<KeepingView>,
    /// Right-sizing mode of CPU and memory for pipelines and tasks that do not set one. It applies to runs that start
    /// after the change.
    pub sizing: Option<SizingWord>,
}

/// Updates the display name, description, retention settings and right-sizing mode of a project.
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
    let before = audited(&project);
    project.label = change.label.unwrap_or(project.label);
    project.description = change.description.unwrap_or(project.description);
    project.sizing_chosen |= change.sizing.is_some();
    project.sizing = change.sizing.map_or(project.sizing, Into::into);
    let mut found = check::Found::default();
    found.line("/label", &project.label, 80);
    found.text("/description", &project.description, 2000);
    if let Some(keeping) = change.keeping {
        project.keeping = keeping_of(&web, &name, keeping, &mut found).await?;
    }
    found.refuse()?;
    let after = audited(&project);
    let entry = audit::entry(&web, &caller, "project.update", &name).before(before).after(after);
    let change = web.store().update_project(&project, expected, &entry).await?;
    project.revision = changed(change, "project", &name)?;
    web.people().forget();
    web.archive().look();
    Ok(Tagged(project.revision, ProjectView::new(project, caller.role)))
}

fn audited(project: &Project) -> Value {
    let Project { label, description, keeping, sizing, .. } = project;
    json!({"label": label, "description": description, "keeping": keeping, "sizing": sizing})
}

/// Maximum retention of manifests, in seconds: a year.
const LONGEST: u64 = 365 * 86_400;

async fn keeping_of(
    web: &Web,
    project: &str,
    wanted: KeepingView,
    found: &mut check::Found,
) -> ApiResult<Keeping> {
    if wanted.objects.is_some_and(|seconds| seconds > LONGEST) {
        found.wrong("/keeping/objects", format!("the TTL after finish is at most {LONGEST} seconds, a year"));
    }
    let logs = wanted.logs.filter(|name| !name.is_empty());
    if let Some(name) = &logs {
        match web.store().volume(project, name).await?.map(|volume| volume.place) {
            Some(place) if archive::takes_logs(&place) => {}
            Some(_) => {
                found.wrong(
                    "/keeping/logs",
                    format!(
                        "the volume `{name}` is not in an object store: choose one that is, to copy logs"
                    ),
                );
            }
            None => found.wrong("/keeping/logs", format!("the project has no volume `{name}`")),
        }
    }
    Ok(Keeping { objects: wanted.objects, logs })
}
