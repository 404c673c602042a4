//! Volumes of projects: storage for their tasks.

use cubeloom_domain::belongings::{Volume, VolumePlace};
use cubeloom_domain::identity::AuditEntry;
use sqlx::any::AnyRow;

use crate::error::StoreError;
use crate::revision::Target;
use crate::values::{Columns, Values};
use crate::{Change, Created, Store};

impl Store {
    /// Stores a new volume, at revision 1.
    ///
    /// # Errors
    /// [`StoreError::OwnerGone`] if the project does not exist.
    pub async fn create_volume(&self, volume: &Volume, audit: &AuditEntry) -> Result<Created, StoreError> {
        let mut values = fields(volume)?;
        values.int(volume.created_at.0)?;
        let sql = "INSERT INTO volumes (project, name, kind, description, config_json, created_at, revision) \
                   VALUES ($1, $2, $3, $4, $5, $6, 1) ON CONFLICT (project, name) DO NOTHING";
        self.create_named(sql, values, audit).await
    }

    pub async fn volume(&self, project: &str, name: &str) -> Result<Option<Volume>, StoreError> {
        let sql = "SELECT project, name, description, config_json, created_at, revision FROM volumes \
                   WHERE project = $1 AND name = $2";
        self.one(sql, Values::texts("volume", &[project, name])?, read).await
    }

    /// The volumes of a project, by name.
    pub async fn volumes(&self, project: &str) -> Result<Vec<Volume>, StoreError> {
        let sql = "SELECT project, name, description, config_json, created_at, revision FROM volumes \
                   WHERE project = $1 ORDER BY name";
        self.all(sql, Values::texts("volume", &[project])?, read).await
    }

    /// Changes a volume's description and location.
    pub async fn update_volume(
        &self,
        volume: &Volume,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        let sql = "UPDATE volumes SET kind = $3, description = $4, config_json = $5, revision = $6 \
                   WHERE project = $1 AND name = $2";
        let target = target(&volume.project, &volume.name, expected);
        self.change_named(target, sql, fields(volume)?, audit).await
    }

    /// Deletes a volume; its content stays.
    pub async fn delete_volume(
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
fn fields(volume: &Volume) -> Result<Values, StoreError> {
    let texts = [&volume.project, &volume.name, kind(&volume.place), &volume.description];
    let mut values = Values::texts("volume", &texts)?;
    values.json(&volume.place)?;
    Ok(values)
}

fn target<'t>(project: &'t str, name: &'t str, expected: Option<u64>) -> Target<'t, 2> {
    Target { table: "volumes", key: [("project", project), ("name", name)], expected }
}

/// The word for a location, for people who read the database.
fn kind(place: &VolumePlace) -> &'static str {
    match place {
        VolumePlace::Workspace { .. } => "workspace",
        VolumePlace::Folder { .. } => "folder",
        VolumePlace::Claim { .. } => "claim",
        VolumePlace::ObjectStore { .. } => "object_store",
    }
}

fn read(row: &AnyRow) -> Result<Volume, StoreError> {
    let mut columns = Columns::of("volume", row);
    Ok(Volume {
        project: columns.text()?.into(),
        name: columns.text()?.into(),
        description: columns.text()?.into(),
        place: columns.json()?,
        created_at: columns.time()?,
        revision: columns.int()?,
    })
}
