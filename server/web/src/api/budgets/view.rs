//! A budget, as the API takes and shows it.

use cubeloom_domain::accounting::Month;
use cubeloom_domain::accounting::budget::{Budget, Standing};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::accounting::{month, today};
use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// What a project may spend in each month, from a month on until the next budget.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BudgetView {
    /// The first month, UTC, e.g. `2026-01`.
    pub month: String,
    /// How much, with a point; absent where nothing bounds it from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    /// From how many hundredths of it on the project is marked.
    pub warn_percent: u32,
    /// Whether nothing new is started once it is spent.
    pub stop: bool,
    /// Counts its changes, from 1: its ETag.
    pub revision: u64,
}

impl From<Budget> for BudgetView {
    fn from(budget: Budget) -> Self {
        Self {
            month: budget.month.to_string(),
            amount: budget.amount.map(|amount| amount.to_string()),
            warn_percent: budget.warn_percent,
            stop: budget.stop,
            revision: budget.revision,
        }
    }
}

/// How much of this month's budget is spent.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BudgetStandingView {
    /// The month, UTC.
    pub month: String,
    /// What there is to spend, with a point.
    pub amount: String,
    /// What is spent, also by what still runs.
    pub spent: String,
    /// How many hundredths that is, rounded down.
    pub percent: u64,
    /// `within`, `warned` (the project is marked), `spent`, or `stopped` (nothing new is started).
    pub level: &'static str,
    /// From how many hundredths on the project is marked.
    pub warn_percent: u32,
    /// Whether nothing new is started once it is spent.
    pub stop: bool,
}

impl From<&Standing> for BudgetStandingView {
    fn from(standing: &Standing) -> Self {
        Self {
            month: standing.month.to_string(),
            amount: standing.amount.to_string(),
            spent: standing.spent.to_string(),
            percent: standing.percent(),
            level: standing.level().as_str(),
            warn_percent: standing.warn_percent,
            stop: standing.stop,
        }
    }
}

/// What a project may spend from a month on.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetBody {
    /// How much in each month, e.g. `1200` or `99.50`; absent: nothing bounds it from then on.
    #[serde(default)]
    pub amount: Option<String>,
    /// From how many hundredths of it on the project is marked, from 1 to 100.
    #[serde(default = "usual_warning")]
    #[schema(minimum = 1, maximum = 100, default = 80)]
    pub warn_percent: u32,
    /// Whether nothing new is started once it is spent; what runs goes on.
    #[serde(default)]
    pub stop: bool,
}

fn usual_warning() -> u32 {
    80
}

/// A month that may still be given a budget.
pub(crate) fn open_month(web: &Web, text: &str) -> ApiResult<Month> {
    let (wanted, present) = (month(text)?, today(web).month());
    if wanted < present {
        return Err(ApiError::conflict(format!("{wanted} is over: its budget stays as it was")));
    }
    Ok(wanted)
}

/// As the audit log has it.
pub(crate) fn audited(budget: &Budget) -> Value {
    json!({
        "month": budget.month.to_string(),
        "amount": budget.amount.map(|amount| amount.to_string()),
        "warn_percent": budget.warn_percent,
        "stop": budget.stop,
    })
}

/// What is set for just this month.
pub(crate) async fn of_month(web: &Web, project: &str, month: Month) -> ApiResult<Option<Budget>> {
    Ok(web.store().budgets(project).await?.into_iter().find(|budget| budget.month == month))
}
