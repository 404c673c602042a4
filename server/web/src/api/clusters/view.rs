//! Views of clusters.

use serde::Serialize;
use utoipa::ToSchema;

use super::aside::AsideView;
use crate::time::Time;

/// Cluster.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ClusterView {
    /// Name.
    pub name: String,
    /// Kind of the cluster. `local` is the server's own machine.
    pub kind: String,
    /// Total capacity of all nodes.
    pub capacity: AmountView,
    /// Resources allocated to attempts that have not ended.
    pub used: AmountView,
    /// Number of attempts counted in `used`.
    pub attempts: usize,
    /// Nodes.
    pub nodes: Vec<NodeView>,
    /// Node groups that a placement can refer to.
    pub node_groups: Vec<String>,
    /// Healthy, unoccupied standby nodes, kept to replace other nodes. They are not counted in the fields above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spares: Vec<String>,
    /// Connection state.
    pub standing: StandingView,
    /// Problems of the cluster, one sentence each.
    pub problems: Vec<String>,
}

/// Connection state of a cluster.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct StandingView {
    /// Connection state: `connected`, `away` (unreachable), `refused` (the cluster no longer recognizes the server),
    /// `given_up` (an administrator gave it up), or `unknown` (not contacted yet).
    pub state: String,
    /// Start of the outage, or time at which the cluster was decommissioned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Attempted operation and its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Amount of resources.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
pub struct AmountView {
    /// CPU, in cores.
    pub cpu: f64,
    /// Memory, in bytes.
    pub memory: u64,
    /// GPUs.
    pub gpus: u32,
}

/// Node of a cluster.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ClusterNodeView)]
pub struct NodeView {
    /// Name.
    pub name: String,
    /// Allocatable resources.
    pub amount: AmountView,
    /// GPUs of the node.
    pub gpus: Vec<GpuView>,
    /// Node groups of the cluster that the node belongs to.
    pub groups: Vec<String>,
}

/// GPU.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ClusterGpuView)]
pub struct GpuView {
    /// Product name.
    pub name: String,
    /// GPU memory, in bytes.
    pub memory: u64,
    /// UUID.
    pub uuid: String,
    /// XID error of this GPU that keeps jobs from using it. Omitted while a job uses the GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xid: Option<u32>,
}

/// Cluster with its allocations and the task templates that can run on it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ClusterDetail {
    /// Cluster.
    #[serde(flatten)]
    pub cluster: ClusterView,
    /// Cordoned nodes, which receive no new jobs. They are not counted in the fields above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aside: Vec<AsideView>,
    /// Attempts with allocations on the cluster, from runs that the caller may see, newest first.
    pub running: Vec<RunningView>,
    /// Number of other attempts, from projects that the caller is not a member of.
    pub others: usize,
    /// Newest version of each task template, and whether it can run on the cluster.
    pub templates: Vec<RunnableView>,
}

/// Attempt with allocated resources.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RunningView {
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
    /// State: `submitting`, `running` or `stopping`.
    #[schema(value_type = String)]
    pub state: &'static str,
    /// Number of workers.
    pub workers: u32,
    /// Allocated amount.
    pub amount: AmountView,
}

/// Whether a task template can run on a cluster.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RunnableView {
    /// Name of the template.
    pub name: String,
    /// Framework, which determines how workers learn their identity.
    pub framework: String,
    /// What the template lacks on the cluster. Empty if it can run.
    pub missing: Vec<String>,
}
