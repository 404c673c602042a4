//! Clusters added by administrators.

use cubeloom_domain::clusters::ClusterRecord;
use cubeloom_domain::identity::AuditEntry;
use sqlx::any::AnyRow;

use crate::error::StoreError;
use crate::revision::Target;
use crate::values::{Columns, Values};
use crate::{Change, Created, Store, gpu_series, nodes};

impl Store {
    /// Stores a new cluster, at revision 1.
    pub async fn create_cluster(
        &self,
        cluster: &ClusterRecord,
        audit: &AuditEntry,
    ) -> Result<Created, StoreError> {
        let mut values = fields(cluster)?;
        values.int(cluster.created_at.0)?;
        let sql = "INSERT INTO clusters (name, description, settings, sealed, sealed_prometheus, created_at, revision) \
                   VALUES ($1, $2, $3, $4, $5, $6, 1) ON CONFLICT (name) DO NOTHING";
        self.create_named(sql, values, audit).await
    }

    pub async fn cluster(&self, name: &str) -> Result<Option<ClusterRecord>, StoreError> {
        let sql = "SELECT name, description, settings, sealed, sealed_prometheus, created_at, revision FROM clusters \
                   WHERE name = $1";
        self.one(sql, Values::texts("cluster", &[name])?, read).await
    }

    /// All clusters, by name.
    pub async fn clusters(&self) -> Result<Vec<ClusterRecord>, StoreError> {
        let sql = "SELECT name, description, settings, sealed, sealed_prometheus, created_at, revision FROM clusters \
                   ORDER BY name";
        self.all(sql, Values::texts("cluster", &[])?, read).await
    }

    /// Changes the description of a cluster.
    pub async fn update_cluster(
        &self,
        cluster: &ClusterRecord,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        let sql = "UPDATE clusters SET description = $2, settings = $3, sealed = $4, sealed_prometheus = $5, \
                   revision = $6 WHERE name = $1";
        self.change_named(target(&cluster.name, expected), sql, fields(cluster)?, audit).await
    }

    pub async fn delete_cluster(
        &self,
        name: &str,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        let target = target(name, expected);
        self.delete_named_with(target, audit, async |connection| {
            gpu_series::forget(connection, name).await?;
            nodes::forget(connection, name).await
        })
        .await
    }
}

/// The values written by both an insert and an update.
fn fields(cluster: &ClusterRecord) -> Result<Values, StoreError> {
    let mut values = Values::texts("cluster", &[cluster.name.as_str(), cluster.description.as_str()])?;
    values.json(&cluster.settings)?;
    values.maybe_text(cluster.sealed.as_deref())?;
    values.maybe_text(cluster.sealed_prometheus.as_deref())?;
    Ok(values)
}

fn target(name: &str, expected: Option<u64>) -> Target<'_, 1> {
    Target { table: "clusters", key: [("name", name)], expected }
}

fn read(row: &AnyRow) -> Result<ClusterRecord, StoreError> {
    let mut columns = Columns::of("cluster", row);
    Ok(ClusterRecord {
        name: columns.text()?.into(),
        description: columns.text()?.into(),
        settings: columns.json()?,
        sealed: columns.maybe_text()?,
        sealed_prometheus: columns.maybe_text()?,
        created_at: columns.time()?,
        revision: columns.int()?,
    })
}
