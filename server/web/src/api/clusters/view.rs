//! Clusters, as the API shows them.

use serde::Serialize;
use utoipa::ToSchema;

use super::aside::AsideView;
use crate::time::Time;

/// A cluster.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ClusterView {
    /// Its name.
    pub name: String,
    /// Its kind: `local` is the server's own machine.
    pub kind: String,
    /// What all nodes have together.
    pub capacity: AmountView,
    /// What attempts that have not ended hold.
    pub used: AmountView,
    /// How many attempts that is.
    pub attempts: usize,
    /// Its nodes.
    pub nodes: Vec<NodeView>,
    /// Node groups that a placement may name.
    pub node_groups: Vec<String>,
    /// Nodes that are well and on which nothing runs, as they are kept to take the place of others. They count to nothing
    /// above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spares: Vec<String>,
    /// How it is.
    pub standing: StandingView,
    /// What is not as it should be, each as a sentence.
    pub problems: Vec<String>,
}

/// How a cluster is.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct StandingView {
    /// `connected`, `away` (it does not answer), `refused` (it does not know the server any more), or `unknown`: nothing was
    /// asked of it yet.
    pub state: String,
    /// Since when it is away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// What was tried, and what came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// An amount of resources.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
pub struct AmountView {
    /// Processing power, in cores.
    pub cpu: f64,
    /// Memory, in bytes.
    pub memory: u64,
    /// Graphics cards.
    pub gpus: u32,
}

/// A node of a cluster.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ClusterNodeView)]
pub struct NodeView {
    /// Its name.
    pub name: String,
    /// What it has for jobs.
    pub amount: AmountView,
    /// Its graphics cards.
    pub gpus: Vec<GpuView>,
    /// Those of the cluster's node groups that it is of.
    pub groups: Vec<String>,
}

/// A graphics card.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ClusterGpuView)]
pub struct GpuView {
    /// Its product name.
    pub name: String,
    /// Its memory, in bytes.
    pub memory: u64,
    /// Its UUID.
    pub uuid: String,
    /// The XID error of its own for which no job gets it; none while a job has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xid: Option<u32>,
}

/// One cluster, with what runs there and what could.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ClusterDetail {
    /// The cluster.
    #[serde(flatten)]
    pub cluster: ClusterView,
    /// The nodes that are set aside, to which no new job goes. They count to nothing above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aside: Vec<AsideView>,
    /// The attempts that hold something there, of runs that the caller may see, the newest first.
    pub running: Vec<RunningView>,
    /// How many others there are, of projects that the caller is no member of.
    pub others: usize,
    /// The newest version of each task template, and whether it can run there.
    pub templates: Vec<RunnableView>,
}

/// An attempt that holds something.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RunningView {
    /// The run.
    pub run: String,
    /// Its project.
    pub project: String,
    /// Its pipeline.
    pub pipeline: String,
    /// The task.
    pub task: String,
    /// The instance.
    pub instance: u32,
    /// The attempt.
    pub attempt: u32,
    /// `submitting`, `running` or `stopping`.
    #[schema(value_type = String)]
    pub state: &'static str,
    /// How many workers it has.
    pub workers: u32,
    /// What it holds.
    pub amount: AmountView,
}

/// Whether a task template can run on a cluster.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RunnableView {
    /// The template's name.
    pub name: String,
    /// How its workers learn who they are.
    pub framework: String,
    /// What it lacks there; empty when it can run.
    pub missing: Vec<String>,
}
