//! Multi-row `INSERT ... ON CONFLICT ... DO UPDATE`, in a few fixed sizes so that each is prepared once.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Arc, OnceLock};

use sqlx::{Any, AnyConnection, AssertSqlSafe, SqlSafeStr, SqlStr};

use crate::backend::Backend;
use crate::error::StoreError;
use crate::values::Values;

/// Rows a statement: 256 rows of the widest table are 4,096 parameters, SQLite takes 32,766.
const SIZES: [usize; 4] = [256, 32, 4, 1];

/// A table that rows are written to by key.
pub(crate) struct Upsert {
    table: &'static str,
    columns: &'static [&'static str],
    keys: usize,
    sqlite: Statements,
    postgres: Statements,
}

type Statements = [OnceLock<SqlStr>; SIZES.len()];

/// A record as a row of its table.
pub(crate) trait Row {
    /// What identifies the row.
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
            sqlite: [const { OnceLock::new() }; SIZES.len()],
            postgres: [const { OnceLock::new() }; SIZES.len()],
        }
    }

    /// Writes the rows; of rows with the same key the last one counts.
    pub(crate) async fn write<R: Row>(
        &self,
        backend: Backend,
        connection: &mut AnyConnection,
        rows: &[R],
    ) -> Result<(), StoreError> {
        let rows = last_of_each(rows);
        let mut rest = rows.as_slice();
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
                sqlx::query_with::<Any, _>(sql, values.arguments).execute(&mut *connection).await?;
            }
        }
        Ok(())
    }

    fn sql(&self, backend: Backend, rows: usize) -> SqlStr {
        let width = self.columns.len();
        let place = |n: usize| match backend {
            // SQLite looks for each number among all the others, which costs the square of their count.
            Backend::Sqlite => "?".to_owned(),
            Backend::Postgres => format!("${n}"),
        };
        let row = |at: usize| {
            let places: Vec<String> = (1..=width).map(|column| place(at * width + column)).collect();
            format!("({})", places.join(","))
        };
        let values: Vec<String> = (0..rows).map(row).collect();
        let updates: Vec<String> =
            self.columns[self.keys..].iter().map(|column| format!("{column} = excluded.{column}")).collect();
        let sql = format!(
            "INSERT INTO {} ({}) VALUES {} ON CONFLICT ({}) DO UPDATE SET {}",
            self.table,
            self.columns.join(", "),
            values.join(","),
            self.columns[..self.keys].join(", "),
            updates.join(", "),
        );
        AssertSqlSafe(Arc::<str>::from(sql)).into_sql_str()
    }
}

/// The rows without those that a later one of the same key replaces: PostgreSQL refuses to write a row twice.
fn last_of_each<R: Row>(rows: &[R]) -> Vec<&R> {
    let mut seen = HashSet::with_capacity(rows.len());
    let mut kept: Vec<&R> = rows.iter().rev().filter(|row| seen.insert(row.key())).collect();
    kept.reverse();
    kept
}
