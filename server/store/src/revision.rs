//! Optimistic locking: a change based on an older revision is rejected.

use sqlx::{AnyConnection, AssertSqlSafe};

use crate::backend::Backend;
use crate::error::StoreError;
use crate::values::{Columns, Values};

/// The outcome of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Done; the new revision.
    Done(u64),
    /// Rejected: another user has changed it; its current revision.
    Stale(u64),
    /// It does not exist.
    Missing,
}

/// Whether a named row was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    Yes,
    /// The name exists; nothing was done.
    Exists,
}

impl Created {
    /// From the number of rows that `INSERT ... ON CONFLICT DO NOTHING` wrote.
    pub(crate) fn of(rows: u64) -> Self {
        if rows == 0 { Self::Exists } else { Self::Yes }
    }
}

/// The row to change.
pub(crate) struct Target<'t, const KEYS: usize> {
    /// Its table, which has a column `revision`.
    pub table: &'static str,
    /// Its key: columns and values.
    pub key: [(&'static str, &'t str); KEYS],
    /// The revision that the change is based on; `None` for any.
    pub expected: Option<u64>,
}

impl<const KEYS: usize> Target<'_, KEYS> {
    /// The text after `WHERE` for the row, and its values.
    pub(crate) fn conditions(&self) -> Result<(String, Values), StoreError> {
        let mut values = Values::new(self.table, KEYS);
        let mut conditions = Vec::new();
        for (n, (column, value)) in self.key.iter().enumerate() {
            conditions.push(format!("{column} = ${}", n + 1));
            values.text(value)?;
        }
        Ok((conditions.join(" AND "), values))
    }

    /// Locks the row until the transaction ends, and compares revisions. `Done` has the new revision, which
    /// the caller writes.
    pub(crate) async fn take(
        &self,
        backend: Backend,
        connection: &mut AnyConnection,
    ) -> Result<Change, StoreError> {
        let (conditions, values) = self.conditions()?;
        let hold = backend.pick("", " FOR UPDATE");
        let sql = format!("SELECT revision FROM {} WHERE {conditions}{hold}", self.table);
        let row = sqlx::query_with(AssertSqlSafe(sql), values.arguments).fetch_optional(connection).await?;
        let Some(row) = row else { return Ok(Change::Missing) };
        let present: u64 = Columns::of(self.table, &row).int()?;
        match self.expected {
            Some(expected) if expected != present => Ok(Change::Stale(present)),
            _ => Ok(Change::Done(present + 1)),
        }
    }
}
