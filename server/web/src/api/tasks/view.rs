//! Tasks, their instances and attempts as the API shows them.

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
    /// Its name.
    pub name: String,
    /// Its position in the plan, from 0.
    pub index: u32,
    /// Its template, `name@version`.
    pub template: String,
    /// Its framework.
    pub framework: String,
    /// The tasks that it needs.
    pub needs: Vec<String>,
    /// `pending`, `waiting`, `backoff`, `running`, `succeeded`, `reused`, `stopped_early`, `failed`, `upstream_failed`, `skipped` or
    /// `cancelled`; of a task with several instances, the one that matters most.
    pub state: String,
    /// Why it waits.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wait: Option<WaitView>,
    /// What is being made before it can start, e.g. its Python environment.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preparing: Option<String>,
    /// How far its program is; of a task with several instances, how many have ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub progress: Option<ProgressView>,
    /// Whether it runs once for each element.
    pub for_each: bool,
    /// Its instances; one of a plain task.
    pub instances: TaskCounts,
    /// When what it needs had ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ready_at: Option<Time>,
    /// When its first attempt began to run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub started_at: Option<Time>,
    /// When the last of it ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_at: Option<Time>,
    /// From `ready_at` to `started_at`; absent while it waits.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wait_seconds: Option<f64>,
    /// From `started_at` to `ended_at`; absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run_seconds: Option<f64>,
    /// How many attempts there were.
    pub attempts: u64,
    /// When it is tried again, after a failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_try_at: Option<Time>,
    /// What each attempt asks for.
    pub roles: Vec<RoleView>,
    /// What its attempts used; absent before one has ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usage: Option<UsageView>,
    /// That an attempt at it hangs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hang: Option<HangView>,
    /// What its time went to; absent before an attempt, and in lists.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub effective: Option<EffectiveView>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<FailureView>,
    /// What it reported; of a task with several instances, nothing: see its instances.
    #[schema(value_type = Object)]
    pub outputs: JsonMap,
    /// Where its result was taken from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reused: Option<ReusedView>,
    /// What somebody should know, e.g. why an earlier result was not reused.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
}

/// Why something waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WaitView {
    /// `capacity`, `behind`, `quota`, `named_limit`, `parallelism`, `decision`, or `unknown` before anybody has looked. Which rule
    /// of these it is exactly is in `why`.
    pub rule: String,
    /// A sentence with the amounts; for `decision`, what is asked.
    pub message: String,
    /// Who decides, for `decision`; nobody in particular when empty.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub approvers: Vec<String>,
    /// The same as data, where it waits for a place.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<WhyView>,
    /// When it may start; absent where too little is known of how long others take.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start: Option<StartView>,
}

/// When something may start, made by simulating the queue with the run times that are known from history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StartView {
    /// As likely before as after this.
    pub p50: Time,
    /// Nine times of ten before this.
    pub p90: Time,
}

impl From<StartEstimate> for StartView {
    fn from(start: StartEstimate) -> Self {
        Self { p50: Time(start.p50), p90: Time(start.p90) }
    }
}

/// How far something is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProgressView {
    /// Done.
    pub step: f64,
    /// Of this many, where it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub total: Option<f64>,
}

/// What the workers of a role get.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RoleView {
    /// The role.
    pub name: String,
    /// How many workers.
    pub replicas: u32,
    /// Processing power of each, in cores.
    pub cpu: f64,
    /// Memory of each, in bytes.
    pub memory: u64,
    /// Graphics cards of each.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gpu: Option<GpuView>,
}

/// Graphics cards: whole ones, a fraction of one, or an amount of its memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GpuView {
    /// Whole cards.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub count: Option<u32>,
    /// A part of one card.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fraction: Option<f64>,
    /// Memory of one card, in bytes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<u64>,
    /// The product.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<String>,
}

/// What was used.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UsageView {
    /// CPU time of all workers together.
    pub cpu_seconds: f64,
    /// The largest worker's peak of anonymous and shared memory, in bytes.
    pub peak_memory: u64,
}

/// Why something failed: the first cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FailureView {
    /// `exit`, `signal`, `out_of_memory`, `timeout`, `setup_failed`, `could_not_start`, `missing_output`, `lost`,
    /// `preempted`, `expression`, `rejected`, `run`, `hung`, `preflight` or `disk_limit`.
    pub kind: String,
    /// A sentence.
    pub message: String,
    /// The instance that failed first, of a task with several.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub instance: Option<u32>,
    /// The attempt.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub attempt: Option<u32>,
    /// The worker that failed first, e.g. `worker-1`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worker: Option<String>,
    /// Its exit code.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signal: Option<i32>,
    /// The last lines that it wrote.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub last_lines: Vec<String>,
}

/// Where a result was taken from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReusedView {
    /// The run that made it.
    pub run: String,
    /// The task that made it.
    pub task: String,
    /// When.
    pub ended_at: Time,
}

/// The search of a task: what it tries, and what that gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SearchView {
    /// `maximize` or `minimize`.
    pub goal: String,
    /// The metric, or output, that says how good a trial is.
    pub of: String,
    /// `grid`, `random` or `tpe`.
    pub method: String,
    /// What is tried, by name.
    pub over: Vec<AxisView>,
    /// How many trials there will be.
    pub planned: u32,
    /// How many may fail.
    pub max_failures: u32,
    /// The best trial that ran to its end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub best: Option<TrialView>,
    /// The trials that were begun, in their order.
    pub trials: Vec<TrialView>,
}

/// One thing that a search tries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AxisView {
    /// Its name: trials read it as `item.NAME`.
    pub name: String,
    /// The values, where they are listed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub values: Option<Vec<Value>>,
    /// The smallest, of a range.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub minimum: Option<f64>,
    /// The largest, of a range.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub maximum: Option<f64>,
    /// Whether the range is spread evenly in its logarithm.
    pub log: bool,
}

/// A trial of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrialView {
    /// The instance.
    pub instance: u32,
    /// Its state, one of those of a task.
    pub state: String,
    /// What it tries, by name.
    #[schema(value_type = Object)]
    pub parameters: Value,
    /// How good it was; absent before it has said so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<f64>,
}

/// One instance of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct InstanceView {
    /// Its number, from 0.
    pub instance: u32,
    /// Its element of `for_each`; null of a plain task.
    #[schema(value_type = Value)]
    pub item: Value,
    /// Its state, one of those of a task.
    pub state: String,
    /// Why it waits.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wait: Option<WaitView>,
    /// What is being made before it can start.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preparing: Option<String>,
    /// How far its program is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub progress: Option<ProgressView>,
    /// The number of its last attempt; 0 before the first.
    pub attempt: u32,
    /// When it became ready.
    pub ready_at: Time,
    /// When its last attempt began to run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub started_at: Option<Time>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_at: Option<Time>,
    /// From `ready_at` to `started_at`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wait_seconds: Option<f64>,
    /// How long its last attempt ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run_seconds: Option<f64>,
    /// When it is tried again.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_try_at: Option<Time>,
    /// What its last attempt used.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usage: Option<UsageView>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<FailureView>,
    /// What it reported.
    #[schema(value_type = Object)]
    pub outputs: JsonMap,
    /// Where its result was taken from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reused: Option<ReusedView>,
    /// What somebody should know.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
}

/// One try at one instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AttemptView {
    /// `<run>.<task>.<instance>.<n>`, which stands on everything that it made.
    pub key: String,
    /// The task.
    pub task: String,
    /// The instance.
    pub instance: u32,
    /// Its number, from 1.
    pub attempt: u32,
    /// `submitting`, `running`, `stopping` or `ended`.
    pub state: String,
    /// Whether it is suspended: its workers are gone until it is resumed. Absent where it cannot be, and in the list of
    /// all attempts of a run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub suspended: Option<bool>,
    /// `succeeded`, `failed` or `cancelled`, once it has ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub outcome: Option<String>,
    /// When it was given its place.
    pub created_at: Time,
    /// When its workers ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub started_at: Option<Time>,
    /// When the last of it was gone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_at: Option<Time>,
    /// From `created_at` to `started_at`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start_seconds: Option<f64>,
    /// From `started_at` to `ended_at`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run_seconds: Option<f64>,
    /// Processing power of all workers together, in cores.
    pub cpu: f64,
    /// Memory of all workers together, in bytes.
    pub memory: u64,
    /// Whole graphics cards of all workers together.
    pub gpus: u32,
    /// Its workers, by rank; those at the end that it gave back among them.
    pub workers: Vec<WorkerView>,
    /// How many it had before, oldest first: of an elastic job that got some, or gave some back, while it ran.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub earlier: Vec<EarlierView>,
    /// What its workers got instead of what was asked for, and why: a sentence.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sizing: Option<String>,
    /// Why its workers got no more memory, where they were to get more: sentences, of which one may end in the cluster's words.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub not_grown: Vec<String>,
    /// What it used, once it has ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usage: Option<UsageView>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<FailureView>,
    /// That it hangs, or did, with what its workers were at then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hang: Option<HangView>,
    /// What its workers came to when they were tested before its program began; absent where they are not tested.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preflight: Option<PreflightView>,
    /// The run of another pipeline that it is: it has no workers then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<String>,
}

/// Something that the cluster told of an attempt: why a worker waits, what could not be mounted, where one was placed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NoticeView {
    /// When it was last told.
    pub at: Time,
    /// The object on the cluster, `Pod/cl-train-...`.
    pub of: String,
    /// Whether it is a warning.
    pub warning: bool,
    /// A word, e.g. `FailedMount`.
    pub reason: String,
    /// A sentence, in the cluster's words.
    pub message: String,
}

/// One worker of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorkerView {
    /// Its name, `<role>-<index>`.
    pub name: String,
    /// Its rank over all roles.
    pub rank: u32,
    /// Where it listens, while it runs on this machine.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub address: Option<String>,
    /// The graphics cards that it has, by UUID.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub gpus: Vec<String>,
    /// Whether the job has given it back.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub given_back: bool,
}

/// How many workers an attempt had for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EarlierView {
    /// How many.
    pub workers: u32,
    /// Until when.
    pub until: Time,
}

/// An attempt of an earlier or this run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HistoryView {
    /// The attempt's run.
    pub run: String,
    /// The instance.
    pub instance: u32,
    /// The attempt.
    pub attempt: u32,
    /// `succeeded`, `failed` or `cancelled`.
    pub outcome: String,
    /// When its workers ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub started_at: Option<Time>,
    /// When the last of it was gone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_at: Option<Time>,
    /// How long it ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run_seconds: Option<f64>,
    /// Processing power that it had, in cores.
    pub cpu: f64,
    /// Memory that it had, in bytes.
    pub memory: u64,
    /// What it used.
    pub usage: UsageView,
}
