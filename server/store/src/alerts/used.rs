//! Alerts about nearly exhausted budgets and quotas of projects.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::accounting::budget::{Level, Standing};
use cubeloom_domain::alert::{Alert, AlertKind};
use sqlx::AnyConnection;

use super::channels::listening;
use super::person::is_anybody;
use super::raise::tell;
use crate::Store;
use crate::error::StoreError;
use crate::query::execute;
use crate::values::{Columns, Values};

/// The percentage from which on a quota is nearly used, and the one below which it no longer is.
const NEARLY: u64 = 90;
const NO_MORE: u64 = 80;
/// The minimum duration.
const LASTING: Duration = Duration::from_secs(600);

/// A project's usage of a quota.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaUse {
    pub project: String,
    pub pool: String,
    pub resource: String,
    /// Percentage of its limit.
    pub percent: u64,
    /// The amount, as a sentence.
    pub sentence: String,
}

impl Store {
    /// Whether any project's channel subscribes to this, or a user gets mail about own runs.
    pub async fn is_wanted(&self, kind: AlertKind) -> Result<bool, StoreError> {
        let channels = listening(&mut *self.inner.pool.acquire().await?, None).await?;
        if channels.iter().any(|channel| channel.rules.events.contains(&kind)) {
            return Ok(true);
        }
        Ok(self.inner.mails
            && kind.is_personal()
            && is_anybody(&mut *self.inner.pool.acquire().await?).await?)
    }

    /// Alerts about budgets: once a month at the warning threshold, and once when all is spent. A changed
    /// budget is alerted again. Returns the number of messages.
    pub async fn raise_budgets(&self, now: Timestamp) -> Result<usize, StoreError> {
        if !self.is_wanted(AlertKind::BudgetNearlyUsed).await? {
            return Ok(0);
        }
        let mut told = 0;
        for (project, standing) in self.budget_standings(now).await? {
            if standing.level() > Level::Within {
                told += self.raise_alert(&of_budget(&project, &standing, now)).await?;
            }
        }
        Ok(told)
    }

    /// Records the projects' usage of their quotas, and alerts once a quota has been nearly used for ten
    /// minutes: once, until the usage drops below 80 %. Returns the number of messages.
    pub async fn raise_quotas(&self, uses: &[QuotaUse], now: Timestamp) -> Result<usize, StoreError> {
        self.transact(async |connection| {
            let mut told = 0;
            for one in uses {
                told += raise_quota(connection, one, now).await?;
            }
            Ok(told)
        })
        .await
    }
}

async fn raise_quota(
    connection: &mut AnyConnection,
    one: &QuotaUse,
    now: Timestamp,
) -> Result<usize, StoreError> {
    let key = || Values::texts("quota", &[&one.project, &one.pool, &one.resource]);
    if one.percent < NEARLY {
        // An entry without an alert has not lasted long enough.
        let over = if one.percent < NO_MORE { "" } else { " AND told = 0" };
        let sql = format!("DELETE FROM quota_marks WHERE project = $1 AND pool = $2 AND resource = $3{over}");
        execute(connection, sqlx::AssertSqlSafe(sql), key()?).await?;
        return Ok(0);
    }
    let mut values = key()?;
    values.int(now.0)?;
    let sql = "INSERT INTO quota_marks (project, pool, resource, since, told) VALUES ($1, $2, $3, $4, 0) \
               ON CONFLICT (project, pool, resource) DO NOTHING";
    execute(connection, sql, values).await?;
    let sql = "SELECT since, told FROM quota_marks WHERE project = $1 AND pool = $2 AND resource = $3";
    let row = sqlx::query_with(sql, key()?.arguments).fetch_optional(&mut *connection).await?;
    let Some(row) = row else { return Ok(0) };
    let mut columns = Columns::of("quota", &row);
    let (since, is_told) = (columns.time()?, columns.flag()?);
    if is_told || now < since.plus(LASTING) {
        return Ok(0);
    }
    let sql = "UPDATE quota_marks SET told = 1 WHERE project = $1 AND pool = $2 AND resource = $3";
    execute(connection, sql, key()?).await?;
    let topic = format!("quota:{}:{}", one.pool, one.resource);
    let alert = Alert {
        since: Some(since),
        sentence: Some(one.sentence.clone()),
        ..Alert::new(AlertKind::QuotaNearlyUsed, now, &one.project, format!("{topic}:{}", since.0), topic)
    };
    let channels = listening(connection, Some(&one.project)).await?;
    tell(connection, &channels, &alert).await
}

fn of_budget(project: &str, standing: &Standing, now: Timestamp) -> Alert {
    let Standing { month, amount, spent, .. } = standing;
    // The owner chooses whether a spent budget blocks new runs: it is spent either way.
    let level = if standing.level() > Level::Warned { "spent" } else { "warned" };
    let sentence = format!("{spent} of {amount} are spent in {month}: {} %", standing.percent());
    let key = format!("budget:{month}:{}:{level}", amount.0);
    Alert {
        sentence: Some(sentence),
        ..Alert::new(AlertKind::BudgetNearlyUsed, now, project, key, format!("budget:{level}"))
    }
}
