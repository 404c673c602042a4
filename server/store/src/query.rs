//! Query helpers.

use futures::TryStreamExt;
use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, SqlSafeStr};

use crate::Store;
use crate::error::StoreError;
use crate::values::Values;

impl Store {
    /// The only row of a query, read by `read`.
    pub(crate) async fn one<T>(
        &self,
        sql: impl SqlSafeStr,
        values: Values,
        read: impl Fn(&AnyRow) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let row = sqlx::query_with(sql, values.arguments).fetch_optional(&self.inner.pool).await?;
        row.as_ref().map(read).transpose()
    }

    /// The rows of a query, read by `read`.
    pub(crate) async fn all<T>(
        &self,
        sql: impl SqlSafeStr,
        values: Values,
        read: impl Fn(&AnyRow) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut connection = self.inner.pool.acquire().await?;
        collect(&mut connection, sqlx::query_with(sql, values.arguments), read).await
    }
}

/// Runs a statement, and returns the number of changed rows.
pub(crate) async fn execute(
    connection: &mut AnyConnection,
    sql: impl SqlSafeStr,
    values: Values,
) -> Result<u64, StoreError> {
    Ok(sqlx::query_with(sql, values.arguments).execute(connection).await?.rows_affected())
}

/// The rows of a query, converted as they arrive: a driver's row is far larger than our record.
pub(crate) async fn collect<T>(
    connection: &mut AnyConnection,
    query: Query<'_, Any, AnyArguments>,
    read: impl Fn(&AnyRow) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut found = Vec::new();
    let mut rows = query.fetch(connection);
    while let Some(row) = rows.try_next().await? {
        found.push(read(&row)?);
    }
    Ok(found)
}

/// These columns of a table with an alias.
pub(crate) fn of_table(name: &str, columns: &str) -> String {
    let columns: Vec<String> = columns.split(',').map(|column| format!("{name}.{}", column.trim())).collect();
    columns.join(", ")
}

/// `$first,$first+1,...`: placeholders for `count` parameters.
pub(crate) fn places(first: usize, count: usize) -> String {
    let places: Vec<String> = (first..first + count).map(|n| format!("${n}")).collect();
    places.join(",")
}

/// Lists for `IN (...)` have one of a few lengths, so that each statement is prepared once.
const LENGTHS: [usize; 4] = [1, 8, 64, 512];

/// The values in lists of a few fixed lengths; the last value fills up its list.
pub(crate) fn lists<'v, T: ?Sized>(values: &[&'v T]) -> Vec<Vec<&'v T>> {
    let mut lists = Vec::new();
    let mut rest = values;
    while let Some(last) = rest.last() {
        let fits = LENGTHS.into_iter().find(|length| *length >= rest.len());
        let length = fits.unwrap_or(LENGTHS[LENGTHS.len() - 1]);
        let (now, later) = rest.split_at(length.min(rest.len()));
        let mut list = now.to_vec();
        list.resize(length, *last);
        lists.push(list);
        rest = later;
    }
    lists
}
