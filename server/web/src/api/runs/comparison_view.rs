//! View of a comparison of several runs.

use cubeloom_domain::JsonMap;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::view::RunView;

/// Several runs for comparison.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RunsComparisonView {
    /// Runs, in the order of the request.
    pub runs: Vec<ComparedRunView>,
}

/// A run in a comparison.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ComparedRunView {
    /// The run.
    pub run: RunView,
    /// Parameters of the run, including the defaults of the pipeline.
    #[schema(value_type = Object)]
    pub parameters: JsonMap,
    /// Last values of metrics, including those of running tasks. Tasks with `for_each` are left out.
    pub metrics: Vec<TaskValueView>,
    /// Outputs that are numbers. Tasks with `for_each` are left out.
    pub outputs: Vec<TaskValueView>,
    /// Tasks in document order, at most 500.
    pub tasks: Vec<ComparedTaskView>,
}

/// A value that a task reported.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct TaskValueView {
    /// Task.
    pub task: String,
    /// Name of the metric or the output.
    pub name: String,
    /// The number. A metric that is not finite has `NaN`, `Infinity` or `-Infinity` as a text.
    #[schema(value_type = Value)]
    pub value: Value,
}

/// A task of a run in a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ComparedTaskView {
    /// Name of the task.
    pub name: String,
    /// State of the task, as in the list of tasks.
    pub state: String,
    /// Time from the start of its first attempt to the end of its last instance, in seconds. Omitted until then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run_seconds: Option<f64>,
}
