//! View of a statement.

use cubeloom_domain::accounting::statement::Position;
use cubeloom_domain::accounting::{Figures, Line};
use serde::Serialize;
use utoipa::ToSchema;

use crate::accounting::statement::Statement;
use crate::api::budgets::view::BudgetView;
use crate::api::prices::view::RatesBody;
use crate::api::usage::view::{FIGURES, FiguresView, UsageGroup};

/// Monthly statement of a project: allocations and cost.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct StatementView {
    /// Project.
    pub project: String,
    /// Month, UTC, e.g. `2026-01`.
    pub month: String,
    /// Whether the month is still in progress.
    pub open: bool,
    /// Currency of the prices. Omitted if the settings name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Resources allocated in each node group while one price was valid.
    pub positions: Vec<PositionView>,
    /// The same figures by pipeline.
    pub pipelines: Vec<UsageGroup>,
    /// The same figures by user.
    pub users: Vec<UsageGroup>,
    /// Total.
    pub total: FiguresView,
    /// Budget in effect in this month.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetView>,
}

/// Resources allocated in a node group while one price was valid.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PositionView {
    /// Cluster.
    pub cluster: String,
    /// Node group. Omitted for nodes without a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_group: Option<String>,
    /// Date from which the price is valid. Omitted if there is no price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_since: Option<String>,
    /// Prices per hour.
    pub price: RatesBody,
    /// Allocated resources.
    #[serde(flatten)]
    pub figures: FiguresView,
}

impl From<&Position> for PositionView {
    fn from(position: &Position) -> Self {
        Self {
            cluster: position.cluster.clone(),
            node_group: Some(position.node_group.clone()).filter(|name| !name.is_empty()),
            price_since: position.since.map(|day| day.to_string()),
            price: position.rates.into(),
            figures: (&position.figures).into(),
        }
    }
}

impl StatementView {
    /// View of a statement in this currency.
    pub(crate) fn new(statement: Statement, currency: Option<String>) -> Self {
        let groups = |lines: &[(Line, Figures)]| -> Vec<UsageGroup> {
            lines.iter().map(|(line, figures)| UsageGroup::new(line, figures)).collect()
        };
        Self {
            project: statement.project,
            month: statement.month.to_string(),
            open: statement.open,
            currency,
            positions: statement.positions.iter().map(PositionView::from).collect(),
            pipelines: groups(&statement.pipelines),
            users: groups(&statement.people),
            total: (&statement.total).into(),
            budget: statement.budget.map(BudgetView::from),
        }
    }

    /// Columns and rows of its table, one row per position.
    pub(crate) fn table(&self) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let own = [
            "project",
            "month",
            "cluster",
            "node_group",
            "price_since",
            "cpu_hour",
            "memory_gib_hour",
            "gpu_hour",
            "currency",
        ];
        let row = |position: &PositionView| {
            let names = [
                self.project.clone(),
                self.month.clone(),
                position.cluster.clone(),
                position.node_group.clone().unwrap_or_default(),
                position.price_since.clone().unwrap_or_default(),
                position.price.cpu_hour.clone(),
                position.price.memory_gib_hour.clone(),
                position.price.gpu_hour.clone(),
                self.currency.clone().unwrap_or_default(),
            ];
            names.into_iter().chain(position.figures.cells()).collect()
        };
        (own.into_iter().chain(FIGURES).collect(), self.positions.iter().map(row).collect())
    }
}
