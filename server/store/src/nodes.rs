//! Cordoned nodes, and the attempts that failed because of their nodes.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::nodes::{NodeAside, NodeFailure, NodeName};
use cubeloom_domain::record::AttemptRecord;
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use crate::error::StoreError;
use crate::query::execute;
use crate::values::{Columns, Values};
use crate::{Created, Store, alerts, audit, listen};

/// Retention of failures: longer than any rule looks back.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

impl Store {
    /// The node failures since a moment, oldest first.
    pub async fn node_failures(&self, since: Timestamp) -> Result<Vec<NodeFailure>, StoreError> {
        let sql = "SELECT cluster, node, attempt, began_at, failed_at, message, sure FROM node_failures WHERE failed_at >= $1 \
                   ORDER BY failed_at, attempt";
        let mut values = Values::new("node failure", 1);
        values.int(since.0)?;
        self.all(sql, values, failure).await
    }

    /// The cordoned nodes, by cluster and name.
    pub async fn nodes_aside(&self) -> Result<Vec<NodeAside>, StoreError> {
        let sql = "SELECT cluster, node, since, why_json FROM nodes_aside ORDER BY cluster, node";
        self.all(sql, Values::new("node", 0), aside).await
    }

    /// Cordons a node, and alerts the projects that may use its cluster. A cordoned node keeps its first
    /// reason.
    pub async fn set_node_aside(
        &self,
        aside: &NodeAside,
        audit: Option<&AuditEntry>,
    ) -> Result<Created, StoreError> {
        let created = self
            .transact(async |connection| {
                let mut values = of(&aside.of)?;
                values.int(aside.since.0)?.json(&aside.why)?;
                let sql = "INSERT INTO nodes_aside (cluster, node, since, why_json) VALUES ($1, $2, $3, $4) \
                           ON CONFLICT (cluster, node) DO NOTHING";
                let created = Created::of(execute(connection, sql, values).await?);
                if created == Created::Yes {
                    alerts::node_aside(connection, aside).await?;
                    if let Some(audit) = audit {
                        audit::write(connection, audit).await?;
                    }
                    listen::notify(self.backend(), connection).await?;
                }
                Ok(created)
            })
            .await?;
        if created == Created::Yes {
            self.wake();
        }
        Ok(created)
    }

    /// Uncordons a node; its earlier failures no longer count. Returns false if it was not cordoned.
    pub async fn take_node_back(&self, name: &NodeName, audit: &AuditEntry) -> Result<bool, StoreError> {
        let taken = self
            .transact(async |connection| {
                let sql = "DELETE FROM nodes_aside WHERE cluster = $1 AND node = $2";
                if execute(connection, sql, of(name)?).await? == 0 {
                    return Ok(false);
                }
                let sql = "DELETE FROM node_failures WHERE cluster = $1 AND node = $2";
                execute(connection, sql, of(name)?).await?;
                audit::write(connection, audit).await?;
                listen::notify(self.backend(), connection).await?;
                Ok(true)
            })
            .await?;
        if taken {
            self.wake();
        }
        Ok(taken)
    }
}

/// Records the written attempts that failed because of their nodes.
pub(crate) async fn note_failures(
    connection: &mut AnyConnection,
    attempts: &[AttemptRecord],
) -> Result<(), StoreError> {
    let failures: Vec<NodeFailure> = attempts.iter().filter_map(NodeFailure::of).collect();
    let Some(last) = failures.iter().map(|failure| failure.at).max() else { return Ok(()) };
    let mut values = Values::new("node failure", 1);
    values.int(last.minus(KEPT).0)?;
    execute(connection, "DELETE FROM node_failures WHERE failed_at < $1", values).await?;
    for failure in failures {
        let mut values = of(&failure.of)?;
        values.text(&failure.attempt.to_string())?.int(failure.began.0)?.int(failure.at.0)?;
        values.text(&failure.message)?.flag(failure.sure)?;
        let sql = "INSERT INTO node_failures (cluster, node, attempt, began_at, failed_at, message, sure) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (attempt) DO NOTHING";
        execute(connection, sql, values).await?;
    }
    Ok(())
}

/// Deletes the nodes of a removed cluster.
pub(crate) async fn forget(connection: &mut AnyConnection, cluster: &str) -> Result<(), StoreError> {
    for sql in [
        "DELETE FROM nodes_aside WHERE cluster = $1",
        "DELETE FROM node_failures WHERE cluster = $1",
        "DELETE FROM preflight_norms WHERE cluster = $1",
    ] {
        execute(connection, sql, Values::texts("cluster", &[cluster])?).await?;
    }
    Ok(())
}

fn of(name: &NodeName) -> Result<Values, StoreError> {
    Values::texts("node", &[&name.cluster, &name.node])
}

fn name(columns: &mut Columns<'_>) -> Result<NodeName, StoreError> {
    Ok(NodeName { cluster: columns.text()?.to_owned(), node: columns.text()?.to_owned() })
}

fn failure(row: &AnyRow) -> Result<NodeFailure, StoreError> {
    let mut columns = Columns::of("node failure", row);
    Ok(NodeFailure {
        of: name(&mut columns)?,
        attempt: columns.parsed()?,
        began: columns.time()?,
        at: columns.time()?,
        message: columns.text()?.to_owned(),
        sure: columns.flag()?,
    })
}

fn aside(row: &AnyRow) -> Result<NodeAside, StoreError> {
    let mut columns = Columns::of("node", row);
    Ok(NodeAside { of: name(&mut columns)?, since: columns.time()?, why: columns.json()? })
}
