//! Tables of history learned from ended attempts: one JSON value, the last column, under a key of texts.
//! Reads of the history need not read attempts.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::backend::Backend;
use crate::error::StoreError;
use crate::query::{collect, lists, places};
use crate::upsert::{Row, Upsert};
use crate::values::{Columns, Values};

/// Such a table; its first columns are the key.
pub(crate) struct Learned<const KEYS: usize> {
    table: &'static str,
    columns: &'static [&'static str],
    upsert: Upsert,
}

/// A row of such a table.
pub(crate) struct LearnedRow<const KEYS: usize, T> {
    pub(crate) key: [String; KEYS],
    pub(crate) value: T,
}

impl<const KEYS: usize, T: Serialize> Row for LearnedRow<KEYS, T> {
    type Key<'a>
        = &'a [String; KEYS]
    where
        Self: 'a;

    fn key(&self) -> &[String; KEYS] {
        &self.key
    }

    fn bind(&self, values: &mut Values) -> Result<(), StoreError> {
        for part in &self.key {
            values.text(part)?;
        }
        values.json(&self.value)?;
        Ok(())
    }
}

impl<const KEYS: usize> Learned<KEYS> {
    /// `columns` are the key's columns and the value's.
    pub(crate) const fn new(table: &'static str, columns: &'static [&'static str]) -> Self {
        assert!(columns.len() == KEYS + 1);
        Self { table, columns, upsert: Upsert::new(table, columns, KEYS) }
    }

    /// The values of these keys; other servers cannot change them until the transaction ends.
    pub(crate) async fn known<T: DeserializeOwned>(
        &self,
        backend: Backend,
        connection: &mut AnyConnection,
        keys: &[&[String; KEYS]],
    ) -> Result<HashMap<[String; KEYS], T>, StoreError> {
        let mut found = HashMap::with_capacity(keys.len());
        for list in lists(keys) {
            let mut values = Values::new(self.table, list.len() * KEYS);
            for part in list.iter().flat_map(|key| key.iter()) {
                values.text(part)?;
            }
            let query = sqlx::query_with(AssertSqlSafe(self.select(backend, list.len())), values.arguments);
            let read = |row: &AnyRow| {
                let mut columns = Columns::of(self.table, row);
                let mut key = [const { String::new() }; KEYS];
                for part in &mut key {
                    *part = columns.text()?.to_owned();
                }
                Ok((key, columns.json::<T>()?))
            };
            found.extend(collect(connection, query, read).await?);
        }
        Ok(found)
    }

    /// Reads the rows of a number of keys. SQLite looks up each key of a list in the index only if the list
    /// comes first. PostgreSQL locks the rows in the byte order of their keys, in which Rust sorts keys. So
    /// two servers that lock the same rows never deadlock.
    fn select(&self, backend: Backend, keys: usize) -> String {
        let (table, key) = (self.table, &self.columns[..KEYS]);
        let row = |at: usize| match backend {
            Backend::Sqlite => vec!["?"; KEYS].join(","),
            Backend::Postgres => places(at * KEYS + 1, KEYS),
        };
        let each = |form: &dyn Fn(&str) -> String, between: &str| {
            key.iter().map(|column| form(column)).collect::<Vec<_>>().join(between)
        };
        let wanted = (0..keys).map(|at| format!("({})", row(at))).collect::<Vec<_>>().join(",");
        let order = each(&|column| format!("{table}.{column} COLLATE \"C\""), ", ");
        let hold = match backend {
            Backend::Sqlite => String::new(),
            Backend::Postgres => format!(" ORDER BY {order} FOR UPDATE OF {table}"),
        };
        format!(
            "WITH wanted ({}) AS (VALUES {wanted}) SELECT {}, {} FROM wanted CROSS JOIN {table} WHERE {}{hold}",
            key.join(", "),
            each(&|column| format!("{table}.{column}"), ", "),
            self.columns[KEYS],
            each(&|column| format!("{table}.{column} = wanted.{column}"), " AND "),
        )
    }

    /// Appends values to the lists of these keys, and keeps the last `kept`.
    pub(crate) async fn append<T: Serialize + DeserializeOwned>(
        &self,
        backend: Backend,
        connection: &mut AnyConnection,
        new: BTreeMap<[String; KEYS], Vec<T>>,
        kept: usize,
    ) -> Result<(), StoreError> {
        // If there are at least `kept` new values, the stored ones do not matter.
        let extended: Vec<_> =
            new.iter().filter(|(_, added)| added.len() < kept).map(|(key, _)| key).collect();
        let mut known: HashMap<_, Vec<T>> = self.known(backend, connection, &extended).await?;
        let mut rows = Vec::with_capacity(new.len());
        for (key, added) in new {
            let mut value = known.remove(&key).unwrap_or_default();
            value.extend(added);
            value.drain(..value.len().saturating_sub(kept));
            rows.push(LearnedRow { key, value });
        }
        self.write(backend, connection, &rows).await
    }

    /// Writes rows in the order of their keys, so that two servers that write the same ones never deadlock.
    pub(crate) async fn write<T: Serialize>(
        &self,
        backend: Backend,
        connection: &mut AnyConnection,
        rows: &[LearnedRow<KEYS, T>],
    ) -> Result<(), StoreError> {
        self.upsert.write(backend, connection, rows).await?;
        Ok(())
    }
}
