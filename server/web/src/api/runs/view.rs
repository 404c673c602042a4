//! Runs as the API shows them.

use std::collections::BTreeMap;

use cubeloom_domain::JsonMap;
use cubeloom_domain::clusters::LOCAL;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::tasks::effective::EffectiveView;
use crate::api::tasks::view::StartView;
use crate::error::ProblemView;
use crate::time::Time;

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunView {
    /// Its id.
    pub id: String,
    /// The project.
    pub project: String,
    /// The pipeline.
    pub pipeline: String,
    /// The cluster that it runs on; absent in lists.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cluster: Option<String>,
    /// The version of the pipeline; absent when a document was posted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<u32>,
    /// The name of who started it.
    pub user: String,
    /// The name of who last resumed it or ran a part of it again: what it does since, it does for them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub acting_user: Option<String>,
    /// `queued`, `running`, `cancelling`, `succeeded`, `failed` or `cancelled`.
    pub state: String,
    /// When it was asked for.
    pub created_at: Time,
    /// When it began.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub started_at: Option<Time>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_at: Option<Time>,
    /// From its beginning to its end; absent before that: count from `started_at`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_seconds: Option<f64>,
    /// How long it waited for other runs of its pipeline; absent while it does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queued_seconds: Option<f64>,
    /// Why it has not begun; absent when it has, and in lists.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wait: Option<RunWaitView>,
    /// Its tasks.
    pub tasks: TaskCounts,
    /// What the time of its tasks went to, all together; absent before an attempt, and in lists.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub effective: Option<EffectiveView>,
    /// What somebody should know about it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// The parameters that it was started with, without the pipeline's own defaults.
    #[schema(value_type = Object)]
    pub parameters: JsonMap,
    /// The task of another run that started it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parent: Option<ParentView>,
    /// What started it: `person`, `schedule`, `backfill`, `pipeline` (the end of another one), `file` (one that arrived), `hook`
    /// or `task`.
    pub trigger: String,
    /// The moment that it stands for, where that is not the one of its creation: `run.date` of its expressions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub logical_date: Option<Time>,
    /// By when it should have succeeded: it is late when it has not by then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub late_at: Option<Time>,
}

impl RunView {
    /// The cluster, where that is not the server's own machine.
    pub(crate) fn elsewhere(&self) -> Option<&str> {
        self.cluster.as_deref().filter(|cluster| *cluster != LOCAL)
    }

    /// Whether it has not succeeded when it should have. Who cancelled it did not want it any more.
    pub(crate) fn is_late(&self, now: &Time) -> bool {
        let Some(late_at) = self.late_at else { return false };
        match self.state.as_str() {
            "succeeded" => self.ended_at.is_some_and(|ended| ended > late_at),
            "cancelled" => false,
            _ => *now > late_at,
        }
    }
}

/// Why a run has not begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunWaitView {
    /// The same in a sentence.
    pub message: String,
    /// The rule that keeps it: `max_active_runs` (as many runs of its pipeline are active as may be, or older ones wait for
    /// that), or `starting` (nothing: a server lets it begin as soon as it looks).
    pub rule: String,
    /// How many runs of its pipeline may be active at once; absent where there is no limit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit: Option<u32>,
    /// How many are active.
    pub active: u64,
    /// How many older ones wait, too: they begin before it.
    pub ahead: u64,
    /// These runs: the active ones, then those that wait, the oldest first; twenty of them at the most. Whoever sees a run
    /// sees the others of its pipeline.
    pub runs: Vec<RunAheadView>,
    /// When it may begin, by how long the pipeline's last runs took; absent where too little is known of that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start: Option<StartView>,
}

/// A run that is before another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunAheadView {
    /// The run.
    pub run: String,
    /// Its state.
    pub state: String,
    /// Whom it runs for.
    pub user: String,
    /// When it was asked for.
    pub created_at: Time,
}

/// The attempt, of a task of another run, that a run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ParentView {
    /// The other run.
    pub run: String,
    /// Its task.
    pub task: String,
    /// The instance.
    pub instance: u32,
    /// The attempt.
    pub attempt: u32,
}

/// How many of something there are, and in which states.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskCounts {
    /// All of them.
    pub total: u64,
    /// By state; states that none is in are absent.
    #[schema(example = json!({"succeeded": 3, "running": 1}))]
    pub states: BTreeMap<String, u64>,
}

/// A run that was started.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct StartedView {
    /// The run.
    pub run: RunView,
    /// What runs, and probably not as meant.
    pub warnings: Vec<ProblemView>,
}

/// What is to be started: a stored pipeline by its name, or a document.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StartRun {
    /// The pipeline.
    #[serde(default)]
    pub pipeline: Option<String>,
    /// Its version; the newest when absent.
    #[serde(default)]
    #[schema(minimum = 1)]
    pub version: Option<u32>,
    /// The text of a pipeline document, YAML or JSON, that is run without being stored.
    #[serde(default)]
    pub document: Option<String>,
    /// The digest of a folder that was uploaded for the document.
    #[serde(default)]
    pub code: Option<String>,
    /// The parameters; texts are read by the declared types.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub parameters: JsonMap,
    /// Only these tasks; all of them when absent.
    #[serde(default)]
    pub tasks: Option<PartOfRun>,
    /// Where this run goes, `CLUSTER` or `CLUSTER/NODE_GROUP`, instead of where its pipeline would. Tasks with a node
    /// group of their own keep it. Only of a whole pipeline.
    #[serde(default)]
    pub place: Option<String>,
}

/// A part of a pipeline: `only` one task, or everything `from` one on. What the tasks before would leave is taken over
/// from an earlier run: their outputs, and a copy of that run's folder.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PartOfRun {
    /// This task alone.
    #[serde(default)]
    pub only: Option<String>,
    /// This task and everything after it.
    #[serde(default)]
    pub from: Option<String>,
    /// The run that the tasks before are taken over from: one of the same pipeline that has ended. When absent, the
    /// newest in which all of them have succeeded.
    #[serde(default)]
    pub of: Option<String>,
}

/// Which tasks are run again.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RerunFrom {
    /// These tasks, by name, and everything after them.
    #[schema(min_items = 1)]
    pub from: Vec<String>,
}

/// Several runs.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ManyRuns {
    /// Their ids, at most 200.
    #[schema(min_items = 1, max_items = 200)]
    pub runs: Vec<String>,
}

/// What came of each of several runs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ManyResults {
    /// One for each run that was come to, in the order in which they were named.
    pub results: Vec<OneResult>,
    /// The others, in that order: nothing was done with them yet.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub left: Vec<String>,
}

/// What came of one of several runs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OneResult {
    /// The run that was named.
    pub run: String,
    /// Whether it was done.
    pub ok: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// The run that was started, where one was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub started: Option<String>,
}

/// A run as a graph: which task needs which.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GraphView {
    /// The tasks, in the document's order.
    pub nodes: Vec<NodeView>,
    /// Which comes before which.
    pub edges: Vec<EdgeView>,
}

/// A task in the graph.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct NodeView {
    /// The task's name.
    pub id: String,
    /// Its template, `name@version`.
    pub template: String,
    /// Its framework.
    pub framework: String,
    /// Its state, as in the list of tasks.
    pub state: String,
    /// How many instances it has, where that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub instances: Option<u64>,
    /// How many workers each attempt has.
    pub workers: u32,
    /// Whether it runs once for each element.
    pub for_each: bool,
}

/// One task before another.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EdgeView {
    /// The task before.
    pub from: String,
    /// The task after.
    pub to: String,
    /// `need`, or `data` where only outputs are read.
    pub kind: String,
}

/// What an attempt submits to its cluster.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ObjectsView {
    /// The task.
    pub task: String,
    /// The instance.
    pub instance: u32,
    /// The attempt; absent before the first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub attempt: Option<u32>,
    /// Whether that was submitted as it stands here; otherwise it has placeholders.
    pub bound: bool,
    /// What the cluster takes; its form is the cluster's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(value_type = Option<Object>)]
    pub object: Option<serde_json::Value>,
    /// Why there is none yet.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
}
