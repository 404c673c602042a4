//! `PATCH /projects/{project}/models/{model}`

use axum::extract::State;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::ModelView;
use super::get::{find, model};
use crate::audit;
use crate::auth::Caller;
use crate::check::Found;
use crate::error::{ApiResult, ProblemDocument};
use crate::etag::{IfMatch, Tagged, changed};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Changes to a model.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelChange {
    /// Description.
    #[schema(max_length = 2000)]
    pub description: String,
}

/// Updates the description of a model.
#[utoipa::path(
    patch,
    path = "/projects/{project}/models/{model}",
    tag = "models",
    params(("project" = String, Path), ("model" = String, Path), ("If-Match" = String, Header)),
    request_body = ModelChange,
    responses(
        (status = 200, body = ModelView, headers(("ETag" = String))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 428, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn update(
    State(web): State<Web>,
    caller: Caller,
    Path((project, name)): Path<(String, String)>,
    IfMatch(expected): IfMatch,
    Json(change): Json<ModelChange>,
) -> ApiResult<Tagged<ModelView>> {
    let mut found = Found::default();
    found.text("/description", &change.description, 2000);
    found.refuse()?;
    let mut after = find(&web, &project, &name).await?;
    let entry = audit::entry(&web, &caller, "model.update", &name);
    let entry = entry.before(json!({"description": after.description}));
    after.description = change.description;
    after.updated_at = web.now();
    let entry = entry.after(json!({"description": after.description}));
    changed(web.store().describe_model(&after, expected, &entry).await?, "model", &name)?;
    let model = model(&web, &project, &name).await?;
    Ok(Tagged(model.revision, model))
}
