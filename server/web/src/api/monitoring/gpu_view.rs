//! GPUs over time as the API returns them.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::time::Time;

/// Grouping of a GPU history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GpuGrouping {
    /// By project.
    Project,
    /// By user that the tasks run as.
    User,
    /// By task of a pipeline.
    Task,
    /// By product name of the GPUs.
    Model,
    /// By node.
    Node,
    /// By node group, with the present groups of each node.
    NodeGroup,
}

/// Range and grouping of a GPU history.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct GpuHistoryQuery {
    /// Start. Defaults to a day before the end.
    pub from: Option<Time>,
    /// End. Defaults to now.
    pub until: Option<Time>,
    /// Grouping. If omitted, only the totals are returned, in shorter intervals.
    #[param(inline)]
    pub by: Option<GpuGrouping>,
}

/// GPUs of a cluster over time. Each list has one value per interval: the mean, or `null` without a sample.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GpuHistoryView {
    /// Cluster.
    pub cluster: String,
    /// Start of the first interval.
    pub from: Time,
    /// End of the last interval.
    pub until: Time,
    /// Length of an interval. Longer ranges, and ranges longer ago, have longer intervals.
    pub step_seconds: i64,
    /// GPUs of all nodes.
    pub total: Vec<Option<f64>>,
    /// Allocated GPUs.
    pub allocated: Vec<Option<f64>>,
    /// GPUs whose utilization is known.
    pub measured: Vec<Option<f64>>,
    /// Sum of the utilization of these GPUs. `null` if it is known of none.
    pub used: Vec<Option<f64>>,
    /// Power of the GPUs that report it, in watts. `null` if none does.
    pub power: Vec<Option<f64>>,
    /// Energy of these GPUs over the range, in kWh. Omitted if none reports its power.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_kwh: Option<f64>,
    /// Pending jobs that request GPUs. `null` where the queue is unknown.
    pub pending_jobs: Vec<Option<f64>>,
    /// GPUs that these jobs request.
    pub pending_gpus: Vec<Option<f64>>,
    /// The longest that one of them had been pending at any time of the interval.
    pub oldest_wait_seconds: Vec<Option<f64>>,
    /// Groups with the most allocated GPUs, at most 50. Nodes are sorted by name, at most 1,000.
    pub groups: Vec<GpuGroupView>,
    /// Sum of all other groups, and of projects that the caller is not a member of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<GpuGroupView>,
    /// The GPUs at the time of the response. Omitted if the history is grouped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<GpusNowView>,
}

/// GPUs of a group over time. Only the fields that the history is grouped by are set.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct GpuGroupView {
    /// Project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// User that the tasks run as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Pipeline of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<String>,
    /// Task. Omitted for the sum of a project's smallest tasks, if there were more than 500 at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Product name. Omitted if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Node group. Omitted for nodes without a group. Of a node in several groups, all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_group: Option<String>,
    /// GPUs of the group's nodes. Omitted for projects, users and tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Vec<Option<f64>>>,
    /// Allocated GPUs.
    pub allocated: Vec<Option<f64>>,
    /// Sum of the utilization of its GPUs. `null` if it is unknown.
    pub used: Vec<Option<f64>>,
}

/// GPUs of a cluster now.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GpusNowView {
    /// GPUs of all nodes.
    pub total: f64,
    /// Allocated GPUs.
    pub allocated: f64,
    /// Free GPUs. Unhealthy and missing GPUs are not free.
    pub free: u32,
    /// The largest gang of equal workers, one per node, for which enough GPUs are free. Omitted if none are. Other
    /// resources and quotas are not considered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_gang: Option<GangView>,
}

/// Workers on several nodes.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct GangView {
    /// Number of nodes.
    pub nodes: usize,
    /// GPUs on each node.
    pub gpus: u32,
}

/// Grouping of idle GPU-hours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum IdleGpuGrouping {
    /// By project.
    #[default]
    Project,
    /// By user that the tasks run as.
    User,
    /// By task of a pipeline.
    Task,
}

/// Range, grouping and filter of idle GPU-hours.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct IdleGpusQuery {
    /// Start. Defaults to a day before the end.
    pub from: Option<Time>,
    /// End. Defaults to now.
    pub until: Option<Time>,
    /// Grouping. Defaults to `project`.
    #[param(inline)]
    pub by: Option<IdleGpuGrouping>,
    /// Cluster to filter by.
    pub cluster: Option<String>,
}

/// GPU-hours that were allocated and not used.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct IdleGpusView {
    /// Start of the range. It begins with a whole interval of the stored series.
    pub from: Time,
    /// End of the range.
    pub until: Time,
    /// Currency of the prices. Omitted if the settings name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Groups with the most idle GPU-hours first, at most 100. Groups whose utilization is unknown come last.
    pub groups: Vec<IdleGpusGroup>,
    /// Sum of all other groups, and of projects that the caller is not a member of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<IdleGpusGroup>,
}

/// GPU-hours of a group. Only the fields that they are grouped by are set.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct IdleGpusGroup {
    /// Project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// User that the tasks run as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Pipeline of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<String>,
    /// Task. Omitted for the sum of a project's smallest tasks, if there were more than 500 at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Allocated GPU-hours.
    pub gpu_hours: f64,
    /// Part of `gpu_hours` in which the utilization is known.
    pub measured_gpu_hours: f64,
    /// Idle part of `measured_gpu_hours`. Omitted if the utilization is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_gpu_hours: Option<f64>,
    /// Cost of the idle GPU-hours, with a decimal point. Omitted without a price or if the utilization is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_cost: Option<String>,
}
