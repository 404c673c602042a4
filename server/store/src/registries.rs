//! Registries of container images that a project uses.

use cubeloom_domain::belongings::Registry;
use cubeloom_domain::identity::AuditEntry;
use sqlx::any::AnyRow;

use crate::error::StoreError;
use crate::revision::Target;
use crate::values::{Columns, Values};
use crate::{Change, Created, Store};

impl Store {
    /// Stores a new registry, at revision 1.
    ///
    /// # Errors
    /// [`StoreError::OwnerGone`] if the project does not exist.
    pub async fn create_registry(
        &self,
        registry: &Registry,
        audit: &AuditEntry,
    ) -> Result<Created, StoreError> {
        let mut values = fields(registry)?;
        values.int(registry.created_at.0)?;
        let sql = "INSERT INTO registries (project, name, host, user_name, secret, created_at, revision) \
                   VALUES ($1, $2, $3, $4, $5, $6, 1) ON CONFLICT (project, name) DO NOTHING";
        self.create_named(sql, values, audit).await
    }

    pub async fn registry(&self, project: &str, name: &str) -> Result<Option<Registry>, StoreError> {
        let sql = "SELECT project, name, host, user_name, secret, created_at, revision FROM registries \
                   WHERE project = $1 AND name = $2";
        self.one(sql, Values::texts("registry", &[project, name])?, read).await
    }

    pub async fn registries(&self, project: &str) -> Result<Vec<Registry>, StoreError> {
        let sql = "SELECT project, name, host, user_name, secret, created_at, revision FROM registries \
                   WHERE project = $1 ORDER BY name";
        self.all(sql, Values::texts("registry", &[project])?, read).await
    }

    /// Updates the host, account and secret of a registry.
    pub async fn update_registry(
        &self,
        registry: &Registry,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        let sql = "UPDATE registries SET host = $3, user_name = $4, secret = $5, revision = $6 \
                   WHERE project = $1 AND name = $2";
        let target = target(&registry.project, &registry.name, expected);
        self.change_named(target, sql, fields(registry)?, audit).await
    }

    pub async fn delete_registry(
        &self,
        project: &str,
        name: &str,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.delete_named(target(project, name, expected), audit).await
    }
}

/// The values written by both an insert and an update.
fn fields(registry: &Registry) -> Result<Values, StoreError> {
    let texts = [&registry.project, &registry.name, &registry.host, &registry.user].map(String::as_str);
    let mut values = Values::texts("registry", &texts)?;
    values.maybe_text(registry.secret.as_deref())?;
    Ok(values)
}

fn target<'t>(project: &'t str, name: &'t str, expected: Option<u64>) -> Target<'t, 2> {
    Target { table: "registries", key: [("project", project), ("name", name)], expected }
}

fn read(row: &AnyRow) -> Result<Registry, StoreError> {
    let mut columns = Columns::of("registry", row);
    Ok(Registry {
        project: columns.text()?.into(),
        name: columns.text()?.into(),
        host: columns.text()?.into(),
        user: columns.text()?.into(),
        secret: columns.maybe_text()?,
        created_at: columns.time()?,
        revision: columns.int()?,
    })
}
