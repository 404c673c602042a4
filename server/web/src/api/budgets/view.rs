//! View and request body of a budget.

use cubeloom_domain::accounting::Month;
use cubeloom_domain::accounting::budget::{Budget, Standing};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::accounting::{month, today};
use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Monthly budget of a project, from a month until the next budget.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BudgetView {
    /// First month, in UTC, e.g. `2026-01`.
    pub month: String,
    /// Amount, with a decimal point. Omitted if spending is unlimited from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    /// Percentage of the budget at which the project is marked.
    pub warn_percent: u32,
    /// Whether nothing new is started after the budget is spent.
    pub stop: bool,
    /// Revision number, starting at 1 and incremented on each change. It is the ETag.
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

/// Spent amount of this month's budget.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BudgetStandingView {
    /// Month, in UTC.
    pub month: String,
    /// Budget amount, with a decimal point.
    pub amount: String,
    /// Amount spent, including what is still running.
    pub spent: String,
    /// Spent percentage of the budget, rounded down.
    pub percent: u64,
    /// `within`, `warned` (the project is marked), `spent`, or `stopped` (nothing new is started).
    pub level: &'static str,
    /// Percentage of the budget at which the project is marked.
    pub warn_percent: u32,
    /// Whether nothing new is started after the budget is spent.
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

/// Budget of a project from a month on.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetBody {
    /// Amount per month, e.g. `1200` or `99.50`. Omitted if spending is unlimited from then on.
    #[serde(default)]
    pub amount: Option<String>,
    /// Percentage of the budget at which the project is marked, from 1 to 100.
    #[serde(default = "usual_warning")]
    #[schema(minimum = 1, maximum = 100, default = 80)]
    pub warn_percent: u32,
    /// Whether nothing new is started after the budget is spent. What is running continues.
    #[serde(default)]
    pub stop: bool,
}

fn usual_warning() -> u32 {
    80
}

/// Parses a month that can still get a budget.
pub(crate) fn open_month(web: &Web, text: &str) -> ApiResult<Month> {
    let (wanted, present) = (month(text)?, today(web).month());
    if wanted < present {
        return Err(ApiError::conflict(format!("{wanted} is over: its budget can no longer change")));
    }
    Ok(wanted)
}

pub(crate) fn audited(budget: &Budget) -> Value {
    json!({
        "month": budget.month.to_string(),
        "amount": budget.amount.map(|amount| amount.to_string()),
        "warn_percent": budget.warn_percent,
        "stop": budget.stop,
    })
}

/// Budget set for exactly this month.
pub(crate) async fn of_month(web: &Web, project: &str, month: Month) -> ApiResult<Option<Budget>> {
    Ok(web.store().budgets(project).await?.into_iter().find(|budget| budget.month == month))
}
