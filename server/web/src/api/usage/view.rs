//! Views of usage.

use cubeloom_domain::accounting::{By, Day, Figures, Line};
use serde::Serialize;
use utoipa::ToSchema;

/// Allocations, usage and cost. Monetary amounts are strings with a decimal point, exact to a millionth.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FiguresView {
    /// Requested CPU cores multiplied by hours.
    pub cpu_hours: f64,
    /// Used CPU, in core-hours. Omitted if nothing was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_cpu_hours: Option<f64>,
    /// Requested memory, in GiB-hours.
    pub memory_gib_hours: f64,
    /// Used memory, in GiB-hours: peak memory times the hours that the job ran. Omitted if nothing was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_memory_gib_hours: Option<f64>,
    /// GPU-hours.
    pub gpu_hours: f64,
    /// GPU-hours in which the GPUs were busy. Omitted if nothing was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_gpu_hours: Option<f64>,
    /// Part of `gpu_hours` in which GPU activity was measured.
    pub measured_gpu_hours: f64,
    /// Number of attempts that ended.
    pub attempts: i64,
    /// Number of these attempts that failed. Preempted attempts do not count as failed.
    pub failed: i64,
    /// Cost.
    pub cost: String,
    /// Cost of the CPU.
    pub cpu_cost: String,
    /// Cost of the memory.
    pub memory_cost: String,
    /// Cost of the GPUs.
    pub gpu_cost: String,
}

impl From<&Figures> for FiguresView {
    fn from(figures: &Figures) -> Self {
        Self {
            cpu_hours: figures.cpu_hours(),
            used_cpu_hours: figures.cpu_is_measured().then(|| figures.used_cpu_hours()),
            memory_gib_hours: figures.memory_hours(),
            used_memory_gib_hours: figures.memory_is_measured().then(|| figures.used_memory_hours()),
            gpu_hours: figures.gpu_hours(),
            used_gpu_hours: figures.gpu_is_measured().then(|| figures.used_gpu_hours()),
            measured_gpu_hours: figures.measured_gpu_hours(),
            attempts: figures.attempts,
            failed: figures.failed,
            cost: figures.cost.total().to_string(),
            cpu_cost: figures.cost.cpu.to_string(),
            memory_cost: figures.cost.memory.to_string(),
            gpu_cost: figures.cost.gpu.to_string(),
        }
    }
}

/// Columns of [`FiguresView`] in a table.
pub(crate) const FIGURES: [&str; 13] = [
    "cpu_hours",
    "used_cpu_hours",
    "memory_gib_hours",
    "used_memory_gib_hours",
    "gpu_hours",
    "used_gpu_hours",
    "measured_gpu_hours",
    "attempts",
    "failed",
    "cost",
    "cpu_cost",
    "memory_cost",
    "gpu_cost",
];

impl FiguresView {
    /// Cells in the order of the columns.
    pub(crate) fn cells(&self) -> Vec<String> {
        let hours = |hours: f64| format!("{hours:.6}");
        vec![
            hours(self.cpu_hours),
            self.used_cpu_hours.map(hours).unwrap_or_default(),
            hours(self.memory_gib_hours),
            self.used_memory_gib_hours.map(hours).unwrap_or_default(),
            hours(self.gpu_hours),
            self.used_gpu_hours.map(hours).unwrap_or_default(),
            hours(self.measured_gpu_hours),
            self.attempts.to_string(),
            self.failed.to_string(),
            self.cost.clone(),
            self.cpu_cost.clone(),
            self.memory_cost.clone(),
            self.gpu_cost.clone(),
        ]
    }
}

/// Usage of a group. Fields that the report is not grouped by are omitted.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct UsageGroup {
    /// Day, UTC, e.g. `2026-01-31`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    /// Project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// User that it ran for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Pipeline of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<String>,
    /// Task template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// Cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Node group of the cluster. Omitted for nodes without a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_group: Option<String>,
    /// Allocations and usage.
    #[serde(flatten)]
    pub figures: FiguresView,
}

impl UsageGroup {
    pub(crate) fn new(line: &Line, figures: &Figures) -> Self {
        let named = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        Self {
            day: (line.day != Day::default()).then(|| line.day.to_string()),
            project: named(&line.project),
            user: named(&line.user),
            pipeline: named(&line.pipeline),
            template: named(&line.template),
            cluster: named(&line.cluster),
            node_group: named(&line.node_group),
            figures: figures.into(),
        }
    }

    /// Columns of a grouping.
    pub(crate) fn columns(by: By) -> &'static [&'static str] {
        match by {
            By::Day => &["day"],
            By::Project => &["project"],
            By::User => &["user"],
            By::Pipeline => &["project", "pipeline"],
            By::Template => &["template"],
            By::NodeGroup => &["cluster", "node_group"],
        }
    }

    /// Value of a column.
    pub(crate) fn cell(&self, column: &str) -> String {
        let value = match column {
            "day" => &self.day,
            "project" => &self.project,
            "user" => &self.user,
            "pipeline" => &self.pipeline,
            "template" => &self.template,
            "cluster" => &self.cluster,
            _ => &self.node_group,
        };
        value.clone().unwrap_or_default()
    }
}

/// Usage over a period.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct UsageReport {
    /// First day, UTC.
    pub from: String,
    /// Last day, UTC.
    pub to: String,
    /// Currency of the prices. Omitted if the settings name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Groups, in the order of the fields that they are grouped by.
    pub groups: Vec<UsageGroup>,
    /// Total of all groups.
    pub total: FiguresView,
}
