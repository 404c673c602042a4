//! Current month of a project, for its page.

use cubeloom_domain::accounting::budget::Standing;
use cubeloom_domain::accounting::{Figures, Money, Month};
use cubeloom_store::UsageFilter;

use super::{hours, level, money, percent};
use crate::accounting::report::total;
use crate::accounting::today;
use crate::error::ApiResult;
use crate::state::Web;

/// Allocations and usage of a project this month, relative to its budget.
pub(in crate::pages) struct MonthUsage {
    pub month: Month,
    pub figures: Figures,
    pub standing: Option<Standing>,
    /// ETag of the budget that starts in this month. Empty if there is none.
    pub etag: String,
    currency: Option<String>,
}

impl MonthUsage {
    pub async fn of(web: &Web, project: &str) -> ApiResult<Self> {
        let month = today(web).month();
        let filter = UsageFilter { period: month.period(), projects: Some(vec![project.to_owned()]) };
        let lines = web.store().usage(&filter, &[], web.now()).await?;
        let budgets = web.store().budgets(project).await?;
        let own = budgets.iter().find(|budget| budget.month == month);
        Ok(Self {
            month,
            figures: total(lines.iter().map(|(_, figures)| figures)),
            standing: web.store().budget_standing(project, web.now()).await?,
            etag: own.map_or(String::new(), |budget| format!("\"{}\"", budget.revision)),
            currency: web.settings().currency.clone(),
        })
    }

    pub fn hours(&self, amount: f64) -> String {
        hours(amount)
    }

    pub fn percent(&self, used: f64, asked: f64) -> String {
        percent(used, asked)
    }

    pub fn money(&self, amount: Money) -> String {
        money(amount, self.currency.as_deref())
    }

    pub fn spent(&self, standing: &Standing) -> String {
        self.money(standing.spent)
    }

    pub fn amount(&self, standing: &Standing) -> String {
        self.money(standing.amount)
    }

    /// Text key of the budget's level.
    pub fn level(&self, standing: &Standing) -> &'static str {
        level(standing.level().as_str())
    }
}
