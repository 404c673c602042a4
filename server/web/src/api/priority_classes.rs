//! Priority classes: names for priorities, and whether jobs of a class preempt others.

use axum::extract::State;
use axum::http::StatusCode;
use cubeloom_domain::priority::{Preempts, PriorityClass};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

use crate::audit::{self, Entry};
use crate::auth::Caller;
use crate::check::Found;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::{IfMatch, Tagged, changed};
use crate::extract::{Json, Path};
use crate::routes::routes;
use crate::state::Web;

/// Maximum length of a name.
const NAME: usize = 63;
/// Maximum length of a description.
const DESCRIPTION: usize = 200;
/// Maximum absolute value of a priority.
const MAX_PRIORITY: i32 = 1000;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(get, put, delete))
}

/// Which jobs are preempted for one without capacity.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PreemptsView {
    /// None: the priority only orders the queue.
    #[default]
    Never,
    /// Jobs of a lower priority.
    Lower,
}

impl From<PreemptsView> for Preempts {
    fn from(view: PreemptsView) -> Self {
        match view {
            PreemptsView::Never => Self::Never,
            PreemptsView::Lower => Self::Lower,
        }
    }
}

impl From<Preempts> for PreemptsView {
    fn from(preempts: Preempts) -> Self {
        match preempts {
            Preempts::Never => Self::Never,
            Preempts::Lower => Self::Lower,
        }
    }
}

/// Priority class.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct PriorityClassView {
    /// Name by which pipelines and tasks refer to the class.
    pub name: String,
    /// Priority, from -1000 to 1000. Higher goes first.
    pub priority: i32,
    /// Which jobs are preempted for a job of this class that has no capacity.
    pub preempts: PreemptsView,
    /// What the class is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Revision number, used as the ETag.
    pub revision: u64,
}

impl From<PriorityClass> for PriorityClassView {
    fn from(class: PriorityClass) -> Self {
        let PriorityClass { name, priority, preempts, description, revision } = class;
        Self { name, priority, preempts: preempts.into(), description, revision }
    }
}

/// All priority classes.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct PriorityClassesView {
    /// Priority classes, the highest priority first.
    pub items: Vec<PriorityClassView>,
}

impl PriorityClassesView {
    /// Reads the priority classes.
    pub(crate) async fn read(web: &Web) -> ApiResult<Self> {
        let mut classes = web.store().priority_classes().await?;
        classes.sort_by(|a, b| b.priority.cmp(&a.priority).then_with(|| a.name.cmp(&b.name)));
        Ok(Self { items: classes.into_iter().map(PriorityClassView::from).collect() })
    }
}

/// Definition of a priority class.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PriorityClassBody {
    /// Priority, from -1000 to 1000. Higher goes first.
    #[schema(minimum = -1000, maximum = 1000)]
    pub priority: i32,
    /// Which jobs are preempted for a job of this class that has no capacity. Default: `never`.
    #[serde(default)]
    pub preempts: PreemptsView,
    /// What the class is for, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Lists all priority classes, the highest priority first.
#[utoipa::path(
    get,
    path = "/priority-classes",
    operation_id = "list_priority_classes",
    tag = "limits",
    responses((status = 200, body = PriorityClassesView))
)]
pub(crate) async fn list(State(web): State<Web>) -> ApiResult<Json<PriorityClassesView>> {
    Ok(Json(PriorityClassesView::read(&web).await?))
}

/// Returns a priority class.
#[utoipa::path(
    get,
    path = "/priority-classes/{class}",
    operation_id = "get_priority_class",
    tag = "limits",
    params(("class" = String, Path)),
    responses((status = 200, body = PriorityClassView, headers(("ETag" = String))))
)]
pub(crate) async fn get(
    State(web): State<Web>,
    Path(name): Path<String>,
) -> ApiResult<Tagged<PriorityClassView>> {
    let found = web.store().priority_class(&name).await?;
    let found = found.ok_or_else(|| ApiError::not_found("priority class", &name))?;
    Ok(Tagged(found.revision, found.into()))
}

/// Creates a priority class (`If-Match: "0"`, or `*`), or updates it.
///
/// The change applies to runs that are started after it. Other runs keep the priority that they have.
#[utoipa::path(
    put,
    path = "/priority-classes/{class}",
    operation_id = "put_priority_class",
    tag = "limits",
    params(("class" = String, Path), ("If-Match" = String, Header)),
    request_body = PriorityClassBody,
    responses(
        (status = 200, body = PriorityClassView, headers(("ETag" = String))),
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
    Json(body): Json<PriorityClassBody>,
) -> ApiResult<Tagged<PriorityClassView>> {
    let class = checked(&name, body)?;
    let entry = entry(&web, &caller, "priority_class.set", &name).await?.after(audited(&class));
    changed(web.store().put_priority_class(&class, expected, &entry).await?, "priority class", &name)?;
    get(State(web), Path(name)).await
}

/// Deletes a priority class.
///
/// Pipelines that refer to it cannot be started until they are changed. Runs keep the priority that they have.
#[utoipa::path(
    delete,
    path = "/priority-classes/{class}",
    operation_id = "delete_priority_class",
    tag = "limits",
    params(("class" = String, Path), ("If-Match" = String, Header)),
    responses(
        (status = 204),
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
    let entry = entry(&web, &caller, "priority_class.delete", &name).await?;
    changed(web.store().delete_priority_class(&name, expected, &entry).await?, "priority class", &name)?;
    Ok(StatusCode::NO_CONTENT)
}

fn checked(name: &str, body: PriorityClassBody) -> ApiResult<PriorityClass> {
    let mut found = Found::default();
    found.name("/class", name, NAME);
    if !(-MAX_PRIORITY..=MAX_PRIORITY).contains(&body.priority) {
        let message = format!("a priority is a whole number from -{MAX_PRIORITY} to {MAX_PRIORITY}");
        found.wrong("/priority", message);
    }
    let description = body.description.filter(|text| !text.trim().is_empty());
    if let Some(text) = &description {
        found.line("/description", text, DESCRIPTION);
    }
    found.refuse()?;
    let (priority, preempts) = (body.priority, body.preempts.into());
    Ok(PriorityClass { name: name.to_owned(), priority, preempts, description, revision: 0 })
}

async fn entry(web: &Web, caller: &Caller, action: &str, name: &str) -> ApiResult<Entry> {
    let entry = audit::entry(web, caller, action, name);
    Ok(match web.store().priority_class(name).await? {
        Some(before) => entry.before(audited(&before)),
        None => entry,
    })
}

/// Class as the audit log records it: as it is sent.
fn audited(class: &PriorityClass) -> Value {
    let PriorityClass { priority, preempts, description, .. } = class.clone();
    let body = PriorityClassBody { priority, preempts: preempts.into(), description };
    serde_json::to_value(body).unwrap_or_default()
}
