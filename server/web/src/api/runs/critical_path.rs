//! `GET /runs/{run}/critical-path`

use axum::extract::State;
use cubeloom_domain::RunId;
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::runs::{Reader, path};
use crate::state::Web;
use crate::texts::Lang;
use crate::time::Time;
use crate::told::told;

/// Critical path of a run: the chain of tasks that decided when the run ended.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CriticalPathView {
    /// Time from the start of the run to its end or until now, in seconds.
    pub seconds: f64,
    /// Total time of the tasks on the path, in seconds.
    pub path_seconds: f64,
    /// Part of it in which the tasks waited for the start of their workers or for a decision.
    pub waiting_seconds: f64,
    /// Part of it that failed attempts and the time between attempts took.
    pub retry_seconds: f64,
    /// Tasks on the path, in order. Each is upstream of the next. Empty before the first task.
    pub tasks: Vec<PathTaskView>,
    /// What would shorten the run, those for the largest times first.
    pub hints: Vec<PathHintView>,
}

/// A task on the critical path. Of several instances, the one that ended last.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PathTaskView {
    /// Name of the task.
    pub task: String,
    /// Instance that ended last, or that has not ended.
    pub instance: u32,
    /// Number of attempts since it became ready.
    pub attempts: u32,
    /// Time when its upstream tasks had ended.
    pub ready_at: Time,
    /// Time when its first attempt started. Omitted before that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// End time. Omitted until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    /// Time from ready to its end or until now, in seconds: the sum of `waiting_seconds`, `retry_seconds` and
    /// `running_seconds`.
    pub seconds: f64,
    /// Time from ready to the start of its first attempt, in seconds.
    pub waiting_seconds: f64,
    /// Part of `waiting_seconds` between its submission and the start of its workers.
    pub starting_seconds: f64,
    /// Time from the start of its first attempt to that of its last, in seconds: failed attempts and backoff.
    pub retry_seconds: f64,
    /// Time of its last attempt, in seconds.
    pub running_seconds: f64,
}

/// Something that would shorten the run, or that nothing stands out.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PathHintView {
    /// Kind: `pending` (a task is pending now, with the reason), `waiting` (for capacity, quota or a concurrency
    /// limit), `decision` (of an approver), `parallelism` (the max concurrency of a task), `starting` (between
    /// submission and start), `retries`, `long_task` (half of the run or more) or `balanced` (nothing stands out).
    #[schema(value_type = String)]
    pub kind: &'static str,
    /// Task concerned. Omitted for `balanced`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Time concerned, in seconds.
    pub seconds: f64,
    /// The same as a sentence.
    pub message: String,
}

/// Gets the critical path of a run, with what would shorten the run.
///
/// Of a run that is not finished, it is the path until now.
#[utoipa::path(
    get,
    path = "/runs/{run}/critical-path",
    tag = "runs",
    params(("run" = String, Path, description = "The run's id.")),
    responses(
        (status = 200, body = CriticalPathView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn critical_path(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path(run): Path<RunId>,
) -> ApiResult<Json<CriticalPathView>> {
    let reader = Reader::open(&web, &run).await?.with_starts(&caller).await?;
    Ok(Json(told(lang, path::read::of(&web, &reader).await?)))
}
