//! Views of tasks, instances and attempts.

use cubeloom_domain::JsonMap;
use cubeloom_domain::waiting::StartEstimate;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::effective::EffectiveView;
use super::hang::HangView;
use super::preflight::PreflightView;
use crate::api::runs::view::TaskCounts;
use crate::api::tasks::why::WhyView;
use crate::time::Time;

/// A task of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskView {
    /// Name.
    pub name: String,
    /// Position in the run plan, from 0.
    pub index: u32,
    /// Task template, as `name@version`.
    pub template: String,
    /// Framework of the task.
    pub framework: String,
    /// Tasks that it depends on.
    pub needs: Vec<String>,
    /// State: `pending`, `waiting`, `backoff`, `running`, `succeeded`, `reused`, `stopped_early`, `failed`,
    /// `upstream_failed`, `skipped` or `cancelled`. For a task with several instances, the state that matters most.
    pub state: String,
    /// Reason why it is pending.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wait: Option<WaitView>,
    /// What is being prepared before it can start, e.g. its Python environment.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preparing: Option<String>,
    /// Progress of its program. For a task with several instances, the number of instances that have ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub progress: Option<ProgressView>,
    /// Whether the task runs once for each item.
    pub for_each: bool,
    /// Instance counts. A plain task has one instance.
    pub instances: TaskCounts,
    /// Time at which its dependencies had ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ready_at: Option<Time>,
    /// Time at which its first attempt started running.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub started_at: Option<Time>,
    /// Time at which its last instance ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_at: Option<Time>,
    /// Seconds from `ready_at` to `started_at`. Omitted while it is pending.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wait_seconds: Option<f64>,
    /// Seconds from `started_at` to `ended_at`. Omitted while it runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run_seconds: Option<f64>,
    /// Number of attempts.
    pub attempts: u64,
    /// Time of the next retry after a failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_try_at: Option<Time>,
    /// Resource request of each attempt, by role.
    pub roles: Vec<RoleView>,
    /// Usage of its attempts. Omitted until an attempt has ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usage: Option<UsageView>,
    /// Hang of an attempt, if one hangs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hang: Option<HangView>,
    /// Goodput breakdown. Omitted before the first attempt, and in lists.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub effective: Option<EffectiveView>,
    /// Cause of the failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<FailureView>,
    /// Outputs that it reported. Empty for a task with several instances: see its instances.
    #[schema(value_type = Object)]
    pub outputs: JsonMap,
    /// Source of the reused result.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reused: Option<ReusedView>,
    /// Note for the user, e.g. why an earlier result was not reused.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
}

/// Pending reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WaitView {
    /// Rule that keeps it pending: `capacity`, `behind`, `quota`, `named_limit`, `parallelism`, `decision`, or
    /// `unknown` before the first evaluation. `why` has the exact rule.
    pub rule: String,
    /// Sentence with the amounts. For `decision`, the question to decide.
    pub message: String,
    /// Approvers for `decision`. Empty if no approvers are named.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub approvers: Vec<String>,
    /// The same reason as structured data, if it waits to be scheduled.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<WhyView>,
    /// Estimated start. Omitted if too little is known about the duration of other tasks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start: Option<StartView>,
}

/// Estimated start time, from a simulation of the queue with the run times known from history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StartView {
    /// 50th percentile of the estimated time.
    pub p50: Time,
    /// 90th percentile of the estimated time.
    pub p90: Time,
}

impl From<StartEstimate> for StartView {
    fn from(start: StartEstimate) -> Self {
        Self { p50: Time(start.p50), p90: Time(start.p90) }
    }
}

/// Progress, as completed steps and an optional total.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProgressView {
    /// Number of completed steps.
    pub step: f64,
    /// Total number of steps, if known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub total: Option<f64>,
}

/// Resources of the workers of a role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RoleView {
    /// Role.
    pub name: String,
    /// Number of workers.
    pub replicas: u32,
    /// CPU of each worker, in cores.
    pub cpu: f64,
    /// Memory of each worker, in bytes.
    pub memory: u64,
    /// GPUs of each worker.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gpu: Option<GpuView>,
}

/// GPUs: whole GPUs, a fraction of one GPU, or an amount of its memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GpuView {
    /// Number of whole GPUs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub count: Option<u32>,
    /// Fraction of one GPU.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fraction: Option<f64>,
    /// Memory of one GPU, in bytes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<u64>,
    /// GPU product.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<String>,
}

/// Resource usage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UsageView {
    /// CPU time of all workers together, in seconds.
    pub cpu_seconds: f64,
    /// Peak of anonymous and shared memory of the largest worker, in bytes.
    pub peak_memory: u64,
}

/// Cause of a failure: the first one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FailureView {
    /// Kind of failure: `exit`, `signal`, `out_of_memory`, `timeout`, `setup_failed`, `could_not_start`,
    /// `missing_output`, `lost`, `preempted`, `expression`, `rejected`, `run`, `hung`, `preflight` or `disk_limit`.
    pub kind: String,
    /// Message.
    pub message: String,
    /// Instance that failed first, for a task with several instances.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub instance: Option<u32>,
    /// Attempt.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub attempt: Option<u32>,
    /// Worker that failed first, e.g. `worker-1`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worker: Option<String>,
    /// Exit code.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit_code: Option<i32>,
    /// Signal that terminated it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signal: Option<i32>,
    /// Last lines of its output.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub last_lines: Vec<String>,
}

/// Source of a reused result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReusedView {
    /// Run that produced it.
    pub run: String,
    /// Task that produced the result.
    pub task: String,
    /// Time at which the result was produced.
    pub ended_at: Time,
}

/// Search of a task: what it tries, and the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SearchView {
    /// Goal: `maximize` or `minimize`.
    pub goal: String,
    /// Metric or output that measures the quality of a trial.
    pub of: String,
    /// Search method: `grid`, `random` or `tpe`.
    pub method: String,
    /// Parameters that the search varies, by name.
    pub over: Vec<AxisView>,
    /// Number of planned trials.
    pub planned: u32,
    /// Number of trials that may fail.
    pub max_failures: u32,
    /// Best trial that ran to completion.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub best: Option<TrialView>,
    /// Trials that were started, in order.
    pub trials: Vec<TrialView>,
}

/// A parameter that a search varies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AxisView {
    /// Parameter name. Trials read it as `item.NAME`.
    pub name: String,
    /// Values, if they are listed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub values: Option<Vec<Value>>,
    /// Minimum of a range.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub minimum: Option<f64>,
    /// Maximum of a range.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub maximum: Option<f64>,
    /// Whether the range is spread evenly on a logarithmic scale.
    pub log: bool,
}

/// A trial of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrialView {
    /// Instance.
    pub instance: u32,
    /// State, one of the task states.
    pub state: String,
    /// Parameter values that it tries, by name.
    #[schema(value_type = Object)]
    pub parameters: Value,
    /// Value of the metric or output. Omitted until the trial has reported it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<f64>,
}

/// An instance of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct InstanceView {
    /// Instance number, from 0.
    pub instance: u32,
    /// Item of `for_each`. Null for a plain task.
    #[schema(value_type = Value)]
    pub item: Value,
    /// State, one of the task states.
    pub state: String,
    /// Reason why it is pending.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wait: Option<WaitView>,
    /// What is being prepared before it can start.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preparing: Option<String>,
    /// Progress of the program.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub progress: Option<ProgressView>,
    /// Number of its last attempt. 0 before the first attempt.
    pub attempt: u32,
    /// Time at which the instance became ready.
    pub ready_at: Time,
    /// Time at which its last attempt started running.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub started_at: Option<Time>,
    /// End time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_at: Option<Time>,
    /// Seconds from `ready_at` to `started_at`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wait_seconds: Option<f64>,
    /// Run time of its last attempt, in seconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run_seconds: Option<f64>,
    /// Time of the next retry.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_try_at: Option<Time>,
    /// Usage of its last attempt.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usage: Option<UsageView>,
    /// Cause of the failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<FailureView>,
    /// Reported outputs.
    #[schema(value_type = Object)]
    pub outputs: JsonMap,
    /// Source of the reused result.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reused: Option<ReusedView>,
    /// Note for the user.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
}

/// An attempt at an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AttemptView {
    /// Attempt key, `<run>.<task>.<instance>.<n>`. Everything that the attempt created carries this key.
    pub key: String,
    /// Task.
    pub task: String,
    /// Instance.
    pub instance: u32,
    /// Attempt number, from 1.
    pub attempt: u32,
    /// State: `submitting`, `running`, `stopping` or `ended`.
    pub state: String,
    /// Whether it is suspended: its workers are removed until it is resumed. Omitted if it cannot be suspended, and
    /// in the list of all attempts of a run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub suspended: Option<bool>,
    /// Outcome: `succeeded`, `failed` or `cancelled`. Omitted until it has ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub outcome: Option<String>,
    /// Time at which it was admitted.
    pub created_at: Time,
    /// Time at which its workers started running.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub started_at: Option<Time>,
    /// End time of its last part.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_at: Option<Time>,
    /// Seconds from `created_at` to `started_at`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start_seconds: Option<f64>,
    /// Seconds from `started_at` to `ended_at`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run_seconds: Option<f64>,
    /// Total CPU of all workers, in cores.
    pub cpu: f64,
    /// Total memory of all workers, in bytes.
    pub memory: u64,
    /// Number of whole GPUs of all workers together.
    pub gpus: u32,
    /// Workers by rank, including released workers at the end.
    pub workers: Vec<WorkerView>,
    /// Earlier worker counts, oldest first. Set for an elastic job that gained or released workers while it ran.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub earlier: Vec<EarlierView>,
    /// What its workers got instead of the resource request, and why, as a sentence.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sizing: Option<String>,
    /// Why its workers got no more memory when an increase was due, as sentences. One of them may end with the
    /// cluster's own message.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub not_grown: Vec<String>,
    /// Resource usage, available after the attempt has ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usage: Option<UsageView>,
    /// Cause of the failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<FailureView>,
    /// Current or past hang, with the stack traces of the workers at that time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hang: Option<HangView>,
    /// Preflight test results of its workers, from before the program started. Omitted if they are not tested.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preflight: Option<PreflightView>,
    /// Run of another pipeline that this attempt represents. Such an attempt has no workers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<String>,
}

/// Cluster event of an attempt: why a worker is pending, what could not be mounted, where a worker was placed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NoticeView {
    /// Time at which the event was last reported.
    pub at: Time,
    /// Kubernetes object that the event is about, `Pod/cl-train-...`.
    pub of: String,
    /// Whether the event is a warning.
    pub warning: bool,
    /// Reason code, e.g. `FailedMount`.
    pub reason: String,
    /// Message, in the cluster's wording.
    pub message: String,
}

/// A worker of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorkerView {
    /// Worker name, `<role>-<index>`.
    pub name: String,
    /// Rank across all roles.
    pub rank: u32,
    /// Address that it listens on, while it runs on this machine.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub address: Option<String>,
    /// UUIDs of its GPUs.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub gpus: Vec<String>,
    /// Whether the job has released the worker.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub given_back: bool,
}

/// Number of workers that an attempt had for a period.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EarlierView {
    /// Number of workers.
    pub workers: u32,
    /// End of the period.
    pub until: Time,
}

/// An attempt of this run or an earlier one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HistoryView {
    /// Run of the attempt.
    pub run: String,
    /// Instance.
    pub instance: u32,
    /// Attempt.
    pub attempt: u32,
    /// Outcome: `succeeded`, `failed` or `cancelled`.
    pub outcome: String,
    /// Time at which its workers started running.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub started_at: Option<Time>,
    /// End time of its last part.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_at: Option<Time>,
    /// Run time, in seconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run_seconds: Option<f64>,
    /// Allocated CPU, in cores.
    pub cpu: f64,
    /// Allocated memory, in bytes.
    pub memory: u64,
    /// Resource usage.
    pub usage: UsageView,
}
