//! Views of runs.

use std::collections::BTreeMap;

use cubeloom_domain::JsonMap;
use cubeloom_domain::clusters::LOCAL;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::tasks::effective::EffectiveView;
use crate::api::tasks::view::StartView;
use crate::error::ProblemView;
use crate::time::Time;

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunView {
    /// ID.
    pub id: String,
    /// Project.
    pub project: String,
    /// Pipeline.
    pub pipeline: String,
    /// Cluster that the run is on. Omitted in lists.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cluster: Option<String>,
    /// Version of the pipeline. Omitted if the run was started from a document.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<u32>,
    /// Name of the user who started the run.
    pub user: String,
    /// Name of the user who last resumed the run or reran part of it. Since then, the run runs as this user.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub acting_user: Option<String>,
    /// State of the run: `queued`, `running`, `cancelling`, `succeeded`, `failed` or `cancelled`.
    pub state: String,
    /// What the run is doing: the same as `state`, unless the run is running and none of its tasks is. Then it is `approval` if a task is
    /// waiting for a person's decision, and `pending` if its tasks are waiting for resources.
    #[serde(default)]
    pub phase: String,
    /// Time at which the run was requested.
    pub created_at: Time,
    /// Time when the run started.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub started_at: Option<Time>,
    /// End time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_at: Option<Time>,
    /// Time from start to end, in seconds. Omitted until the run has ended. Until then, calculate it from
    /// `started_at`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_seconds: Option<f64>,
    /// Time that the run waited for other runs of its pipeline, in seconds. Omitted while it is waiting.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queued_seconds: Option<f64>,
    /// Reason why the run has not started. Omitted after it has started, and in lists.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wait: Option<RunWaitView>,
    /// Number of tasks, by state.
    pub tasks: TaskCounts,
    /// Goodput of all tasks of the run combined. Omitted before the first attempt, and in lists.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub effective: Option<EffectiveView>,
    /// Message with information about the run that users should know.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// Parameters that the run was started with, without the defaults of the pipeline.
    #[schema(value_type = Object)]
    pub parameters: JsonMap,
    /// Task of another run that started the run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parent: Option<ParentView>,
    /// What started the run: `person`, `schedule`, `backfill`, `pipeline` (another run ended), `file` (a file
    /// arrived), `hook` or `task`.
    pub trigger: String,
    /// Logical date of the run if it differs from its creation time. Expressions can use it as `run.date`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub logical_date: Option<Time>,
    /// Time by which the run should have succeeded. It is late if it has not succeeded by then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub late_at: Option<Time>,
}

impl RunView {
    /// The cluster, unless it is the local machine.
    pub(crate) fn elsewhere(&self) -> Option<&str> {
        self.cluster.as_deref().filter(|cluster| *cluster != LOCAL)
    }

    /// Whether it is running, but none of its tasks is.
    pub(crate) fn is_pending(&self) -> bool {
        matches!(self.phase.as_str(), "pending" | "approval")
    }

    /// Number of tasks that have started.
    pub(crate) fn tasks_begun(&self) -> u64 {
        self.tasks.total - self.tasks.states.get("pending").copied().unwrap_or_default()
    }

    /// State for the icon and text on pages. Tasks use `pending` until their dependencies are met.
    pub(crate) fn shown(&self) -> &str {
        if self.phase == "pending" { "pending_run" } else { &self.phase }
    }

    /// Whether it should have succeeded by now. A cancelled run is never late.
    pub(crate) fn is_late(&self, now: &Time) -> bool {
        let Some(late_at) = self.late_at else { return false };
        match self.state.as_str() {
            "succeeded" => self.ended_at.is_some_and(|ended| ended > late_at),
            "cancelled" => false,
            _ => *now > late_at,
        }
    }
}

/// Reason why a run has not started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunWaitView {
    /// Reason as a sentence.
    pub message: String,
    /// Rule that keeps the run queued. `max_active_runs`: the pipeline is at its limit of active runs, or older runs
    /// are waiting for it. `starting`: nothing blocks the run, and a server starts it in its next scheduling cycle.
    pub rule: String,
    /// Maximum number of active runs of the pipeline. Omitted if there is no limit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit: Option<u32>,
    /// Number of active runs of the pipeline.
    pub active: u64,
    /// Number of older queued runs. They start before this run.
    pub ahead: u64,
    /// Active runs, followed by queued runs, oldest first, at most 20. Users who can see a run can see the other runs
    /// of its pipeline.
    pub runs: Vec<RunAheadView>,
    /// Estimated start, based on the duration of the pipeline's last runs. Omitted if there is too little data.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start: Option<StartView>,
}

/// A run that is ahead of another run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunAheadView {
    /// Run.
    pub run: String,
    /// State.
    pub state: String,
    /// User that it runs for.
    pub user: String,
    /// Time at which the run was requested.
    pub created_at: Time,
}

/// Attempt of a task of another run that corresponds to a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ParentView {
    /// The other run.
    pub run: String,
    /// Task.
    pub task: String,
    /// Instance.
    pub instance: u32,
    /// Attempt.
    pub attempt: u32,
}

/// Number of items in total and in each state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskCounts {
    /// Total number of tasks.
    pub total: u64,
    /// Number of items in each state. States without items are omitted.
    #[schema(example = json!({"succeeded": 3, "running": 1}))]
    pub states: BTreeMap<String, u64>,
}

/// A run that was started.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct StartedView {
    /// Run.
    pub run: RunView,
    /// Warnings about what is valid but probably unintended.
    pub warnings: Vec<ProblemView>,
}

/// What to start: a stored pipeline, by name, or a document.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StartRun {
    /// Pipeline.
    #[serde(default)]
    pub pipeline: Option<String>,
    /// Pipeline version. Defaults to the newest version.
    #[serde(default)]
    #[schema(minimum = 1)]
    pub version: Option<u32>,
    /// Text of a pipeline document, in YAML or JSON, to run without storing it.
    #[serde(default)]
    pub document: Option<String>,
    /// Digest of a folder that was uploaded for the document.
    #[serde(default)]
    pub code: Option<String>,
    /// Parameters. Strings are parsed according to the declared types.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub parameters: JsonMap,
    /// Tasks to run. If omitted, all tasks run.
    #[serde(default)]
    pub tasks: Option<PartOfRun>,
    /// Target cluster of this run, as `CLUSTER` or `CLUSTER/NODE_GROUP`. It overrides the target cluster of the
    /// pipeline. Tasks with their own node group keep it. Allowed only for runs of a whole pipeline.
    #[serde(default)]
    pub place: Option<String>,
}

/// Part of a pipeline: `only` one task, or all tasks `from` one task on. Upstream results are reused from an earlier
/// run: the outputs of the tasks and a copy of the run's folder.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PartOfRun {
    /// This task only.
    #[serde(default)]
    pub only: Option<String>,
    /// This task and all tasks downstream of it.
    #[serde(default)]
    pub from: Option<String>,
    /// Run whose upstream results are reused. It must be a finished run of the same pipeline. Defaults to the newest
    /// run in which all upstream tasks succeeded.
    #[serde(default)]
    pub of: Option<String>,
}

/// Pipeline version to resume with.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ResumeQuery {
    /// Pipeline version. Defaults to the newest version.
    #[param(minimum = 1)]
    pub version: Option<u32>,
}

/// Pipeline version to resume with.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ResumeWith {
    /// Pipeline version. Defaults to the newest version.
    #[schema(minimum = 1)]
    pub version: Option<u32>,
}

/// What resuming a run with a pipeline version would run.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ResumeWithView {
    /// Pipeline version.
    pub version: u32,
    /// Tasks that keep their results, in document order.
    pub kept: Vec<String>,
    /// Tasks that would run, in document order.
    pub again: Vec<RunAgainView>,
}

/// A task that would run when a run is resumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunAgainView {
    /// Task.
    pub task: String,
    /// Why it would run: `new`, `changed`, `unfinished` (it did not succeed) or `upstream` (a task upstream of it would run).
    pub reason: String,
    /// What has changed: names of fields, and files that its arguments name. Empty for other reasons.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub changed: Vec<String>,
}

/// Tasks to rerun.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RerunFrom {
    /// Names of the tasks to rerun, together with all tasks downstream of them.
    #[schema(min_items = 1)]
    pub from: Vec<String>,
}

/// Several runs.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ManyRuns {
    /// IDs of the runs, at most 200.
    #[schema(min_items = 1, max_items = 200)]
    pub runs: Vec<String>,
}

/// Results for several runs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ManyResults {
    /// Result for each processed run, in the order of the request.
    pub results: Vec<OneResult>,
    /// Runs that are not yet processed, in the order of the request.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub left: Vec<String>,
}

/// Result for one of several runs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OneResult {
    /// Run from the request.
    pub run: String,
    /// Whether the operation succeeded.
    pub ok: bool,
    /// Reason why the operation failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// New run, if one was started.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub started: Option<String>,
}

/// A run as a graph of tasks and their dependencies.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GraphView {
    /// Tasks, in document order.
    pub nodes: Vec<NodeView>,
    /// Edges between tasks, in execution order.
    pub edges: Vec<EdgeView>,
}

/// A task in the graph.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct NodeView {
    /// Name of the task.
    pub id: String,
    /// Task template, as `name@version`.
    pub template: String,
    /// Framework of the task.
    pub framework: String,
    /// State of the task, as in the list of tasks.
    pub state: String,
    /// Number of instances, if known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub instances: Option<u64>,
    /// Number of workers per attempt.
    pub workers: u32,
    /// Whether the task runs once for each item.
    pub for_each: bool,
}

/// A dependency between two tasks.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EdgeView {
    /// Upstream task.
    pub from: String,
    /// Downstream task.
    pub to: String,
    /// Kind of the dependency: `need`, or `data` if the downstream task only reads outputs.
    pub kind: String,
}

/// Manifests that an attempt submits to its cluster.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ObjectsView {
    /// Task.
    pub task: String,
    /// Instance.
    pub instance: u32,
    /// Number of the attempt. Omitted before the first attempt.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub attempt: Option<u32>,
    /// Whether the manifest was submitted exactly as shown. Otherwise, it contains placeholders.
    pub bound: bool,
    /// Manifest in the format of the cluster.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(value_type = Option<Object>)]
    pub object: Option<serde_json::Value>,
    /// Reason why there is no manifest yet.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
}
