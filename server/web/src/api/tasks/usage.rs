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

/// Instance and attempt whose usage is requested.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct UsageQuery {
    /// Instance. Defaults to 0.
    pub instance: Option<u32>,
    /// Attempt number. Defaults to the last attempt.
    pub attempt: Option<u32>,
}

/// Time series of one usage metric of a worker.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct LineView {
    /// Metric: `cpu`, `throttled` (time that its threads were throttled at the CPU limit), `cpu_wait`, `memory`,
    /// `disk_read`, `disk_written`, `network_received`, `network_sent` or `io_wait`. `cpu_wait` is the share of time
    /// that a thread of the worker waited for a CPU. `io_wait` is the share of time that the worker waited for
    /// storage. If this is not measured, it is the share for its node. Metrics of all its GPUs together: `card_use`
    /// (mean), `card_memory` and `card_power`.
    pub name: String,
    /// Unit: `cores`, `bytes`, `bytes_per_second`, `percent` or `watts`.
    pub unit: String,
    /// Largest value.
    pub peak: f64,
    /// Points as `[seconds since the epoch, value]`, at most 1,000. Thinning keeps the smallest and largest values.
    #[schema(value_type = Vec<Vec<f64>>)]
    pub points: Vec<[f64; 2]>,
}

/// Resources of a worker, valid from a given time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct SizeLimitView {
    /// Time from which it has them.
    pub at: Time,
    /// Guaranteed CPU, in cores.
    pub cpu: f64,
    /// Memory limit, in bytes.
    pub memory: u64,
}

/// Usage of a worker, with its limits.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct WorkerUsageView {
    /// Worker name, `<role>-<index>`.
    pub worker: String,
    /// Resource request of its task. Omitted if the worker's role is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<SizeView>,
    /// Resources of the worker over time. Right-sizing may give it different resources than requested, and more
    /// while it runs.
    pub limits: Vec<SizeLimitView>,
    /// CPU limit, in cores. Omitted if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_limit: Option<f64>,
    /// Whether it requested GPUs.
    pub cards: bool,
    /// Total memory of its GPUs, in bytes. Omitted when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card_memory: Option<f64>,
    /// Usage metrics. Metrics that are not reported are omitted.
    pub lines: Vec<LineView>,
}

/// Usage of the workers of an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct TaskUsageView {
    /// Attempt number. 0 if there is no attempt yet.
    pub attempt: u32,
    /// Whether the attempt is still in progress.
    pub live: bool,
    /// Usage by worker. Empty if no data is available, or no longer available.
    pub workers: Vec<WorkerUsageView>,
    /// Metrics that the cluster does not report for its workers: `cpu`, `throttled`, `cpu_wait`, `memory`, `disk`, `network`,
    /// `io_wait`, `cards`.
    pub missing: Vec<String>,
}

/// Returns the usage of each worker of a task over time, also while it runs.
///
/// On this machine, a worker has one sample per second, and fewer the longer it runs. It has none before its first
/// second. For a Kubernetes cluster, the data comes from the cluster's Prometheus, if it has one.
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
