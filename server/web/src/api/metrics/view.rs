//! View of reported metrics.

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
    /// Last value. Null if it is not finite.
    pub last: Option<f64>,
    /// Smallest finite value. Null if there is none.
    pub min: Option<f64>,
    /// Largest finite value. Null if there is none.
    pub max: Option<f64>,
    /// Values that are NaN or infinite. Omitted if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_finite: Option<NotFiniteView>,
    /// `[step, value]` pairs, at most 1,000, downsampled so that the smallest and largest values are kept. If no step
    /// was reported, the step is the position. A value that is not finite is null.
    #[schema(value_type = Vec<Vec<Option<f64>>>)]
    pub points: Vec<(f64, Option<f64>)>,
}

/// Values of a metric that are NaN or infinite.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct NotFiniteView {
    /// Number of these values.
    pub count: u64,
    /// Step of the first one.
    pub step: f64,
    /// First one: `NaN`, `Infinity` or `-Infinity`.
    pub value: &'static str,
}

/// Series by name.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MetricsView {
    /// Series by name, task and instance.
    pub series: Vec<SeriesView>,
    /// Whether there are more series than were sent. To get them, filter by one task or name.
    pub truncated: bool,
}
