//! Budgets of projects, and their spending.

use std::collections::BTreeMap;

use cubeloom_domain::Timestamp;
use cubeloom_domain::accounting::budget::{Budget, Level, Standing};
use cubeloom_domain::accounting::{By, Day, Money, Month};
use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::record::RunRecord;
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use crate::error::StoreError;
use crate::query::{collect, execute};
use crate::revision::Target;
use crate::usage::{UsageFilter, lines};
use crate::values::{Columns, Values};
use crate::{Change, Store, audit, projects};

impl Store {
    /// The budgets of a project, newest first.
    pub async fn budgets(&self, project: &str) -> Result<Vec<Budget>, StoreError> {
        let sql = "SELECT project, month, amount, warn_percent, stop, revision FROM budgets \
                   WHERE project = $1 ORDER BY month DESC";
        self.all(sql, Values::texts("budget", &[project])?, read).await
    }

    /// Sets a project's budget from a month on; `expected` is the revision of an existing budget of that
    /// month.
    pub async fn put_budget(
        &self,
        budget: &Budget,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.transact(async |connection| {
            if !projects::hold(self.backend(), connection, &budget.project).await? {
                return Err(StoreError::NoSuchProject(budget.project.clone()));
            }
            let month = budget.month.to_string();
            let mut change =
                target(&budget.project, &month, expected).take(self.backend(), connection).await?;
            if change == Change::Missing && expected.is_none() {
                change = Change::Done(1);
            }
            let Change::Done(revision) = change else { return Ok(change) };
            let mut values = Values::texts("budget", &[&budget.project, &month])?;
            values.maybe_int(budget.amount.map(|amount| amount.0))?.int(budget.warn_percent)?;
            values.flag(budget.stop)?.int(revision)?;
            let sql = "INSERT INTO budgets (project, month, amount, warn_percent, stop, revision) \
                       VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (project, month) DO UPDATE SET \
                       amount = excluded.amount, warn_percent = excluded.warn_percent, \
                       stop = excluded.stop, revision = excluded.revision";
            execute(connection, sql, values).await?;
            audit::write(connection, audit).await?;
            Ok(change)
        })
        .await
    }

    /// Deletes the budget of a month: the previous one stays in force.
    pub async fn delete_budget(
        &self,
        project: &str,
        month: Month,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.delete_named(target(project, &month.to_string(), expected), audit).await
    }

    /// The spending of a project against its current budget; `None` without a budget.
    pub async fn budget_standing(
        &self,
        project: &str,
        now: Timestamp,
    ) -> Result<Option<Standing>, StoreError> {
        standing(&mut *self.inner.pool.acquire().await?, project, now).await
    }

    /// The same for every project with a budget, by name.
    pub async fn budget_standings(&self, now: Timestamp) -> Result<BTreeMap<String, Standing>, StoreError> {
        let month = Day::of(now).month();
        let sql = "SELECT project, month, amount, warn_percent, stop, revision FROM budgets b \
                   WHERE month = (SELECT MAX(month) FROM budgets m WHERE m.project = b.project AND m.month <= $1) \
                   AND amount IS NOT NULL";
        let budgets = self.all(sql, Values::texts("budget", &[&month.to_string()])?, read).await?;
        if budgets.is_empty() {
            return Ok(BTreeMap::new());
        }
        let projects = budgets.iter().map(|budget| budget.project.clone()).collect();
        let filter = UsageFilter { period: month.period(), projects: Some(projects) };
        let spent = self.usage(&filter, &[By::Project], now).await?;
        let spent: BTreeMap<String, Money> =
            spent.into_iter().map(|(line, figures)| (line.project, figures.cost.total())).collect();
        let of = |budget: Budget| {
            let spent = spent.get(&budget.project).copied().unwrap_or_default();
            Some((budget.project.clone(), budget.standing(month, spent)?))
        };
        Ok(budgets.into_iter().filter_map(of).collect())
    }
}

/// Refuses a run that a user starts in a project whose budget is spent. A run started by a task is part of an
/// active run.
///
/// # Errors
/// [`StoreError::BudgetSpent`].
pub(crate) async fn refuse_spent(connection: &mut AnyConnection, run: &RunRecord) -> Result<(), StoreError> {
    if run.parent.is_some() {
        return Ok(());
    }
    refuse(connection, &run.project, run.created_at).await
}

/// The same for a project.
///
/// # Errors
/// [`StoreError::BudgetSpent`].
pub(crate) async fn refuse(
    connection: &mut AnyConnection,
    project: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    match standing(connection, project, now).await? {
        Some(standing) if standing.level() == Level::Stopped => Err(StoreError::BudgetSpent {
            project: project.to_owned(),
            month: standing.month,
            spent: standing.spent,
            amount: standing.amount,
        }),
        _ => Ok(()),
    }
}

async fn standing(
    connection: &mut AnyConnection,
    project: &str,
    now: Timestamp,
) -> Result<Option<Standing>, StoreError> {
    let month = Day::of(now).month();
    let sql = "SELECT project, month, amount, warn_percent, stop, revision FROM budgets \
               WHERE project = $1 AND month <= $2 ORDER BY month DESC LIMIT 1";
    let values = Values::texts("budget", &[project, &month.to_string()])?;
    let found = collect(connection, sqlx::query_with(sql, values.arguments), read).await?;
    let Some(budget) = found.into_iter().next().filter(|budget| budget.amount.is_some()) else {
        return Ok(None);
    };
    let filter = UsageFilter { period: month.period(), projects: Some(vec![project.to_owned()]) };
    let spent = lines(connection, &filter, &[], now).await?;
    Ok(budget.standing(month, spent.into_iter().map(|(_, figures)| figures.cost.total()).sum()))
}

fn target<'t>(project: &'t str, month: &'t str, expected: Option<u64>) -> Target<'t, 2> {
    Target { table: "budgets", key: [("project", project), ("month", month)], expected }
}

fn read(row: &AnyRow) -> Result<Budget, StoreError> {
    let mut columns = Columns::of("budget", row);
    Ok(Budget {
        project: columns.text()?.into(),
        month: columns.parsed()?,
        amount: columns.maybe_int()?.map(Money),
        warn_percent: columns.int()?,
        stop: columns.flag()?,
        revision: columns.int()?,
    })
}
