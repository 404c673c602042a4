//! `POST /runs/{run}/tasks/{task}/instances/{instance}/mark`

use axum::extract::State;
use axum::http::StatusCode;
use cubeloom_domain::mark::{Mark, MarkedAs};
use cubeloom_domain::{JsonMap, RunId};
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::TaskView;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::runs::{Reader, wish};
use crate::state::Web;
use crate::texts::Lang;
use crate::told::told;

/// Maximum length of a reason, in characters.
const REASON: usize = 2_000;

/// Outcome to set.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MarkedOutcome {
    /// Downstream tasks continue.
    Succeeded,
    /// Downstream tasks see a failure.
    Failed,
    /// Downstream tasks follow their trigger rules.
    Skipped,
}

/// Outcome of a task, set by a person.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMark {
    /// Outcome to set.
    #[serde(rename = "as")]
    pub marked_as: MarkedOutcome,
    /// Reason, for later readers. At most 2,000 characters.
    #[schema(max_length = 2000)]
    pub reason: String,
    /// Outputs that downstream tasks read, in addition to the reported ones. Only for `succeeded`.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub outputs: JsonMap,
}

/// Sets the outcome of a task, so that its run goes on.
///
/// A running task is stopped first. If the run has ended, it goes on with the tasks that were not run because of this
/// one. Everything else keeps its state.
#[utoipa::path(
    post,
    path = "/runs/{run}/tasks/{task}/instances/{instance}/mark",
    tag = "tasks",
    params(
        ("run" = String, Path, description = "The run's id."),
        ("task" = String, Path, description = "The task's name."),
        ("instance" = u32, Path, description = "The instance; 0 of a task without `for_each`.")
    ),
    request_body = NewMark,
    responses(
        (status = 202, body = TaskView),
        (status = 403, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn mark(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path((run, task, instance)): Path<(RunId, String, u32)>,
    Json(new): Json<NewMark>,
) -> ApiResult<(StatusCode, Json<TaskView>)> {
    let reader = Reader::open(&web, &run).await?;
    let ix = reader.find(&task)?;
    let reason = new.reason.trim();
    if reason.is_empty() || reason.chars().count() > REASON {
        return Err(ApiError::field("/reason", format!("between 1 and {REASON} characters")));
    }
    let marked_as = match new.marked_as {
        MarkedOutcome::Succeeded => MarkedAs::Succeeded,
        MarkedOutcome::Failed => MarkedAs::Failed,
        MarkedOutcome::Skipped => MarkedAs::Skipped,
    };
    if marked_as != MarkedAs::Succeeded && !new.outputs.is_empty() {
        return Err(ApiError::field("/outputs", "only a task that succeeded has outputs"));
    }
    let mark =
        Mark { marked_as, by: caller.user.name.clone(), reason: reason.to_owned(), outputs: new.outputs };
    let is_expanded = reader.plan.task(ix).for_each.is_some();
    wish::mark(&web, &caller, &reader.record, (ix, &task, instance, is_expanded), mark).await?;
    let present = Reader::open(&web, &run).await?.task(ix.0).await?;
    Ok((StatusCode::ACCEPTED, Json(told(lang, present))))
}
