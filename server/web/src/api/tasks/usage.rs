//! `GET /runs/{run}/tasks/{task}/usage`

use axum::extract::State;
use cubeloom_domain::RunId;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::sizing::view::SizeView;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::runs::{Reader, usage as of_runs};
use crate::state::Web;
use crate::time::Time;

/// Whose usage is wanted.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct UsageQuery {
    /// The instance; 0 when absent.
    pub instance: Option<u32>,
    /// The attempt's number; the last one's when absent.
    pub attempt: Option<u32>,
}

/// One thing that a worker used, over time.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct LineView {
    /// `cpu`, `throttled` (how long its threads were held back at the limit of CPU), `memory`, `disk_read`, `disk_written`,
    /// `network_received`, `network_sent`, `io_wait` (for how much of the time it waited for storage; where that is not counted, for how much its node did), and of its cards together `card_use` (their mean), `card_memory`, `card_power`.
    pub name: String,
    /// `cores`, `bytes`, `bytes_per_second`, `percent`, `watts`
    pub unit: String,
    /// The largest value.
    pub peak: f64,
    /// `[seconds since the epoch, value]`, at most 1,000 of them, thinned so that the smallest and largest stay.
    #[schema(value_type = Vec<Vec<f64>>)]
    pub points: Vec<[f64; 2]>,
}

/// The most that a worker gets, from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct SizeLimitView {
    /// From when on.
    pub at: Time,
    /// Processing power, in cores.
    pub cpu: f64,
    /// Memory, in bytes.
    pub memory: u64,
}

/// What a worker used, beside what it may use.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct WorkerUsageView {
    /// Its name, `<role>-<index>`.
    pub worker: String,
    /// What its task asks for; absent where its role is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<SizeView>,
    /// The most that it got, from each moment on: sizing may give it something else than it asked for, and more while it runs.
    pub limits: Vec<SizeLimitView>,
    /// Whether it asked for graphics cards.
    pub cards: bool,
    /// The memory of its cards together, in bytes; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card_memory: Option<f64>,
    /// What it used; what is not told is absent.
    pub lines: Vec<LineView>,
}

/// What the workers of an attempt used.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct TaskUsageView {
    /// The attempt's number; 0 where there was none yet.
    pub attempt: u32,
    /// Whether it goes on.
    pub live: bool,
    /// By worker; empty where nothing is known, or not any more.
    pub workers: Vec<WorkerUsageView>,
    /// What the cluster does not tell of its workers: `cpu`, `throttled`, `memory`, `disk`, `network`, `io_wait`,
    /// `cards`.
    pub missing: Vec<String>,
}

/// What each worker of a task used over time, also while it runs. On this machine a worker has a sample a second, fewer the longer
/// it runs, and none before its first second; of a Kubernetes cluster, its Prometheus is asked, where it has one.
#[utoipa::path(
    get,
    path = "/runs/{run}/tasks/{task}/usage",
    tag = "tasks",
    params(
        ("run" = String, Path, description = "The run's id."),
        ("task" = String, Path, description = "The task's name."),
        UsageQuery
    ),
    responses(
        (status = 200, body = TaskUsageView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn usage(
    State(web): State<Web>,
    Path((run, task)): Path<(RunId, String)>,
    Query(query): Query<UsageQuery>,
) -> ApiResult<Json<TaskUsageView>> {
    let reader = Reader::open(&web, &run).await?;
    let ix = reader.find(&task)?;
    let instance = query.instance.unwrap_or(0);
    Ok(Json(of_runs::usage(&reader, &web, ix, instance, query.attempt).await?))
}
