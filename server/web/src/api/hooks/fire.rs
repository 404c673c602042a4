//! `POST /hooks/{hook}`

use axum::body::Bytes;
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use cubeloom_domain::JsonMap;
use cubeloom_domain::belongings::Hook;
use cubeloom_domain::identity::{AuditEntry, User};
use cubeloom_domain::json::exact;
use cubeloom_domain::schedule::{Cause, Trigger};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::auth::{in_name_of, of_client};
use crate::error::{ApiError, ApiResult, Kind, ProblemDocument, ProblemView};
use crate::extract::{Json, Path, Query};
use crate::hooks;
use crate::runs::start::{Source, Wanted, start};
use crate::state::Web;
use crate::texts::Lang;

/// Query parameters of a hook's URL.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Signed {
    /// Signature.
    pub signature: String,
}

/// Body that a hook accepts. All other fields are ignored, so that other programs can send their own messages
/// unchanged.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub struct HookCall {
    /// Parameters of the run. They override the hook's own.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub parameters: JsonMap,
}

/// Run started by a hook.
#[derive(Debug, Serialize, ToSchema)]
pub struct FiredView {
    /// ID of the run.
    pub run: String,
    /// Warnings about what is valid but probably unintended.
    pub warnings: Vec<ProblemView>,
}

/// Starts the hook's pipeline in its newest version.
///
/// No sign-in is needed: the signature in the URL is sufficient. The tasks may use the project's secrets, but not the
/// personal secrets of the hook's creator.
#[utoipa::path(
    post,
    path = "/hooks/{hook}",
    tag = "pipelines",
    security(()),
    params(("hook" = String, Path), Signed),
    request_body(content = Option<HookCall>, content_type = "application/json"),
    responses(
        (status = 201, body = FiredView, headers(("Location" = String))),
        (status = 400, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 403, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn fire(
    State(web): State<Web>,
    Path(id): Path<String>,
    Query(signed): Query<Signed>,
    parts: Parts,
    body: Bytes,
) -> ApiResult<Response> {
    let hook = web.store().hook(&id).await?.filter(|hook| hooks::holds(&web, hook, &signed.signature));
    // Do not disclose whether the hook or the signature is wrong.
    let hook = hook.ok_or_else(|| ApiError::not_found("hook with this signature", &id))?;
    let user = creator(&web, &hook).await?;
    let mut parameters = hook.parameters.clone();
    parameters.extend(call(&body)?.parameters);
    let wanted = Wanted {
        part: None,
        place: None,
        origin: None,
        cause: Cause { trigger: Trigger::Hook, ..Cause::default() },
        project: hook.project.clone(),
        user: user.name.clone(),
        acting: format!("hook:{}", hook.id),
        source: Source::Stored { pipeline: hook.pipeline.clone(), version: None },
        parameters,
    };
    let entry = entry(&web, &hook, &user, of_client(&web, &parts));
    web.store().hook_used(&hook.id, entry.at).await?;
    let started = start(&web, wanted, entry).await?;
    let run = started.record.id.to_string();
    let place = format!("/api/v1/runs/{run}");
    let view = FiredView {
        run,
        warnings: started.warnings.iter().map(|one| ProblemView::told(one, Lang::En)).collect(),
    };
    Ok((StatusCode::CREATED, [(header::LOCATION, place)], Json(view)).into_response())
}

/// The user who created the hook, if they may still start the pipeline.
async fn creator(web: &Web, hook: &Hook) -> ApiResult<User> {
    let name = &hook.created_by;
    in_name_of(web, &hook.project, name).await?.map_err(|not| {
        let (hook, why) = (&hook.name, not.said());
        ApiError::forbidden(format!(
            "the hook `{hook}` was created by {name}, who {why}: an editor must create a new one"
        ))
    })
}

fn call(body: &[u8]) -> ApiResult<HookCall> {
    if body.trim_ascii().is_empty() {
        return Ok(HookCall::default());
    }
    serde_json::from_slice(&exact(body)).map_err(|error| {
        ApiError::new(
            Kind::Malformed,
            format!("the body is not a JSON object with `parameters` ({error}): send one, or no body"),
        )
    })
}

fn entry(web: &Web, hook: &Hook, user: &User, address: String) -> AuditEntry {
    AuditEntry {
        id: web.new_id(),
        at: web.now(),
        user_id: Some(user.id.clone()),
        user_name: user.name.clone(),
        via: format!("hook {}", hook.name),
        address,
        project: Some(hook.project.clone()),
        action: "run.start".into(),
        subject: String::new(),
        before: None,
        after: None,
    }
}
