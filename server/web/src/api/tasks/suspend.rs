//! `POST /runs/{run}/tasks/{task}/instances/{instance}/suspend`

use axum::extract::State;
use axum::http::StatusCode;
use cubeloom_domain::RunId;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::view::AttemptView;
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::runs::{Reader, describe};
use crate::state::Web;
use crate::texts::Lang;
use crate::told::told;

/// Requested action.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SuspendWish {
    /// `true` suspends the attempt and removes its workers. `false` resumes it and starts them again.
    pub suspended: bool,
}

/// Suspends or resumes the active attempt at an instance.
///
/// Suspending stops its workers and releases their resources. Resuming starts them again, from the beginning or from
/// the checkpoint that they wrote. The timeout keeps running. Only attempts that have the field `suspended` can be
/// suspended: jobs on Kubernetes.
#[utoipa::path(
    post,
    path = "/runs/{run}/tasks/{task}/instances/{instance}/suspend",
    tag = "tasks",
    params(
        ("run" = String, Path, description = "The run's id."),
        ("task" = String, Path, description = "The task's name."),
        ("instance" = u32, Path, description = "The instance.")
    ),
    request_body = SuspendWish,
    responses(
        (status = 202, body = AttemptView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn suspend(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path((run, task, instance)): Path<(RunId, String, u32)>,
    Json(wish): Json<SuspendWish>,
) -> ApiResult<(StatusCode, Json<AttemptView>)> {
    let reader = Reader::open(&web, &run).await?;
    let ix = reader.find(&task)?;
    let attempts = web.store().attempts_of(&run, ix, instance).await?;
    let live = attempts.iter().find(|attempt| attempt.state.is_live());
    let ended = || ApiError::conflict(format!("the task `{task}` has no active attempt"));
    let attempt = live.ok_or_else(ended)?;
    let executor = web.clusters().get(&reader.plan.cluster);
    let away = || ApiError::unavailable(format!("the cluster `{}` is unknown", reader.plan.cluster));
    let suspended = executor.ok_or_else(away)?.suspend(&attempt.key, wish.suspended).await;
    suspended.map_err(ApiError::conflict)?;
    let entry = audit::entry(&web, &caller, "task.suspend", attempt.key.to_string());
    let entry = entry.project(&reader.record.project).after(json!({"suspended": wish.suspended}));
    web.store().audit(&entry).await?;
    let view = describe::attempt(attempt, reader.plan.task(ix));
    Ok((StatusCode::ACCEPTED, Json(told(lang, AttemptView { suspended: Some(wish.suspended), ..view }))))
}
