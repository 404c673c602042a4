//! Leases: a run is led by one server at a time, until its lease expires.

use std::time::Duration;

use cubeloom_domain::{RunId, Timestamp};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::error::StoreError;
use crate::query::{collect, lists, places};
use crate::values::Columns;
use crate::{Store, listen};

/// The committer: the server's name, unique among the servers of one database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The owner, as passed to [`Store::acquire`].
    pub owner: String,
}

impl Store {
    /// Leases up to `limit` unleased runs that need work (not final, or with a pending command), oldest
    /// first.
    pub async fn acquire(
        &self,
        owner: &str,
        now: Timestamp,
        ttl: Duration,
        limit: usize,
    ) -> Result<Vec<RunId>, StoreError> {
        let sql = self.backend().pick(
            "UPDATE runs SET lease_owner = $1, lease_until = $2 WHERE id IN (
                SELECT id FROM runs WHERE id IN (
                    SELECT id FROM runs WHERE live = 1 UNION SELECT run_id FROM wishes WHERE handled = 0
                ) AND (lease_owner IS NULL OR lease_until < $3) ORDER BY id LIMIT $4
            ) RETURNING id",
            "UPDATE runs SET lease_owner = $1, lease_until = $2 WHERE id IN (
                SELECT id FROM runs WHERE id IN (
                    SELECT id FROM runs WHERE live = 1 UNION SELECT run_id FROM wishes WHERE handled = 0
                ) AND (lease_owner IS NULL OR lease_until < $3) ORDER BY id LIMIT $4
                FOR NO KEY UPDATE SKIP LOCKED
            ) RETURNING id",
        );
        let query = sqlx::query(sql)
            .bind(owner.to_owned())
            .bind(now.plus(ttl).0)
            .bind(now.0)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX));
        collect(self.writer().await?.get(), query, run_id).await
    }

    /// Renews the leases of `owner`, and returns their runs.
    pub async fn renew(&self, owner: &str, now: Timestamp, ttl: Duration) -> Result<Vec<RunId>, StoreError> {
        // All transactions lock rows in the same order, to avoid deadlocks.
        let sql = self.backend().pick(
            "UPDATE runs SET lease_until = $1 WHERE lease_owner = $2 RETURNING id",
            "UPDATE runs SET lease_until = $1 WHERE id IN (
                SELECT id FROM runs WHERE lease_owner = $2 ORDER BY id FOR NO KEY UPDATE
            ) RETURNING id",
        );
        let query = sqlx::query(sql).bind(now.plus(ttl).0).bind(owner.to_owned());
        collect(self.writer().await?.get(), query, run_id).await
    }

    /// The runs that `owner` leads.
    pub async fn led_by(&self, owner: &str) -> Result<Vec<RunId>, StoreError> {
        let query = sqlx::query("SELECT id FROM runs WHERE lease_owner = $1").bind(owner.to_owned());
        collect(&mut *self.inner.pool.acquire().await?, query, run_id).await
    }

    /// Releases the leases of these runs. Release a run that has ended and has no pending commands, because
    /// [`Store::renew`] keeps all leases.
    pub async fn release(&self, owner: &str, runs: &[RunId]) -> Result<(), StoreError> {
        let ids: Vec<&str> = runs.iter().map(RunId::as_str).collect();
        let mut writer = self.writer().await?;
        for list in lists(&ids) {
            let sql = format!(
                "UPDATE runs SET lease_owner = NULL, lease_until = NULL WHERE lease_owner = $1 AND id IN ({})",
                places(2, list.len())
            );
            let mut query = sqlx::query(AssertSqlSafe(sql)).bind(owner.to_owned());
            for id in list {
                query = query.bind(id.to_owned());
            }
            query.execute(writer.get()).await?;
        }
        Ok(())
    }

    /// Releases all leases of `owner`, so that another server need not wait for their expiry.
    pub async fn release_all(&self, owner: &str) -> Result<(), StoreError> {
        let mut writer = self.writer().await?;
        sqlx::query("UPDATE runs SET lease_owner = NULL, lease_until = NULL WHERE lease_owner = $1")
            .bind(owner.to_owned())
            .execute(writer.get())
            .await?;
        listen::notify(self.backend(), writer.get()).await?;
        drop(writer);
        self.wake();
        Ok(())
    }

    /// Fails with the first of `runs` that `lease` does not cover. On PostgreSQL the leases cannot change
    /// until the transaction ends.
    pub(crate) async fn confirm(
        &self,
        connection: &mut AnyConnection,
        lease: &Lease,
        runs: &[&str],
    ) -> Result<(), StoreError> {
        let lock = self.backend().pick("", " ORDER BY id FOR NO KEY UPDATE");
        for list in lists(runs) {
            let sql = format!(
                "SELECT id FROM runs WHERE lease_owner = $1 AND id IN ({}){lock}",
                places(2, list.len())
            );
            let mut query = sqlx::query(AssertSqlSafe(sql)).bind(lease.owner.clone());
            for id in &list {
                query = query.bind((*id).to_owned());
            }
            let held = collect(connection, query, run_id).await?;
            if let Some(lost) = list.iter().find(|id| !held.iter().any(|held| held.as_str() == **id)) {
                return Err(StoreError::LeaseLost(lost.parse().map_err(|_| StoreError::Unstorable {
                    what: "run",
                    reason: format!("`{lost}` is not a run's id"),
                })?));
            }
        }
        Ok(())
    }
}

/// Reads a run's id from a row.
pub(crate) fn run_id(row: &AnyRow) -> Result<RunId, StoreError> {
    Columns::of("run", row).parsed()
}
