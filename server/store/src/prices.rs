//! Prices of node pools. A price change updates the cost of past usage in the same transaction.

use std::collections::BTreeSet;

use cubeloom_domain::accounting::{Day, Money, Price, PriceList, Rates};
use cubeloom_domain::identity::AuditEntry;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::backend::Backend;
use crate::error::StoreError;
use crate::query::{collect, execute, lists, places};
use crate::revision::Target;
use crate::usage::{DayRow, REPLACED, day_row, rows_of};
use crate::values::{Columns, Values};
use crate::{Change, Store, audit};

const COLUMNS: &str = "id, cluster, node_group, valid_from, cpu, memory, gpu, user_name, revision";

impl Store {
    /// All prices, by node pool, newest first: the history is included.
    pub async fn prices(&self) -> Result<Vec<Price>, StoreError> {
        all(&mut *self.inner.pool.acquire().await?).await
    }

    pub async fn price(&self, id: &str) -> Result<Option<Price>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM prices WHERE id = $1");
        self.one(AssertSqlSafe(sql), Values::texts("price", &[id])?, read).await
    }

    /// Stores a new price, at revision 1.
    ///
    /// # Errors
    /// [`StoreError::PriceExists`].
    pub async fn create_price(&self, price: &Price, audit: &AuditEntry) -> Result<(), StoreError> {
        self.transact(async |connection| {
            let before = self.before(connection, &price.cluster).await?;
            let sql = format!(
                "INSERT INTO prices ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1) \
                 ON CONFLICT (cluster, node_group, valid_from) DO NOTHING"
            );
            let mut values = Values::texts("price", &[&price.id, &price.cluster, &price.node_group])?;
            values.int(price.from.0)?;
            values.int(price.rates.cpu.0)?.int(price.rates.memory.0)?.int(price.rates.gpu.0)?;
            values.text(&price.user)?;
            if execute(connection, AssertSqlSafe(sql), values).await? == 0 {
                return Err(StoreError::PriceExists(price.from));
            }
            self.recost(connection, &price.cluster, price.from, &before).await?;
            audit::write(connection, audit).await
        })
        .await
    }

    /// Changes the cost per hour; the node pool and the first day stay.
    pub async fn update_price(
        &self,
        price: &Price,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.transact(async |connection| {
            let before = self.before(connection, &price.cluster).await?;
            let change = target(&price.id, expected).take(self.backend(), connection).await?;
            let Change::Done(revision) = change else { return Ok(change) };
            let mut values = Values::texts("price", &[&price.id, &price.user])?;
            values.int(price.rates.cpu.0)?.int(price.rates.memory.0)?.int(price.rates.gpu.0)?;
            values.int(revision)?;
            let sql = "UPDATE prices SET user_name = $2, cpu = $3, memory = $4, gpu = $5, revision = $6 \
                       WHERE id = $1";
            execute(connection, sql, values).await?;
            self.recost(connection, &price.cluster, price.from, &before).await?;
            audit::write(connection, audit).await?;
            Ok(change)
        })
        .await
    }

    /// Deletes a price: the previous one is valid again.
    pub async fn delete_price(
        &self,
        price: &Price,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.transact(async |connection| {
            let before = self.before(connection, &price.cluster).await?;
            let change = target(&price.id, expected).take(self.backend(), connection).await?;
            if matches!(change, Change::Done(_)) {
                let values = Values::texts("price", &[&price.id])?;
                execute(connection, "DELETE FROM prices WHERE id = $1", values).await?;
                self.recost(connection, &price.cluster, price.from, &before).await?;
                audit::write(connection, audit).await?;
            }
            Ok(change)
        })
        .await
    }

    /// The prices of a cluster. Locks usage and prices until the transaction ends.
    async fn before(&self, connection: &mut AnyConnection, cluster: &str) -> Result<PriceList, StoreError> {
        if self.backend() == Backend::Postgres {
            sqlx::query("SELECT pg_advisory_xact_lock(4891470238)").execute(&mut *connection).await?;
        }
        of_clusters(connection, &BTreeSet::from([cluster])).await
    }

    /// Updates the cost of usage since a day, where it has changed.
    async fn recost(
        &self,
        connection: &mut AnyConnection,
        cluster: &str,
        since: Day,
        before: &PriceList,
    ) -> Result<(), StoreError> {
        let now = of_clusters(connection, &BTreeSet::from([cluster])).await?;
        let mut values = Values::texts("usage", &[cluster])?;
        values.int(since.0)?;
        let sql = rows_of("WHERE cluster = $1 AND day >= $2");
        let query = sqlx::query_with(AssertSqlSafe(sql), values.arguments);
        let mut rows: Vec<DayRow> = collect(connection, query, day_row).await?;
        let rates =
            |list: &PriceList, row: &DayRow| list.at(&row.line.cluster, &row.line.node_group, row.line.day);
        rows.retain(|row| rates(before, row) != rates(&now, row));
        for row in &mut rows {
            row.figures.cost = rates(&now, row).cost_of(&row.figures);
            row.figures = row.figures.bounded();
        }
        REPLACED.write(self.backend(), connection, &rows).await?;
        Ok(())
    }
}

/// Locks all prices until the transaction ends; SQLite has a single writer anyway.
pub(crate) async fn hold(backend: Backend, connection: &mut AnyConnection) -> Result<(), StoreError> {
    if backend == Backend::Postgres {
        sqlx::query("SELECT pg_advisory_xact_lock_shared(4891470238)").execute(connection).await?;
    }
    Ok(())
}

pub(crate) async fn all(connection: &mut AnyConnection) -> Result<Vec<Price>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM prices ORDER BY cluster, node_group, valid_from DESC");
    collect(connection, sqlx::query(AssertSqlSafe(sql)), read).await
}

pub(crate) async fn of_clusters(
    connection: &mut AnyConnection,
    clusters: &BTreeSet<&str>,
) -> Result<PriceList, StoreError> {
    let clusters: Vec<&str> = clusters.iter().copied().collect();
    let mut found = Vec::new();
    for list in lists(&clusters) {
        let sql = format!("SELECT {COLUMNS} FROM prices WHERE cluster IN ({})", places(1, list.len()));
        let values = Values::texts("price", &list)?;
        let query = sqlx::query_with(AssertSqlSafe(sql), values.arguments);
        found.extend(collect(connection, query, read).await?);
    }
    Ok(found.into_iter().collect())
}

fn target(id: &str, expected: Option<u64>) -> Target<'_, 1> {
    Target { table: "prices", key: [("id", id)], expected }
}

fn read(row: &AnyRow) -> Result<Price, StoreError> {
    let mut columns = Columns::of("price", row);
    Ok(Price {
        id: columns.text()?.into(),
        cluster: columns.text()?.into(),
        node_group: columns.text()?.into(),
        from: Day(columns.int()?),
        rates: Rates {
            cpu: Money(columns.int()?),
            memory: Money(columns.int()?),
            gpu: Money(columns.int()?),
        },
        user: columns.text()?.into(),
        revision: columns.int()?,
    })
}
