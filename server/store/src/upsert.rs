//! Multi-row `INSERT ... ON CONFLICT ... DO UPDATE`, in a few fixed sizes so that each is prepared once.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Arc, OnceLock};

use sqlx::any::AnyRow;
use sqlx::{Any, AnyConnection, AssertSqlSafe, SqlSafeStr, SqlStr};

use crate::backend::Backend;
use crate::error::StoreError;
use crate::values::Values;

/// Rows per statement: 256 rows of the widest table are 4,096 parameters; SQLite accepts 32,766.
const SIZES: [usize; 4] = [256, 32, 4, 1];

/// A table whose rows are upserted by key.
pub(crate) struct Upsert {
    table: &'static str,
    columns: &'static [&'static str],
    keys: usize,
    /// How many of the last columns are added to the stored values instead of replacing them.
    added: usize,
    /// Columns returned for each row.
    returned: Option<&'static str>,
    sqlite: Statements,
    postgres: Statements,
}

type Statements = [OnceLock<SqlStr>; SIZES.len()];

/// A record as a row of its table.
pub(crate) trait Row {
    /// The identity of the row.
    type Key<'a>: Hash + Eq
    where
        Self: 'a;

    /// The key: two rows of one statement must not share it.
    fn key(&self) -> Self::Key<'_>;

    /// Adds its values, in the order of the table's columns.
    fn bind(&self, values: &mut Values) -> Result<(), StoreError>;
}

impl Upsert {
    /// A table whose first `keys` columns are its primary key.
    pub(crate) const fn new(table: &'static str, columns: &'static [&'static str], keys: usize) -> Self {
        Self {
            table,
            columns,
            keys,
            added: 0,
            returned: None,
            sqlite: [const { OnceLock::new() }; SIZES.len()],
            postgres: [const { OnceLock::new() }; SIZES.len()],
        }
    }

    /// The same table, with its last `count` columns added to the stored values.
    pub(crate) const fn adding(mut self, count: usize) -> Self {
        self.added = count;
        self
    }

    /// The same table, returning these columns.
    pub(crate) const fn returning(mut self, columns: &'static str) -> Self {
        self.returned = Some(columns);
        self
    }

    /// Upserts the rows; of rows with the same key the last one counts.
    pub(crate) async fn write<R: Row>(
        &self,
        backend: Backend,
        connection: &mut AnyConnection,
        rows: &[R],
    ) -> Result<Vec<AnyRow>, StoreError> {
        let rows = last_of_each(rows);
        self.write_each(backend, connection, &rows).await
    }

    /// Upserts rows with distinct keys, and returns the returned columns.
    pub(crate) async fn write_each<R: Row>(
        &self,
        backend: Backend,
        connection: &mut AnyConnection,
        rows: &[&R],
    ) -> Result<Vec<AnyRow>, StoreError> {
        let mut returned = Vec::new();
        let mut rest = rows;
        let statements = match backend {
            Backend::Sqlite => &self.sqlite,
            Backend::Postgres => &self.postgres,
        };
        for (size, statement) in SIZES.iter().zip(statements) {
            while rest.len() >= *size {
                let (now, later) = rest.split_at(*size);
                rest = later;
                let sql = statement.get_or_init(|| self.sql(backend, *size)).clone();
                let mut values = Values::new(self.table, size * self.columns.len());
                for row in now {
                    row.bind(&mut values)?;
                }
                let query = sqlx::query_with::<Any, _>(sql, values.arguments);
                match self.returned {
                    Some(_) => returned.extend(query.fetch_all(&mut *connection).await?),
                    None => {
                        query.execute(&mut *connection).await?;
                    }
                }
            }
        }
        Ok(returned)
    }

    fn sql(&self, backend: Backend, rows: usize) -> SqlStr {
        let width = self.columns.len();
        let place = |n: usize| match backend {
            // SQLite searches for each numbered parameter among all others, at quadratic cost.
            Backend::Sqlite => "?".to_owned(),
            Backend::Postgres => format!("${n}"),
        };
        let row = |at: usize| {
            let places: Vec<String> = (1..=width).map(|column| place(at * width + column)).collect();
            format!("({})", places.join(","))
        };
        let values: Vec<String> = (0..rows).map(row).collect();
        let (replaced, added) = self.columns[self.keys..].split_at(width - self.keys - self.added);
        let replaced = replaced.iter().map(|column| format!("{column} = excluded.{column}"));
        let added =
            added.iter().map(|column| format!("{column} = {}.{column} + excluded.{column}", self.table));
        let updates: Vec<String> = replaced.chain(added).collect();
        let returned = self.returned.map_or(String::new(), |columns| format!(" RETURNING {columns}"));
        let sql = format!(
            "INSERT INTO {} ({}) VALUES {} ON CONFLICT ({}) DO UPDATE SET {}{returned}",
            self.table,
            self.columns.join(", "),
            values.join(","),
            self.columns[..self.keys].join(", "),
            updates.join(", "),
        );
        AssertSqlSafe(Arc::<str>::from(sql)).into_sql_str()
    }
}

/// The rows without those that a later row with the same key replaces: PostgreSQL refuses to upsert a row
/// twice.
pub(crate) fn last_of_each<R: Row>(rows: &[R]) -> Vec<&R> {
    let mut seen = HashSet::with_capacity(rows.len());
    let mut kept: Vec<&R> = rows.iter().rev().filter(|row| seen.insert(row.key())).collect();
    kept.reverse();
    kept
}
