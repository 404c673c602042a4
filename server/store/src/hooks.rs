//! Webhook URLs that start a pipeline.

use cubeloom_domain::Timestamp;
use cubeloom_domain::belongings::Hook;
use cubeloom_domain::identity::AuditEntry;
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::conditions::Conditions;
use crate::error::StoreError;
use crate::query::execute;
use crate::revision::Target;
use crate::values::{Columns, Values};
use crate::{Change, Store, audit};

const COLUMNS: &str =
    "id, project, pipeline, name, parameters_json, created_by, created_at, used_at, revision";

/// Maximum number of hooks in one list.
const LISTED: usize = 1_000;

impl Store {
    /// Stores a new hook, at revision 1.
    ///
    /// # Errors
    /// [`StoreError::OwnerGone`] if the project does not exist.
    pub async fn create_hook(&self, hook: &Hook, audit: &AuditEntry) -> Result<(), StoreError> {
        self.transact(async |connection| {
            let mut values = Values::texts("hook", &[&hook.id, &hook.project, &hook.pipeline, &hook.name])?;
            values.json(&hook.parameters)?.text(&hook.created_by)?.int(hook.created_at.0)?;
            let sql = "INSERT INTO hooks (id, project, pipeline, name, parameters_json, created_by, created_at, \
                       revision) VALUES ($1, $2, $3, $4, $5, $6, $7, 1)";
            execute(connection, sql, values).await?;
            audit::write(connection, audit).await
        })
        .await
    }

    pub async fn hook(&self, id: &str) -> Result<Option<Hook>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM hooks WHERE id = $1");
        self.one(AssertSqlSafe(sql), Values::texts("hook", &[id])?, read).await
    }

    /// The hooks of a project or of one of its pipelines, oldest first.
    pub async fn hooks(&self, project: &str, pipeline: Option<&str>) -> Result<Vec<Hook>, StoreError> {
        let mut wanted = Conditions::new("hook");
        wanted.text("project =", Some(project))?;
        wanted.text("pipeline =", pipeline)?;
        let (wanted, limit, values) = wanted.limited(LISTED)?;
        let sql = format!("SELECT {COLUMNS} FROM hooks WHERE {wanted} ORDER BY id LIMIT {limit}");
        self.all(AssertSqlSafe(sql), values, read).await
    }

    /// Changes a hook's name and parameters. Its URL changes with its revision: the old one becomes invalid.
    pub async fn update_hook(
        &self,
        hook: &Hook,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.transact(async |connection| {
            let change = target(&hook.id, expected).take(self.backend(), connection).await?;
            let Change::Done(revision) = change else { return Ok(change) };
            let mut values = Values::texts("hook", &[&hook.id, &hook.name])?;
            values.json(&hook.parameters)?.int(revision)?;
            let sql = "UPDATE hooks SET name = $2, parameters_json = $3, revision = $4 WHERE id = $1";
            execute(connection, sql, values).await?;
            audit::write(connection, audit).await?;
            Ok(change)
        })
        .await
    }

    /// Records the use of a hook.
    pub async fn hook_used(&self, id: &str, at: Timestamp) -> Result<(), StoreError> {
        let mut values = Values::texts("hook", &[id])?;
        values.int(at.0)?;
        execute(self.writer().await?.get(), "UPDATE hooks SET used_at = $2 WHERE id = $1", values).await?;
        Ok(())
    }

    pub async fn delete_hook(
        &self,
        id: &str,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.transact(async |connection| {
            let change = target(id, expected).take(self.backend(), connection).await?;
            if matches!(change, Change::Done(_)) {
                execute(connection, "DELETE FROM hooks WHERE id = $1", Values::texts("hook", &[id])?).await?;
                audit::write(connection, audit).await?;
            }
            Ok(change)
        })
        .await
    }
}

fn target(id: &str, expected: Option<u64>) -> Target<'_, 1> {
    Target { table: "hooks", key: [("id", id)], expected }
}

fn read(row: &AnyRow) -> Result<Hook, StoreError> {
    let mut columns = Columns::of("hook", row);
    Ok(Hook {
        id: columns.text()?.into(),
        project: columns.text()?.into(),
        pipeline: columns.text()?.into(),
        name: columns.text()?.into(),
        parameters: columns.json()?,
        created_by: columns.text()?.into(),
        created_at: columns.time()?,
        used_at: columns.maybe_time()?,
        revision: columns.int()?,
    })
}
