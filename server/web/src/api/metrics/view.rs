//! Measured values, as the API shows them.

use serde::Serialize;
use utoipa::ToSchema;

/// One metric of one instance, over its steps.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct SeriesView {
    /// Name.
    pub name: String,
    /// Task.
    pub task: String,
    /// Instance.
    pub instance: u32,
    /// Number of reported values.
    pub count: u64,
    /// Last value.
    pub last: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// `[step, value]` pairs, at most 1,000, downsampled so that the smallest and largest values are kept. If no step
    /// was reported, the step is the position.
    #[schema(value_type = Vec<Vec<f64>>)]
    pub points: Vec<[f64; 2]>,
}

/// Series by name.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MetricsView {
    /// Series by name, task and instance.
    pub series: Vec<SeriesView>,
    /// Whether there are more series than were sent. To get them, filter by one task or name.
    pub truncated: bool,
}
