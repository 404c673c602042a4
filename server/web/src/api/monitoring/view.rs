//! Node and GPU metrics as the API returns them. Missing metrics are absent.

use std::collections::BTreeMap;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::monitoring::Levels;
use cubeloom_domain::resources::Amount;
use cubeloom_monitoring::advice::{Advice, Remedy};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::clusters::view::AmountView;
use crate::time::Time;

/// Cluster as a whole.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MonitoringView {
    /// Name.
    pub cluster: String,
    /// Time when the data was read.
    pub at: Time,
    /// Source of the metrics: `machine` (the server's own), `prometheus`, `cluster` (only the metrics API of
    /// Kubernetes, without GPUs), or `none`.
    pub source: String,
    /// URL of a Grafana page about the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grafana: Option<String>,
    /// Number of nodes.
    pub nodes: usize,
    /// CPU, in cores.
    pub cpu: LevelsView,
    /// Memory, in bytes.
    pub memory: LevelsView,
    /// GPUs. Usage is the sum of the fractions of time in which each GPU is busy.
    pub gpus: LevelsView,
    /// Number of GPUs in each state: `busy`, `idle` (allocated, idle), `free`, `fragment` (free, but other GPUs of
    /// the node are allocated), `faulty` and `away` (missing).
    pub cards: BTreeMap<String, usize>,
    /// Projects with allocations on the cluster of which the caller is a member.
    pub projects: Vec<ProjectUseView>,
    /// All other projects with allocations on the cluster, combined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<ProjectUseView>,
    /// Data that could not be read or is unreliable, one message each.
    pub problems: Vec<String>,
}

/// Capacity, requests and usage of a resource.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
pub struct LevelsView {
    /// Capacity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<f64>,
    /// Amount requested by the workloads that run there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested: Option<f64>,
    /// Amount in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<f64>,
}

impl From<Levels> for LevelsView {
    fn from(levels: Levels) -> Self {
        Self { capacity: levels.capacity, requested: levels.requested, used: levels.used }
    }
}

/// Resources that a project has requested on a cluster, and its usage.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct ProjectUseView {
    /// Name of the project. Omitted if the entry combines several projects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Number of the project's attempts that have resources allocated.
    pub attempts: usize,
    /// Resources requested by the attempts.
    pub requested: AmountView,
    /// CPU cores in use by these attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_used: Option<f64>,
    /// Memory in use by these attempts, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_used: Option<f64>,
    /// GPUs in use by these attempts, as the sum of the fractions of time in which each GPU is busy. The usage of a
    /// shared GPU is divided among the tasks that share it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpus_used: Option<f64>,
}

impl ProjectUseView {
    /// Counts one more attempt.
    pub(crate) fn add(&mut self, amount: Amount) {
        let more = AmountView::from(amount);
        self.requested.cpu += more.cpu;
        self.requested.memory = self.requested.memory.saturating_add(more.memory);
        self.requested.gpus = self.requested.gpus.saturating_add(more.gpus);
    }
}

/// A node and its GPUs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MonitoredNodeView {
    /// Name.
    pub name: String,
    /// Node groups of the cluster that the node belongs to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// CPU, in cores.
    pub cpu: LevelsView,
    /// Memory, in bytes.
    pub memory: LevelsView,
    /// GPUs.
    pub gpus: LevelsView,
    /// GPUs of the node, sorted by index.
    pub cards: Vec<CardView>,
    /// Known links between the GPUs, both direct and through switches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinksView>,
}

/// NVLink connections between two GPUs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LinksView {
    /// UUID of one GPU.
    pub from: String,
    /// UUID of the other GPU.
    pub to: String,
    /// Number of NVLinks between the two GPUs.
    pub count: u32,
}

/// GPU.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = MonitoredCardView)]
pub struct CardView {
    /// UUID.
    pub uuid: String,
    /// Index on its node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// Product name.
    pub model: String,
    /// State of the GPU: `busy`, `idle`, `free`, `fragment`, `faulty` or `away`.
    #[schema(value_type = String)]
    pub state: &'static str,
    /// Fraction of time in which the GPU is busy, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<f64>,
    /// Mean GPU usage over the last 15 minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recent_usage: Option<f64>,
    /// Fraction of time in which the tensor cores are busy, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensor: Option<f64>,
    /// Memory in use, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_used: Option<f64>,
    /// GPU memory, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_total: Option<f64>,
    /// Temperature, in degrees Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Power draw, in watts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<f64>,
    /// Power limit, in watts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_limit: Option<f64>,
    /// NVLink throughput, in bytes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvlink: Option<f64>,
    /// Last XID error that the driver reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xid: Option<u32>,
    /// Attempts that the GPU is allocated to, in projects of which the caller is a member.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<HolderView>,
    /// Number of other attempts that the GPU is allocated to.
    pub others: usize,
}

/// An attempt that a GPU is allocated to.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = CardHolderView)]
pub struct HolderView {
    /// Run.
    pub run: String,
    /// Project.
    pub project: String,
    /// Pipeline.
    pub pipeline: String,
    /// Task.
    pub task: String,
    /// Instance.
    pub instance: u32,
    /// Attempt.
    pub attempt: u32,
    /// User who started the run.
    pub user: String,
    /// Time when the attempt started running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
}

/// A GPU and its metrics for the last hour.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CardDetail {
    /// The GPU.
    #[serde(flatten)]
    pub card: CardView,
    /// Cluster of the GPU.
    pub cluster: String,
    /// Node.
    pub node: String,
    /// Time when the data was read.
    pub at: Time,
    /// History of the last hour.
    pub history: HistoryView,
    /// Recommendations for tasks in projects of which the caller is a member.
    pub advice: Vec<AdviceView>,
    /// Data that could not be read or is unreliable, one message each.
    pub problems: Vec<String>,
}

/// Values over time.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = CardHistoryView)]
pub struct HistoryView {
    /// Time of the first values, in seconds since the Unix epoch.
    pub start: f64,
    /// Interval between two values, in seconds.
    pub step: f64,
    /// Time series of each available metric.
    pub series: Vec<SeriesView>,
}

/// Time series of one metric.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = CardSeriesView)]
pub struct SeriesView {
    /// Metric: `usage`, `tensor`, `node_cpu` and `io_wait` (from 0 to 1), `memory` (bytes), `temperature` (°C),
    /// `power` (watts), `nvlink` (bytes per second) or `holder_cpu` (cores).
    #[schema(value_type = String)]
    pub of: &'static str,
    /// Values of the metric. `null` where no value is available.
    pub values: Vec<Option<f64>>,
}

/// A recommendation.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AdviceView {
    /// Rule that produced the recommendation: `held_idle`, `cpu_saturated`, `io_wait`, `regular_dips`,
    /// `memory_empty`, `straggler` or `far_from_peers`.
    #[schema(value_type = String)]
    pub rule: &'static str,
    /// Run that contains the task.
    pub run: String,
    /// Task that the recommendation applies to.
    pub task: String,
    /// Workers that the recommendation applies to. Empty if it applies to a GPU.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<String>,
    /// Evidence for the recommendation.
    pub evidence: String,
    /// Recommended changes, in order of priority.
    pub remedies: Vec<RemedyView>,
}

/// A recommended change.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RemedyView {
    /// Recommended change.
    pub what: String,
    /// Corresponding setting in PyTorch.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub pytorch: Option<&'static str>,
    /// Corresponding setting in TensorFlow.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub tensorflow: Option<&'static str>,
    /// Corresponding setting of the task in the pipeline, e.g. `resources.cpu`. Includes a recommended value if one
    /// was found, e.g. `resources.processes_per_gpu: 4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
}

impl AdviceView {
    /// Advice about a GPU allocated to an attempt.
    pub(crate) fn of_card(advice: Advice, key: &AttemptKey) -> Self {
        Self::of_workers((advice, Vec::new()), key)
    }

    /// Advice about workers of an attempt.
    pub(crate) fn of_workers((advice, workers): (Advice, Vec<String>), key: &AttemptKey) -> Self {
        let remedy = |remedy: &Remedy| RemedyView {
            what: remedy.what.to_owned(),
            pytorch: remedy.pytorch,
            tensorflow: remedy.tensorflow,
            setting: advice.setting(remedy),
        };
        let remedies = advice.remedies.iter().map(remedy).collect();
        Self {
            rule: advice.rule,
            run: key.run.to_string(),
            task: key.task.clone(),
            workers,
            evidence: advice.evidence,
            remedies,
        }
    }
}
