//! Monthly statement of a project.

use cubeloom_domain::accounting::budget::Budget;
use cubeloom_domain::accounting::statement::{Position, positions};
use cubeloom_domain::accounting::{By, Figures, Line, Month, PriceList};
use cubeloom_store::UsageFilter;

use super::report::total;
use super::today;
use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Monthly statement of a project.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub project: String,
    pub month: Month,
    /// Whether usage may be added: until the day after the month, while jobs that ran in it end.
    pub open: bool,
    pub positions: Vec<Position>,
    pub pipelines: Vec<(Line, Figures)>,
    pub people: Vec<(Line, Figures)>,
    pub total: Figures,
    pub budget: Option<Budget>,
}

/// Creates the statement.
///
/// # Errors
/// The month is in the future.
pub(crate) async fn statement(web: &Web, project: &str, month: Month) -> ApiResult<Statement> {
    let present = today(web).month();
    if month > present {
        return Err(ApiError::not_found("statement", month));
    }
    let filter = UsageFilter { period: month.period(), projects: Some(vec![project.to_owned()]) };
    let usage = async |by: &[By]| web.store().usage(&filter, by, web.now()).await;
    let lines = usage(&[By::Day, By::NodeGroup]).await?;
    let prices: PriceList = web.store().prices().await?.into_iter().collect();
    let budgets = web.store().budgets(project).await?;
    Ok(Statement {
        project: project.to_owned(),
        month,
        open: month == present,
        total: total(lines.iter().map(|(_, figures)| figures)),
        positions: positions(&lines, &prices),
        pipelines: usage(&[By::Pipeline]).await?,
        people: usage(&[By::User]).await?,
        budget: budgets.into_iter().find(|budget| budget.month <= month),
    })
}
