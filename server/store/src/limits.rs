//! Concurrency limits, and the attempts started under them.

use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::limit::Limit;
use cubeloom_domain::{AttemptKey, Timestamp};
use sqlx::any::AnyRow;

use crate::defined::Defined;
use crate::error::StoreError;
use crate::values::{Columns, Values};
use crate::{Change, Store};

/// An attempt started under limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitedStart {
    pub attempt: AttemptKey,
    pub at: Timestamp,
    pub limits: Vec<String>,
}

impl Defined for Limit {
    const WHAT: &'static str = "limit";
    const TABLE: &'static str = "limits";
    const COLUMNS: &'static [&'static str] = &["at_once", "a_minute", "description"];

    fn name(&self) -> &str {
        &self.name
    }

    fn write(&self, values: &mut Values) -> Result<(), StoreError> {
        values.maybe_int(self.at_once)?.maybe_int(self.a_minute)?;
        values.maybe_text(self.description.as_deref())?;
        Ok(())
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            name: columns.text()?.into(),
            at_once: columns.maybe_int()?,
            a_minute: columns.maybe_int()?,
            description: columns.maybe_text()?,
            revision: columns.int()?,
        })
    }
}

impl Store {
    /// All limits, by name.
    pub async fn limits(&self) -> Result<Vec<Limit>, StoreError> {
        self.all_defined().await
    }

    pub async fn limit(&self, name: &str) -> Result<Option<Limit>, StoreError> {
        self.defined(name).await
    }

    /// Sets a limit and assigns its revision. `expected` is 0 for one that must not exist yet.
    pub async fn put_limit(
        &self,
        limit: &Limit,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        let change = self.define(limit, expected, audit).await?;
        self.wake_if_done(change);
        Ok(change)
    }

    /// Deletes a limit: it no longer limits tasks that refer to it.
    pub async fn delete_limit(
        &self,
        name: &str,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        let change = self.undefine::<Limit>(name, expected, audit).await?;
        self.wake_if_done(change);
        Ok(change)
    }

    /// The attempts with limits started after a moment, on any cluster and by any server.
    pub async fn limited_starts(&self, after: Timestamp) -> Result<Vec<LimitedStart>, StoreError> {
        let sql = "SELECT run_id, task_name, instance, n, created_at, limits_json FROM attempts \
                   WHERE limits_json IS NOT NULL AND created_at > $1 ORDER BY created_at";
        let mut values = Values::new("attempt", 1);
        values.int(after.0)?;
        self.all(sql, values, start).await
    }

    /// Tasks pending on the limit may start now.
    fn wake_if_done(&self, change: Change) {
        if matches!(change, Change::Done(_)) {
            self.wake();
        }
    }
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
