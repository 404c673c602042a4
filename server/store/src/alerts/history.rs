//! The history of alert messages.

use cubeloom_domain::Timestamp;
use cubeloom_domain::alert::Delivery;
use cubeloom_domain::identity::AuditEntry;
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use super::raise::insert;
use crate::conditions::Conditions;
use crate::error::StoreError;
use crate::query::execute;
use crate::values::{Columns, Values};
use crate::{Store, audit};

pub(super) const COLUMNS: &str = "id, channel, alert_json, batch, state, due_at, tries, ended_at, answer";

impl Store {
    /// The messages of a project, or of one of its channels, newest first; `before` starts the next page.
    /// Messages to users have the user's id as their channel.
    pub async fn alert_deliveries(
        &self,
        project: &str,
        channel: Option<&str>,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Delivery>, StoreError> {
        let mut wanted = Conditions::new("alert");
        wanted.text("project =", Some(project))?;
        wanted.text("channel =", channel)?;
        wanted.text("id <", before)?;
        let (wanted, limit, values) = wanted.limited(limit)?;
        let sql =
            format!("SELECT {COLUMNS} FROM alert_deliveries WHERE {wanted} ORDER BY id DESC LIMIT {limit}");
        self.all(AssertSqlSafe(sql), values, read).await
    }

    /// Records a test message that a user sent to try a channel.
    pub async fn note_alert(&self, delivery: &Delivery, audit: &AuditEntry) -> Result<(), StoreError> {
        self.transact(async |connection| {
            insert(connection, delivery).await?;
            audit::write(connection, audit).await
        })
        .await
    }

    /// Deletes messages that ended before a moment, and those of deleted channels: one may have been written
    /// while its channel was deleted. Mails to users stay for their retention.
    pub async fn delete_old_alerts(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.transact(async |connection| {
            let mut values = Values::new("alert", 1);
            values.int(before.0)?;
            let sql = "DELETE FROM alert_deliveries WHERE ended_at < $1 \
                       OR (channel NOT IN (SELECT id FROM alert_channels) AND channel NOT IN (SELECT id FROM users))";
            execute(connection, sql, values).await
        })
        .await
    }
}

pub(super) fn read(row: &AnyRow) -> Result<Delivery, StoreError> {
    let mut columns = Columns::of("alert", row);
    Ok(Delivery {
        id: columns.text()?.into(),
        channel: columns.text()?.into(),
        alert: columns.json()?,
        batch: columns.text()?.into(),
        state: columns.word()?,
        due_at: columns.maybe_time()?,
        tries: columns.int()?,
        ended_at: columns.maybe_time()?,
        answer: columns.maybe_text()?,
    })
}
