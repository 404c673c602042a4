//! Limits that tasks name, and what was started with them.

use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::limit::Limit;
use cubeloom_domain::{AttemptKey, Timestamp};
use sqlx::any::AnyRow;

use crate::error::StoreError;
use crate::query::execute;
use crate::revision::Target;
use crate::values::{Columns, Values};
use crate::{Change, Store, audit, listen};

/// An attempt that was started with limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitedStart {
    /// Attempt.
    pub attempt: AttemptKey,
    /// Time.
    pub at: Timestamp,
    /// The limits' names.
    pub limits: Vec<String>,
}

impl Store {
    /// The limits that there are, by name.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn limits(&self) -> Result<Vec<Limit>, StoreError> {
        let sql = "SELECT name, at_once, a_minute, description, revision FROM limits ORDER BY name";
        self.all(sql, Values::new("limit", 0), read).await
    }

    /// Returns a limit.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn limit(&self, name: &str) -> Result<Option<Limit>, StoreError> {
        let sql = "SELECT name, at_once, a_minute, description, revision FROM limits WHERE name = $1";
        self.one(sql, Values::texts("limit", &[name])?, read).await
    }

    /// Sets a limit; its revision is given here. `expected` is 0 for one that must not be there yet.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn put_limit(
        &self,
        limit: &Limit,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        let change = self
            .transact(async |connection| {
                let mut change = target(&limit.name, expected).take(self.backend(), connection).await?;
                let is_new = change == Change::Missing;
                if is_new {
                    change = if expected.unwrap_or(0) == 0 { Change::Done(1) } else { Change::Stale(0) };
                }
                let Change::Done(revision) = change else { return Ok(change) };
                let mut values = Values::texts("limit", &[&limit.name])?;
                values.maybe_int(limit.at_once)?.maybe_int(limit.a_minute)?;
                values.maybe_text(limit.description.as_deref())?.int(revision)?;
                let sql = if is_new {
                    "INSERT INTO limits (name, at_once, a_minute, description, revision) \
                     VALUES ($1, $2, $3, $4, $5) ON CONFLICT (name) DO NOTHING"
                } else {
                    "UPDATE limits SET at_once = $2, a_minute = $3, description = $4, revision = $5 \
                     WHERE name = $1"
                };
                if execute(connection, sql, values).await? == 0 {
                    // Somebody else made it at the same moment.
                    return Ok(Change::Stale(1));
                }
                audit::write(connection, audit).await?;
                listen::notify(self.backend(), connection).await?;
                Ok(change)
            })
            .await?;
        self.wake_if_done(change);
        Ok(change)
    }

    /// Deletes a limit: tasks that name it are held back by nothing.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn delete_limit(
        &self,
        name: &str,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        let change = self
            .transact(async |connection| {
                let change = target(name, expected).take(self.backend(), connection).await?;
                if matches!(change, Change::Done(_)) {
                    let values = Values::texts("limit", &[name])?;
                    execute(connection, "DELETE FROM limits WHERE name = $1", values).await?;
                    audit::write(connection, audit).await?;
                    listen::notify(self.backend(), connection).await?;
                }
                Ok(change)
            })
            .await?;
        self.wake_if_done(change);
        Ok(change)
    }

    /// The attempts with limits that were started after a moment, on any cluster and by any server.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn limited_starts(&self, after: Timestamp) -> Result<Vec<LimitedStart>, StoreError> {
        let sql = "SELECT run_id, task_name, instance, n, created_at, limits_json FROM attempts \
                   WHERE limits_json IS NOT NULL AND created_at > $1 ORDER BY created_at";
        let mut values = Values::new("attempt", 1);
        values.int(after.0)?;
        self.all(sql, values, start).await
    }

    /// What waits for the limit may start now.
    fn wake_if_done(&self, change: Change) {
        if matches!(change, Change::Done(_)) {
            self.wake();
        }
    }
}

fn target(name: &str, expected: Option<u64>) -> Target<'_, 1> {
    Target { table: "limits", key: [("name", name)], expected }
}

fn read(row: &AnyRow) -> Result<Limit, StoreError> {
    let mut columns = Columns::of("limit", row);
    Ok(Limit {
        name: columns.text()?.into(),
        at_once: columns.maybe_int()?,
        a_minute: columns.maybe_int()?,
        description: columns.maybe_text()?,
        revision: columns.int()?,
    })
}

fn start(row: &AnyRow) -> Result<LimitedStart, StoreError> {
    let mut columns = Columns::of("attempt", row);
    let (run, task) = (columns.parsed()?, columns.text()?.into());
    Ok(LimitedStart {
        attempt: AttemptKey { run, task, instance: columns.int()?, n: columns.int()? },
        at: columns.time()?,
        limits: columns.json()?,
    })
}
