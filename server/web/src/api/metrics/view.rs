//! Measured values, as the API shows them.

use serde::Serialize;
use utoipa::ToSchema;

/// One metric of one instance, over its steps.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct SeriesView {
    /// Its name.
    pub name: String,
    /// The task.
    pub task: String,
    /// The instance.
    pub instance: u32,
    /// How many values were reported.
    pub count: u64,
    /// The last value.
    pub last: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// `[step, value]`, at most 1,000 of them, thinned so that the smallest and largest stay; the step is the
    /// position where none was reported.
    #[schema(value_type = Vec<Vec<f64>>)]
    pub points: Vec<[f64; 2]>,
}

/// Series by name.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MetricsView {
    /// The series, by name, task and instance.
    pub series: Vec<SeriesView>,
    /// Whether there are more series than are sent: ask for one task or name.
    pub truncated: bool,
}
