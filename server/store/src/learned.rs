//! Tables of what is learned of attempts when they end: one JSON value, the last column, under a key of texts. So nobody reads
//! attempts to know it.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::backend::Backend;
use crate::error::StoreError;
use crate::query::collect;
use crate::upsert::{Row, Upsert};
use crate::values::{Columns, Values};

/// Such a table, whose first columns are the key.
pub(crate) struct Learned<const KEYS: usize> {
    table: &'static str,
    columns: &'static [&'static str],
    upsert: Upsert,
}

/// A row of one.
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
    /// The columns are the key's, and the value.
    pub(crate) const fn new(table: &'static str, columns: &'static [&'static str]) -> Self {
        assert!(columns.len() == KEYS + 1);
        Self { table, columns, upsert: Upsert::new(table, columns, KEYS) }
    }

    /// What a row has, which no other server changes until the transaction has ended.
    pub(crate) async fn known<T: DeserializeOwned + Default>(
        &self,
        backend: Backend,
        connection: &mut AnyConnection,
        key: &[String; KEYS],
    ) -> Result<T, StoreError> {
        let (value, table, hold) = (self.columns[KEYS], self.table, backend.pick("", " FOR UPDATE"));
        let keys = self.columns[..KEYS].iter().zip(1..);
        let is_it: Vec<String> = keys.map(|(column, n)| format!("{column} = ${n}")).collect();
        let sql = format!("SELECT {value} FROM {table} WHERE {}{hold}", is_it.join(" AND "));
        let values = Values::texts(self.table, &key.each_ref().map(String::as_str))?;
        let read = |row: &AnyRow| Columns::of(self.table, row).json::<T>();
        let query = sqlx::query_with(AssertSqlSafe(sql), values.arguments);
        Ok(collect(connection, query, read).await?.pop().unwrap_or_default())
    }

    /// Writes rows. In order of their keys: two servers that write the same ones wait for each other, and never both.
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
