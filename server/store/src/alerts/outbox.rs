//! The outbox of messages: leased, deferred over quiet hours, settled.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::alert::{Channel, Delivery, DeliveryState};
use cubeloom_domain::identity::User;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe};

use super::history::{COLUMNS, read};
use super::person::{Named, mailable};
use crate::Store;
use crate::error::StoreError;
use crate::query::{collect, execute, places};
use crate::values::{Columns, Values};

/// Messages for one receiver that are sent together, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    pub to: Receiver,
    /// At least one; exactly one for a user.
    pub deliveries: Vec<Delivery>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Receiver {
    Channel(Channel),
    /// The user of the run, by mail.
    Person(User),
    /// None: the channel was deleted, or the user has switched mails off meanwhile.
    Nobody,
}

/// The outcome of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    Sent,
    /// It is retried at this moment.
    Again(Timestamp),
    /// It is not retried.
    Failed,
}

impl Store {
    /// Leases unleased batches that are due, longest due first.
    pub async fn claim_alerts(
        &self,
        owner: &str,
        now: Timestamp,
        ttl: Duration,
        limit: usize,
    ) -> Result<Vec<Batch>, StoreError> {
        let mut batches = Vec::new();
        for batch in self.due(now, limit).await? {
            let deliveries = self.claim(&batch, owner, now, ttl).await?;
            let Some(first) = deliveries.first() else { continue };
            let to = self.receiver(first).await?;
            batches.push(Batch { to, deliveries });
        }
        Ok(batches)
    }

    async fn receiver(&self, delivery: &Delivery) -> Result<Receiver, StoreError> {
        if let Some(channel) = self.alert_channel(&delivery.channel).await? {
            return Ok(Receiver::Channel(channel));
        }
        let named = Named::Id(&delivery.channel);
        let project = &delivery.alert.project;
        let person = mailable(&mut *self.inner.pool.acquire().await?, named, project).await?;
        Ok(person.map_or(Receiver::Nobody, Receiver::Person))
    }

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<String>, StoreError> {
        let mut values = Values::new("alert", 2);
        values.int(now.0)?.int(limit)?;
        let sql = "SELECT d.batch FROM alert_deliveries d \
                   WHERE d.due_at <= $1 AND (d.lease_until IS NULL OR d.lease_until < $1) \
                   AND (EXISTS (SELECT 1 FROM alert_channels c WHERE c.id = d.channel) \
                   OR EXISTS (SELECT 1 FROM users u WHERE u.id = d.channel)) \
                   GROUP BY d.batch ORDER BY MIN(d.due_at), d.batch LIMIT $2";
        self.all(sql, values, |row: &AnyRow| Ok(Columns::of("alert", row).text()?.to_owned())).await
    }

    /// Leases a batch; of two concurrent servers the second gets nothing.
    async fn claim(
        &self,
        batch: &str,
        owner: &str,
        now: Timestamp,
        ttl: Duration,
    ) -> Result<Vec<Delivery>, StoreError> {
        let mut values = Values::texts("alert", &[batch, owner])?;
        values.int(now.0)?.int(now.plus(ttl).0)?;
        // All transactions lock rows in the same order, to avoid deadlocks.
        let lock = self.backend().pick("", " ORDER BY id FOR NO KEY UPDATE");
        let sql = format!(
            "UPDATE alert_deliveries SET lease_owner = $2, lease_until = $4 WHERE id IN ( \
             SELECT id FROM alert_deliveries WHERE batch = $1 AND due_at <= $3 \
             AND (lease_until IS NULL OR lease_until < $3){lock}) RETURNING {COLUMNS}"
        );
        let mut writer = self.writer().await?;
        let query = sqlx::query_with(AssertSqlSafe(sql), values.arguments);
        let mut claimed = collect(writer.get(), query, read).await?;
        claimed.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(claimed)
    }

    /// Defers messages until a moment, together with others deferred to the same moment in the batch `batch`.
    pub async fn hold_alerts(
        &self,
        owner: &str,
        deliveries: &[Delivery],
        until: Timestamp,
        batch: &str,
    ) -> Result<(), StoreError> {
        self.transact(async |connection| {
            let mut values = Values::texts("alert", &[owner, batch])?;
            values.int(until.0)?;
            let set = "batch = $2, due_at = $3";
            update(connection, deliveries, set, values).await
        })
        .await
    }

    /// Writes the outcome of an attempt. Messages that another server has leased meanwhile, because this one
    /// was too slow, are not changed.
    pub async fn settle_alerts(
        &self,
        owner: &str,
        deliveries: &[Delivery],
        settled: Settled,
        answer: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (state, due, ended) = match settled {
            Settled::Sent => (DeliveryState::Sent, None, Some(now)),
            Settled::Again(at) => (DeliveryState::Waiting, Some(at), None),
            Settled::Failed => (DeliveryState::Failed, None, Some(now)),
        };
        self.transact(async |connection| {
            let mut values = Values::texts("alert", &[owner, state.as_str(), answer])?;
            values.maybe_time(due)?.maybe_time(ended)?;
            let set = "state = $2, answer = $3, due_at = $4, ended_at = $5, tries = tries + 1";
            update(connection, deliveries, set, values).await
        })
        .await
    }
}

/// Updates messages leased by the owner in the first value, and returns them.
async fn update(
    connection: &mut AnyConnection,
    deliveries: &[Delivery],
    set: &str,
    mut values: Values,
) -> Result<(), StoreError> {
    let ids = places(values.len() + 1, deliveries.len());
    for delivery in deliveries {
        values.text(&delivery.id)?;
    }
    let sql = format!(
        "UPDATE alert_deliveries SET {set}, lease_owner = NULL, lease_until = NULL \
         WHERE lease_owner = $1 AND id IN ({ids})"
    );
    execute(connection, AssertSqlSafe(sql), values).await?;
    Ok(())
}
