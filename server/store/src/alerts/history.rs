//! What became of messages.

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
    /// The messages of a project, or of one of its channels, the newest first; only those before one, for the next page. Those
    /// of a person have their id for a channel.
    ///
    /// # Errors
    /// When the database refuses.
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

    /// Notes a message that was sent by hand, to try a channel.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn note_alert(&self, delivery: &Delivery, audit: &AuditEntry) -> Result<(), StoreError> {
        self.transact(async |connection| {
            insert(connection, delivery).await?;
            audit::write(connection, audit).await
        })
        .await
    }

    /// Forgets messages that ended before a moment, and those of channels that are gone: one may have been written while
    /// its channel was deleted. Mails to people stay for their time.
    ///
    /// # Errors
    /// When the database refuses.
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
