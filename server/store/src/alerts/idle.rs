//! Alerts about allocated but idle GPUs.

use cubeloom_domain::alert::{Alert, AlertKind, Channel};
use cubeloom_domain::{AttemptKey, Timestamp};
use sqlx::AnyConnection;

use super::channels::listening;
use super::person;
use super::raise::tell;
use crate::Store;
use crate::error::StoreError;
use crate::values::{Columns, Values};

/// An attempt with idle GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleCards {
    pub key: AttemptKey,
    pub project: String,
    pub pipeline: String,
    pub user: String,
    /// When they became idle, as far as that is known.
    pub since: Timestamp,
    /// When one of them was last busy, if that is known.
    pub busy_at: Option<Timestamp>,
    pub sentence: String,
}

impl Store {
    /// Alerts about attempts with idle GPUs, once per channel and once to the user of the run, until they are
    /// busy in between. Returns the number of messages.
    pub async fn raise_idle(&self, idle: &[IdleCards], now: Timestamp) -> Result<usize, StoreError> {
        let mut told = 0;
        for one in idle {
            told += self.transact(async |connection| self.raise_one(connection, one, now).await).await?;
        }
        Ok(told)
    }

    async fn raise_one(
        &self,
        connection: &mut AnyConnection,
        one: &IdleCards,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let channels = listening(connection, Some(&one.project)).await?;
        let mut told = 0;
        for channel in channels.iter().filter(|channel| channel.rules.events.contains(&AlertKind::GpuIdle)) {
            let last = last_told(connection, &channel.id, one).await?;
            if one.is_news(last) {
                let alert = one.alert(last, now);
                told += tell(connection, std::slice::from_ref(channel), &alert).await?;
            }
        }
        if self.inner.mails {
            told += mail(connection, &channels, one, now).await?;
        }
        Ok(told)
    }
}

impl IdleCards {
    /// The prefix of the keys of all alerts about the attempt.
    fn own(&self) -> String {
        format!("{}:{}:", AlertKind::GpuIdle.as_str(), self.key)
    }

    /// Whether it is new to a receiver last alerted at this moment.
    fn is_news(&self, last: Option<Timestamp>) -> bool {
        last.is_none() || self.busy_at > last
    }

    /// The key contains the last alert, so that of several servers checking concurrently only one alerts.
    fn alert(&self, last: Option<Timestamp>, now: Timestamp) -> Alert {
        let key = format!("{}{}", self.own(), last.unwrap_or_default().0);
        let topic = format!("gpu_idle:{}:{}", self.pipeline, self.key.task);
        Alert {
            pipeline: Some(self.pipeline.clone()),
            run: Some(self.key.run.clone()),
            task: Some(self.key.task.clone()),
            user: Some(self.user.clone()),
            since: Some(self.since),
            sentence: Some(self.sentence.clone()),
            ..Alert::new(AlertKind::GpuIdle, now, &self.project, key, topic)
        }
    }
}

/// Sends mail to the user of the run, unless one of the channels, which are already notified, sends mail to
/// the same address.
async fn mail(
    connection: &mut AnyConnection,
    channels: &[Channel],
    one: &IdleCards,
    now: Timestamp,
) -> Result<usize, StoreError> {
    let Some(person) = person::person_of(connection, &one.alert(None, now)).await? else { return Ok(0) };
    for channel in person::mailing(channels, &person) {
        if !one.is_news(last_told(connection, &channel.id, one).await?) {
            return Ok(0);
        }
    }
    let last = last_told(connection, &person.id, one).await?;
    if !one.is_news(last) {
        return Ok(0);
    }
    person::write(connection, &person, &one.alert(last, now)).await
}

/// When the channel, or the user, was last alerted about the attempt.
async fn last_told(
    connection: &mut AnyConnection,
    channel: &str,
    one: &IdleCards,
) -> Result<Option<Timestamp>, StoreError> {
    let own = one.own();
    let mut values = Values::texts("alert", &[channel, &own])?;
    values.int(own.len())?;
    let sql = "SELECT created_at FROM alert_deliveries WHERE channel = $1 \
               AND SUBSTR(alert_key, 1, CAST($3 AS INTEGER)) = $2 ORDER BY created_at DESC LIMIT 1";
    let row = sqlx::query_with(sql, values.arguments).fetch_optional(connection).await?;
    row.map(|row| Columns::of("alert", &row).time()).transpose()
}
