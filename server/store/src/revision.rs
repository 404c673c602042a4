//! Changes that two people may make at once: whoever saw an older revision is told, and changes nothing.

use sqlx::{AnyConnection, AssertSqlSafe};

use crate::backend::Backend;
use crate::error::StoreError;
use crate::values::{Columns, Values};

/// What came of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was made; this is the revision now.
    Done(u64),
    /// Somebody else had changed it; this is its revision. Nothing was done.
    Stale(u64),
    /// There is no such thing. Nothing was done.
    Missing,
}

/// Whether something that has a name was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// It was.
    Yes,
    /// One of this name was there; nothing was done.
    Exists,
}

impl Created {
    /// By the rows that `INSERT ... ON CONFLICT DO NOTHING` wrote.
    pub(crate) fn of(rows: u64) -> Self {
        if rows == 0 { Self::Exists } else { Self::Yes }
    }
}

/// A row that is to be changed.
pub(crate) struct Target<'t, const KEYS: usize> {
    /// Its table, which has a column `revision`.
    pub table: &'static str,
    /// Its key: columns and values.
    pub key: [(&'static str, &'t str); KEYS],
    /// The revision that the change was made from; none for any.
    pub expected: Option<u64>,
}

impl<const KEYS: usize> Target<'_, KEYS> {
    /// What follows `WHERE` for the row, and its values.
    pub(crate) fn conditions(&self) -> Result<(String, Values), StoreError> {
        let mut values = Values::new(self.table, KEYS);
        let mut conditions = Vec::new();
        for (n, (column, value)) in self.key.iter().enumerate() {
            conditions.push(format!("{column} = ${}", n + 1));
            values.text(value)?;
        }
        Ok((conditions.join(" AND "), values))
    }

    /// Holds the row until the transaction ends, and compares revisions. `Done` carries the revision that the
    /// change leads to; the caller writes it.
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
