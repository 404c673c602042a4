//! Two runs beside each other.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::api::metrics::view::SeriesView;
use crate::api::runs::view::RunView;
use crate::api::tasks::view::{RoleView, UsageView};

/// Two runs beside each other.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ComparisonView {
    /// The run of the path.
    pub left: RunView,
    /// The run that it is compared with.
    pub right: RunView,
    /// Parameters, by name; equal ones too.
    pub parameters: Vec<ValuePair>,
    /// Tasks, in the order of the left run, then those that only the right one has.
    pub tasks: Vec<TaskPair>,
    /// Metrics, by name, task and instance, those of both runs.
    pub metrics: Vec<MetricPair>,
}

/// A value on both sides; null where a side has none.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ValuePair {
    /// Its name.
    pub name: String,
    /// On the left.
    #[schema(value_type = Value)]
    pub left: Value,
    /// On the right.
    #[schema(value_type = Value)]
    pub right: Value,
    /// Whether both are equal.
    pub same: bool,
}

/// A task on both sides.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TaskPair {
    /// The task's name.
    pub name: String,
    /// `both`, `left` or `right`: which run has it.
    pub side: String,
    /// What of its plan differs: `template`, `needs`, `arguments`, `env`, `roles`, `for_each`, `when`, ...
    pub changed: Vec<String>,
    /// On the left.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub left: Option<TaskSide>,
    /// On the right.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub right: Option<TaskSide>,
    /// How long the left one ran for each second of the right one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ratio: Option<f64>,
    /// Outputs, by name.
    pub outputs: Vec<ValuePair>,
    /// Arguments that differ, by name; of late ones, their expressions.
    pub arguments: Vec<ValuePair>,
}

/// What a task was in one run.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TaskSide {
    /// Its template, `name@version`.
    pub template: String,
    /// Its state.
    pub state: String,
    /// How long it waited for a place.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wait_seconds: Option<f64>,
    /// How long it ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run_seconds: Option<f64>,
    /// How many attempts there were.
    pub attempts: u64,
    /// What each attempt asked for.
    pub roles: Vec<RoleView>,
    /// What it used.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usage: Option<UsageView>,
}

/// A metric on both sides.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MetricPair {
    /// Its name.
    pub name: String,
    /// The task.
    pub task: String,
    /// The instance.
    pub instance: u32,
    /// On the left.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub left: Option<SeriesView>,
    /// On the right.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub right: Option<SeriesView>,
}
