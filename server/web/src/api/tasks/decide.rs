//! `POST /runs/{run}/tasks/{task}/instances/{instance}/decision`

use axum::extract::State;
use axum::http::StatusCode;
use cubeloom_domain::RunId;
use cubeloom_domain::approval::Decision;
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

/// Maximum length of a comment, in characters.
const COMMENT: usize = 2_000;

/// Decision on a task that asks for approval.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Whether it is approved.
    pub approved: bool,
    /// Reason for the decision, for later readers. At most 2,000 characters.
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub comment: Option<String>,
}

/// Approves or rejects a task that waits for a decision.
///
/// The task continues if approved, and fails if rejected. The approvers that the task names may decide. If it names
/// none, everyone who may start runs in the project may decide.
#[utoipa::path(
    post,
    path = "/runs/{run}/tasks/{task}/instances/{instance}/decision",
    tag = "tasks",
    params(
        ("run" = String, Path, description = "The run's id."),
        ("task" = String, Path, description = "The task's name."),
        ("instance" = u32, Path, description = "The instance; 0 of a task without `for_each`.")
    ),
    request_body = Answer,
    responses(
        (status = 202, body = TaskView),
        (status = 403, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn decide(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path((run, task, instance)): Path<(RunId, String, u32)>,
    Json(answer): Json<Answer>,
) -> ApiResult<(StatusCode, Json<TaskView>)> {
    let reader = Reader::open(&web, &run).await?;
    let ix = reader.find(&task)?;
    let comment = answer.comment.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    if comment.as_ref().is_some_and(|text| text.chars().count() > COMMENT) {
        return Err(ApiError::field("/comment", format!("at most {COMMENT} characters")));
    }
    let decision = Decision { approved: answer.approved, by: caller.user.name.clone(), comment };
    wish::decide(&web, &caller, &reader.record, (ix, &task, instance), decision).await?;
    let present = Reader::open(&web, &run).await?.task(ix.0).await?;
    Ok((StatusCode::ACCEPTED, Json(told(lang, present))))
}
