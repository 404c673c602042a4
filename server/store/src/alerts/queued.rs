//! Alerts about runs queued too long behind others of their pipeline: none of their tasks is ready, so no
//! alert about tasks covers them.

use cubeloom_domain::Timestamp;
use cubeloom_domain::alert::{Alert, AlertKind, Channel};
use cubeloom_domain::record::RunRecord;
use sqlx::AssertSqlSafe;

use super::channels::only_its_runs;
use super::raise::tell;
use crate::Store;
use crate::conditions::Conditions;
use crate::error::StoreError;
use crate::rows::{RUN_COLUMNS, run};

/// Maximum number of runs per check and channel: the next check covers others.
const AT_ONCE: usize = 100;

impl Store {
    /// Alerts a channel about runs queued for longer than it allows. Returns the number of messages.
    pub(super) async fn raise_queued(&self, channel: &Channel, now: Timestamp) -> Result<usize, StoreError> {
        let mut told = 0;
        for run in self.queued_for_long(channel, now).await? {
            let alert = of_run(&run, now);
            let channel = std::slice::from_ref(channel);
            told += self.transact(async |connection| tell(connection, channel, &alert).await).await?;
        }
        Ok(told)
    }

    async fn queued_for_long(&self, channel: &Channel, now: Timestamp) -> Result<Vec<RunRecord>, StoreError> {
        let mut wanted = Conditions::new("run");
        wanted.fixed("live = 1 AND state = 'queued'");
        only_its_runs(&mut wanted, channel, "runs")?;
        wanted.int("created_at <=", Some(channel.rules.waits_since(now).0))?;
        // The same key as in `key`.
        wanted.with_text(
            "NOT EXISTS (SELECT 1 FROM alert_deliveries d WHERE d.channel = {} AND d.alert_key = 'queued:' || runs.id)",
            &channel.id,
        )?;
        let (wanted, limit, values) = wanted.limited(AT_ONCE)?;
        let sql =
            format!("SELECT {RUN_COLUMNS} FROM runs WHERE {wanted} ORDER BY created_at, id LIMIT {limit}");
        self.all(AssertSqlSafe(sql), values, run).await
    }
}

fn of_run(run: &RunRecord, now: Timestamp) -> Alert {
    let (key, topic) = (format!("queued:{}", run.id), format!("queued:{}", run.pipeline));
    Alert {
        pipeline: Some(run.pipeline.clone()),
        run: Some(run.id.clone()),
        within: run.parent.is_some(),
        user: Some(run.person().to_owned()),
        since: Some(run.created_at),
        sentence: Some("its pipeline has reached its maximum of active runs".to_owned()),
        ..Alert::new(AlertKind::TaskWaiting, now, &run.project, key, topic)
    }
}
