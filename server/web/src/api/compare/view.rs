//! View of a comparison of two runs.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::api::metrics::view::SeriesView;
use crate::api::runs::view::RunView;
use crate::api::tasks::view::{RoleView, UsageView};

/// Comparison of two runs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ComparisonView {
    /// Run from the path.
    pub left: RunView,
    /// Run that it is compared with.
    pub right: RunView,
    /// Parameters by name, including equal ones.
    pub parameters: Vec<ValuePair>,
    /// Tasks in the order of the left run, followed by tasks that only the right run has.
    pub tasks: Vec<TaskPair>,
    /// Metrics of both runs, by name, task and instance.
    pub metrics: Vec<MetricPair>,
}

/// Value on both sides. Null on a side without a value.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ValuePair {
    /// Name.
    pub name: String,
    /// Left side of the comparison.
    #[schema(value_type = Value)]
    pub left: Value,
    /// Right side of the comparison.
    #[schema(value_type = Value)]
    pub right: Value,
    /// Whether both values are equal.
    pub same: bool,
}

/// Task on both sides.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TaskPair {
    /// Name of the task.
    pub name: String,
    /// Runs that have the task: `both`, `left` or `right`.
    pub side: String,
    /// Parts of the task's plan that differ: `template`, `needs`, `arguments`, `env`, `roles`, `for_each`, `when`,
    /// ...
    pub changed: Vec<String>,
    /// Left side of the comparison.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub left: Option<TaskSide>,
    /// Right side of the comparison.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub right: Option<TaskSide>,
    /// Run time of the left task divided by the run time of the right task.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ratio: Option<f64>,
    /// Outputs by name.
    pub outputs: Vec<ValuePair>,
    /// Arguments that differ, by name. Arguments resolved only at run time are given as expressions.
    pub arguments: Vec<ValuePair>,
}

/// Task in one of the runs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TaskSide {
    /// Task template, as `name@version`.
    pub template: String,
    /// State.
    pub state: String,
    /// Time that the task was pending, in seconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wait_seconds: Option<f64>,
    /// Run time, in seconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run_seconds: Option<f64>,
    /// Number of attempts.
    pub attempts: u64,
    /// Resource request of each attempt.
    pub roles: Vec<RoleView>,
    /// Resource usage.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usage: Option<UsageView>,
}

/// Metric on both sides.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MetricPair {
    /// Name.
    pub name: String,
    /// Task.
    pub task: String,
    /// Instance.
    pub instance: u32,
    /// Left side of the comparison.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub left: Option<SeriesView>,
    /// Right side of the comparison.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub right: Option<SeriesView>,
}
