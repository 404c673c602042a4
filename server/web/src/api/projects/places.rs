//! `PUT /projects/{project}/places`

use axum::extract::State;
use cubeloom_domain::identity::Places;
use cubeloom_domain::quota::Pool;
use cubeloom_domain::quota::room::Rooms;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::ProjectView;
use crate::audit;
use crate::auth::Caller;
use crate::check::Found;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::{IfMatch, Tagged, changed};
use crate::extract::{Json, Path};
use crate::quotas::all_rooms;
use crate::state::Web;

/// Allowed target clusters of a project's jobs. Targets have the form `CLUSTER` or `CLUSTER/NODE_GROUP`. A cluster
/// includes all of its node groups.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PlacesView {
    /// Allowed clusters and node groups. If empty, all are allowed.
    #[serde(default)]
    pub allowed: Vec<String>,
    /// Default target of pipelines that do not name one. If omitted, the first allowed target is used.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usual: Option<String>,
}

impl From<&Places> for PlacesView {
    fn from(places: &Places) -> Self {
        Self {
            allowed: places.allowed.iter().map(ToString::to_string).collect(),
            usual: places.usual.as_ref().map(ToString::to_string),
        }
    }
}

/// Sets the allowed clusters and node groups of a project, and its default target.
///
/// The default target applies to pipelines that do not name one. Runs that have already started stay where they are.
#[utoipa::path(
    put,
    path = "/projects/{project}/places",
    tag = "projects",
    params(("project" = String, Path), ("If-Match" = String, Header)),
    request_body = PlacesView,
    responses(
        (status = 200, body = ProjectView, headers(("ETag" = String))),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 428, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn put(
    State(web): State<Web>,
    caller: Caller,
    Path(name): Path<String>,
    IfMatch(expected): IfMatch,
    Json(said): Json<PlacesView>,
) -> ApiResult<Tagged<ProjectView>> {
    let missing = || ApiError::not_found("project", &name);
    let mut project = web.store().project(&name).await?.ok_or_else(missing)?;
    let before = json!({"places": project.places});
    project.places = places(said, &all_rooms(&web).await?)?;
    let entry = audit::entry(&web, &caller, "project.places", &name);
    let entry = entry.before(before).after(json!({"places": project.places}));
    let change = web.store().update_project(&project, expected, &entry).await?;
    project.revision = changed(change, "project", &name)?;
    web.people().forget();
    Ok(Tagged(project.revision, ProjectView::new(project, caller.role)))
}

fn places(said: PlacesView, rooms: &Rooms) -> ApiResult<Places> {
    let mut found = Found::default();
    let mut place = |field: String, text: &str| {
        let pool = text.parse::<Pool>().ok().filter(|pool| rooms.contains_key(pool));
        if pool.is_none() {
            found.wrong(&field, format!("there is no cluster or node group `{text}`"));
        }
        pool
    };
    let allowed = said.allowed.iter().enumerate();
    let allowed = allowed.filter_map(|(at, text)| place(format!("/allowed/{at}"), text)).collect();
    let usual = said.usual.filter(|text| !text.is_empty());
    let usual = usual.and_then(|text| place("/usual".to_owned(), &text));
    let places = Places { allowed, usual };
    if let Some(usual) = places.usual.as_ref().filter(|usual| !places.allow(usual)) {
        found.wrong(
            "/usual",
            format!("the project may not use `{usual}`: add it to the allowed clusters, too"),
        );
    }
    found.refuse()?;
    Ok(places)
}
