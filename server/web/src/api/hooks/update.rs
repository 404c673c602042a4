//! `PATCH /projects/{project}/pipelines/{pipeline}/hooks/{hook}`

use axum::extract::State;
use cubeloom_domain::JsonMap;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::{HookView, Names, of_route};
use crate::audit;
use crate::auth::Caller;
use crate::check;
use crate::error::{ApiResult, ProblemDocument};
use crate::etag::{IfMatch, Tagged, changed};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Changes to apply. Omitted fields keep their values.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HookChange {
    /// Name.
    #[schema(min_length = 1, max_length = 80)]
    pub name: Option<String>,
    /// Parameters of the runs that the hook starts.
    #[schema(value_type = Option<Object>)]
    pub parameters: Option<JsonMap>,
}

/// Updates a hook.
///
/// Every change, even an empty one, creates a new URL, and the old one stops working.
#[utoipa::path(
    patch,
    path = "/projects/{project}/pipelines/{pipeline}/hooks/{hook}",
    tag = "pipelines",
    params(
        ("project" = String, Path),
        ("pipeline" = String, Path),
        ("hook" = String, Path),
        ("If-Match" = String, Header)
    ),
    request_body = HookChange,
    responses(
        (status = 200, body = HookView, headers(("ETag" = String))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 428, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn update(
    State(web): State<Web>,
    caller: Caller,
    Path(names): Path<Names>,
    IfMatch(expected): IfMatch,
    Json(change): Json<HookChange>,
) -> ApiResult<Tagged<HookView>> {
    let mut hook = of_route(&web, &names).await?;
    let before = json!({"name": hook.name, "parameters": hook.parameters, "revision": hook.revision});
    hook.name = change.name.unwrap_or(hook.name);
    hook.parameters = change.parameters.unwrap_or(hook.parameters);
    let mut found = check::Found::default();
    found.line("/name", &hook.name, 80);
    found.refuse()?;
    let after = json!({"name": hook.name, "parameters": hook.parameters});
    let entry = audit::entry(&web, &caller, "hook.update", &hook.id).before(before).after(after);
    let change = web.store().update_hook(&hook, expected, &entry).await?;
    hook.revision = changed(change, "hook", &hook.id)?;
    Ok(Tagged(hook.revision, HookView::new(&web, hook)))
}
