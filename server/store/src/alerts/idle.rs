//! Tasks that hold graphics cards and do not use them.

use cubeloom_domain::alert::{Alert, AlertKind, Channel};
use cubeloom_domain::{AttemptKey, Timestamp};
use sqlx::AnyConnection;

use super::channels::listening;
use super::raise::tell;
use crate::Store;
use crate::error::StoreError;
use crate::values::{Columns, Values};

/// An attempt whose cards are idle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleCards {
    /// The attempt.
    pub key: AttemptKey,
    /// Its project.
    pub project: String,
    /// Its pipeline.
    pub pipeline: String,
    /// Who started its run.
    pub user: String,
    /// Since when they are idle, as far as that is known.
    pub since: Timestamp,
    /// When one of them was last busy, if that is known.
    pub busy_at: Option<Timestamp>,
    /// What is said of it.
    pub sentence: String,
}

impl Store {
    /// Tells of attempts whose cards are idle: once by each channel, until they were busy in between. Returns how many
    /// messages that made.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn raise_idle(&self, idle: &[IdleCards], now: Timestamp) -> Result<usize, StoreError> {
        let mut told = 0;
        for one in idle {
            told += self.transact(async |connection| raise(connection, one, now).await).await?;
        }
        Ok(told)
    }
}

async fn raise(connection: &mut AnyConnection, one: &IdleCards, now: Timestamp) -> Result<usize, StoreError> {
    let channels = listening(connection, Some(&one.project)).await?;
    let own = format!("{}:{}:", AlertKind::GpuIdle.as_str(), one.key);
    let mut told = 0;
    for channel in channels.iter().filter(|channel| channel.rules.events.contains(&AlertKind::GpuIdle)) {
        let last = last_told(connection, channel, &own).await?;
        if last.is_some() && one.busy_at <= last {
            continue;
        }
        // What was told before is in the key: of servers that look at once, one tells it.
        let key = format!("{own}{}", last.unwrap_or_default().0);
        let alert = Alert {
            pipeline: Some(one.pipeline.clone()),
            run: Some(one.key.run.clone()),
            task: Some(one.key.task.clone()),
            user: Some(one.user.clone()),
            since: Some(one.since),
            sentence: Some(one.sentence.clone()),
            ..Alert::new(
                AlertKind::GpuIdle,
                now,
                &one.project,
                key,
                format!("gpu_idle:{}:{}", one.pipeline, one.key.task),
            )
        };
        told += tell(connection, std::slice::from_ref(channel), &alert).await?;
    }
    Ok(told)
}

/// When the channel last told of the attempt.
async fn last_told(
    connection: &mut AnyConnection,
    channel: &Channel,
    own: &str,
) -> Result<Option<Timestamp>, StoreError> {
    let mut values = Values::texts("alert", &[&channel.id, own])?;
    values.int(own.len())?;
    let sql = "SELECT created_at FROM alert_deliveries WHERE channel = $1 \
               AND SUBSTR(alert_key, 1, CAST($3 AS INTEGER)) = $2 ORDER BY created_at DESC LIMIT 1";
    let row = sqlx::query_with(sql, values.arguments).fetch_optional(connection).await?;
    row.map(|row| Columns::of("alert", &row).time()).transpose()
}
