//! Alerts about tasks pending too long, from periodic checks, once for instances that became ready together.

use cubeloom_domain::alert::{Alert, AlertKind, Channel};
use cubeloom_domain::state::InstanceState;
use cubeloom_domain::{RunId, TaskIx, Timestamp};
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use super::channels::{listening, only_its_runs};
use super::raise::tell;
use crate::Store;
use crate::conditions::Conditions;
use crate::error::StoreError;
use crate::values::Columns;

/// Maximum number of groups of instances per check and channel: the next check covers others.
const AT_ONCE: usize = 100;

/// Pending instances of a task that became ready together.
struct Group {
    run: RunId,
    task: TaskIx,
    ready_at: Timestamp,
    count: u64,
    pipeline: String,
    user: String,
    within: bool,
    state: InstanceState,
}

impl Store {
    /// Alerts about instances pending, and runs queued, for longer than their project's channels allow.
    /// Returns the number of messages.
    ///
    /// # Errors
    /// If a plan cannot be read.
    pub async fn raise_waiting(&self, now: Timestamp) -> Result<usize, StoreError> {
        let channels = listening(&mut *self.inner.pool.acquire().await?, None).await?;
        let mut told = 0;
        for channel in channels.iter().filter(|one| one.rules.events.contains(&AlertKind::TaskWaiting)) {
            for group in self.untold(channel, now).await? {
                let alert = self.of_group(channel, group, now).await?;
                let channel = std::slice::from_ref(channel);
                told += self.transact(async |connection| tell(connection, channel, &alert).await).await?;
            }
            told += self.raise_queued(channel, now).await?;
        }
        Ok(told)
    }

    async fn of_group(&self, channel: &Channel, group: Group, now: Timestamp) -> Result<Alert, StoreError> {
        let task = self.planned_tasks(&group.run, &[group.task]).await?.remove(&group.task);
        let task = task.map(|task| task.name).unwrap_or_default();
        let key = Alert::waiting_key(&group.run, group.task, group.ready_at);
        let topic = format!("waiting:{}:{task}", group.pipeline);
        let sentence = match group.state {
            InstanceState::Waiting { reason: Some(reason), .. } => Some(reason.message().to_owned()),
            _ => None,
        };
        Ok(Alert {
            pipeline: Some(group.pipeline),
            run: Some(group.run),
            within: group.within,
            user: Some(group.user),
            task: Some(task),
            count: Some(group.count),
            since: Some(group.ready_at),
            sentence,
            ..Alert::new(AlertKind::TaskWaiting, now, &channel.project, key, topic)
        })
    }

    /// The groups pending too long without an alert of this channel, longest first.
    async fn untold(&self, channel: &Channel, now: Timestamp) -> Result<Vec<Group>, StoreError> {
        let mut wanted = Conditions::new("instance");
        wanted.fixed("r.live = 1 AND i.ended_at IS NULL AND SUBSTR(i.state_json, 11, 8) = 'waiting\"'");
        only_its_runs(&mut wanted, channel, "r")?;
        wanted.int("i.ready_at <=", Some(channel.rules.waits_since(now).0))?;
        // The same key as in `Alert::waiting_key`.
        wanted.with_text(
            "NOT EXISTS (SELECT 1 FROM alert_deliveries d WHERE d.channel = {} AND d.alert_key = \
             'waiting:' || i.run_id || ':' || CAST(i.task AS TEXT) || ':' || CAST(i.ready_at AS TEXT))",
            &channel.id,
        )?;
        let (wanted, limit, values) = wanted.limited(AT_ONCE)?;
        let sql = format!(
            "SELECT i.run_id, i.task, i.ready_at, COUNT(*), r.pipeline, COALESCE(r.acting_user, r.user_name), \
             r.parent, MIN(i.state_json) FROM runs r JOIN instances i ON i.run_id = r.id WHERE {wanted} \
             GROUP BY i.run_id, i.task, i.ready_at, r.pipeline, r.acting_user, r.user_name, r.parent \
             ORDER BY i.ready_at, i.run_id, i.task LIMIT {limit}"
        );
        self.all(AssertSqlSafe(sql), values, group).await
    }
}

fn group(row: &AnyRow) -> Result<Group, StoreError> {
    let mut columns = Columns::of("instance", row);
    Ok(Group {
        run: columns.parsed()?,
        task: TaskIx(columns.int()?),
        ready_at: columns.time()?,
        count: columns.int()?,
        pipeline: columns.text()?.into(),
        user: columns.text()?.into(),
        within: columns.maybe_text()?.is_some(),
        state: columns.json()?,
    })
}
