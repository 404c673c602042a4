//! Alerts about late runs, from periodic checks, once per run.

use std::time::Duration;

use cubeloom_domain::alert::{Alert, AlertKind, Channel};
use cubeloom_domain::record::RunRecord;
use cubeloom_domain::{RunId, Timestamp};
use sqlx::AssertSqlSafe;

use super::channels::{listening, only_its_runs};
use super::raise::tell;
use crate::Store;
use crate::conditions::Conditions;
use crate::error::StoreError;
use crate::rows::{RUN_COLUMNS, run};

/// Maximum number of runs per check and channel: the next check covers others.
const AT_ONCE: usize = 100;
/// Runs that became late earlier cause no alert: no server was up to raise it.
const OLDEST: Duration = Duration::from_secs(24 * 3600);

impl Store {
    /// Alerts about runs that missed their deadline. Returns the number of messages.
    pub async fn raise_late(&self, now: Timestamp) -> Result<usize, StoreError> {
        let channels = listening(&mut *self.inner.pool.acquire().await?, None).await?;
        let mut told = 0;
        for channel in channels.iter().filter(|one| one.rules.events.contains(&AlertKind::RunLate)) {
            for run in self.late(channel, now).await? {
                let alert = of_run(&run, now);
                let channel = std::slice::from_ref(channel);
                told += self.transact(async |connection| tell(connection, channel, &alert).await).await?;
            }
        }
        Ok(told)
    }

    /// The late runs without an alert of this channel; not those that were late before the channel existed.
    async fn late(&self, channel: &Channel, now: Timestamp) -> Result<Vec<RunRecord>, StoreError> {
        let oldest = now.minus(OLDEST).max(channel.created_at);
        let mut wanted = Conditions::new("run");
        // The same condition as `Cause::is_late`.
        wanted.fixed("state <> 'cancelled' AND (state <> 'succeeded' OR ended_at > late_at)");
        only_its_runs(&mut wanted, channel, "runs")?;
        wanted.int("late_at <", Some(now.0))?;
        wanted.int("late_at >=", Some(oldest.0))?;
        wanted.with_text(
            "NOT EXISTS (SELECT 1 FROM alert_deliveries d WHERE d.channel = {} AND d.alert_key = 'late:' || runs.id)",
            &channel.id,
        )?;
        let (wanted, limit, values) = wanted.limited(AT_ONCE)?;
        let sql = format!("SELECT {RUN_COLUMNS} FROM runs WHERE {wanted} ORDER BY late_at, id LIMIT {limit}");
        self.all(AssertSqlSafe(sql), values, run).await
    }
}

fn of_run(run: &RunRecord, now: Timestamp) -> Alert {
    Alert {
        pipeline: Some(run.pipeline.clone()),
        run: Some(run.id.clone()),
        within: run.parent.is_some(),
        user: Some(run.acting.clone().unwrap_or_else(|| run.user.clone())),
        since: run.cause.late_at,
        ..Alert::new(AlertKind::RunLate, now, &run.project, key(&run.id), format!("late:{}", run.pipeline))
    }
}

/// The same key as in the query above.
fn key(run: &RunId) -> String {
    format!("late:{run}")
}
