//! Task templates: a stored version never changes.

use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::template::{InstalledTemplate, TemplateSet};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};

use crate::error::StoreError;
use crate::query::collect;
use crate::values::{Columns, Values};
use crate::{Store, audit};

/// Whether a version was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// It was new.
    New,
    /// The same version exists.
    Same,
}

impl Store {
    /// Stores a version of a template. Updates the folder of an existing one, as it may have moved.
    ///
    /// # Errors
    /// [`StoreError::TemplateChanged`] if the version exists with different content.
    pub async fn put_template(
        &self,
        installed: &InstalledTemplate,
        now: Timestamp,
    ) -> Result<Stored, StoreError> {
        let mut writer = self.writer().await?;
        let mut transaction = writer.begin(self.backend()).await?;
        let inserted = insert(&mut transaction, installed, now).await?;
        if !inserted {
            keep(&mut transaction, installed).await?;
        }
        transaction.commit().await?;
        writer.ended();
        Ok(if inserted { Stored::New } else { Stored::Same })
    }

    /// Stores a version of a template with an audit entry; does nothing if the same version exists.
    ///
    /// # Errors
    /// [`StoreError::TemplateChanged`] if the version exists with different content.
    pub async fn install_template(
        &self,
        installed: &InstalledTemplate,
        now: Timestamp,
        audit: &AuditEntry,
    ) -> Result<Stored, StoreError> {
        self.transact(async |connection| {
            if insert(connection, installed, now).await? {
                audit::write(connection, audit).await?;
                return Ok(Stored::New);
            }
            same(connection, installed).await?;
            Ok(Stored::Same)
        })
        .await
    }

    /// The number of template versions, which are added and never removed.
    pub async fn count_templates(&self) -> Result<i64, StoreError> {
        let sql = "SELECT COUNT(*) FROM templates";
        let count = self.one(sql, Values::texts("template", &[])?, |row| Ok(row.try_get(0)?)).await?;
        Ok(count.unwrap_or_default())
    }

    /// All versions of all templates.
    pub async fn templates(&self) -> Result<TemplateSet, StoreError> {
        let query = sqlx::query("SELECT template_json, digest, folder FROM templates");
        let mut set = TemplateSet::new();
        for installed in collect(&mut *self.inner.pool.acquire().await?, query, template).await? {
            let versions = set.entry(installed.template.name.clone()).or_default();
            versions.insert(installed.template.version.clone(), installed);
        }
        Ok(set)
    }
}

/// Stores it, unless its version exists.
async fn insert(
    connection: &mut AnyConnection,
    installed: &InstalledTemplate,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let mut values = Values::new("template", 6);
    values.text(&installed.template.name)?.text(&installed.template.version)?.text(&installed.digest)?;
    values.text(&installed.folder)?.json(&installed.template)?.int(now.0)?;
    let done = sqlx::query_with(
        "INSERT INTO templates (name, version, digest, folder, template_json, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (name, version) DO NOTHING",
        values.arguments,
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Checks that the stored version is the same, and updates its folder.
async fn keep(connection: &mut AnyConnection, installed: &InstalledTemplate) -> Result<(), StoreError> {
    let (name, version) = (&installed.template.name, &installed.template.version);
    if same(connection, installed).await? != installed.folder {
        sqlx::query("UPDATE templates SET folder = $1 WHERE name = $2 AND version = $3")
            .bind(installed.folder.clone())
            .bind(name.clone())
            .bind(version.clone())
            .execute(connection)
            .await?;
    }
    Ok(())
}

/// The folder of the stored version, whose content must be the same.
async fn same(connection: &mut AnyConnection, installed: &InstalledTemplate) -> Result<String, StoreError> {
    let (name, version) = (&installed.template.name, &installed.template.version);
    let row = sqlx::query("SELECT digest, folder FROM templates WHERE name = $1 AND version = $2")
        .bind(name.clone())
        .bind(version.clone())
        .fetch_one(connection)
        .await?;
    if row.try_get::<String, _>(0)? != installed.digest {
        return Err(StoreError::TemplateChanged { name: name.clone(), version: version.clone() });
    }
    Ok(row.try_get(1)?)
}

fn template(row: &AnyRow) -> Result<InstalledTemplate, StoreError> {
    let mut columns = Columns::of("template", row);
    Ok(InstalledTemplate {
        template: columns.json()?,
        digest: columns.text()?.into(),
        folder: columns.text()?.into(),
    })
}
