//! `POST /projects/{project}/pipelines/{pipeline}/hooks`

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use cubeloom_domain::JsonMap;
use cubeloom_domain::belongings::Hook;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::HookView;
use crate::audit;
use crate::auth::Caller;
use crate::check;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::Tagged;
use crate::extract::{Json, Path};
use crate::state::Web;

/// Hook to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewHook {
    /// Name.
    #[schema(min_length = 1, max_length = 80)]
    pub name: String,
    /// Parameters of the runs that the hook starts.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub parameters: JsonMap,
}

/// Creates a URL that starts the pipeline.
///
/// Its runs belong to you. The URL works as long as you may start the runs yourself.
#[utoipa::path(
    post,
    path = "/projects/{project}/pipelines/{pipeline}/hooks",
    tag = "pipelines",
    params(("project" = String, Path), ("pipeline" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = NewHook,
    responses(
        (status = 201, body = HookView, headers(("ETag" = String), ("Location" = String))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn create(
    State(web): State<Web>,
    caller: Caller,
    Path((project, pipeline)): Path<(String, String)>,
    Json(new): Json<NewHook>,
) -> ApiResult<Response> {
    let mut found = check::Found::default();
    found.line("/name", &new.name, 80);
    found.refuse()?;
    if web.store().newest(&project, &pipeline).await?.is_none() {
        return Err(ApiError::not_found("pipeline", &pipeline));
    }
    let hook = Hook {
        id: web.new_id(),
        project,
        pipeline,
        name: new.name,
        parameters: new.parameters,
        created_by: caller.user.name.clone(),
        created_at: web.now(),
        used_at: None,
        revision: 1,
    };
    let after = json!({"name": hook.name, "pipeline": hook.pipeline, "parameters": hook.parameters});
    let entry = audit::entry(&web, &caller, "hook.create", &hook.id).after(after);
    web.store().create_hook(&hook, &entry).await?;
    let place = format!("/api/v1/projects/{}/pipelines/{}/hooks/{}", hook.project, hook.pipeline, hook.id);
    Ok((StatusCode::CREATED, [(header::LOCATION, place)], Tagged(1, HookView::new(&web, hook)))
        .into_response())
}
