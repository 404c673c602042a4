//! Projects. Everything that belongs to a project is deleted with it.

use cubeloom_domain::Timestamp;
use cubeloom_domain::executor::BoxFuture;
use cubeloom_domain::identity::{AuditEntry, Keeping, Keeps, Places, Project};
use cubeloom_domain::pipeline::SizingMode;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};

use crate::backend::Backend;
use crate::error::StoreError;
use crate::query::execute;
use crate::revision::Target;
use crate::values::{Columns, Values};
use crate::{Change, Created, Store, audit};

impl Store {
    /// Stores a new project, at revision 1.
    ///
    /// # Errors
    /// [`StoreError::NameWasUsed`] if a project of this name existed before.
    pub async fn create_project(&self, project: &Project, audit: &AuditEntry) -> Result<Created, StoreError> {
        self.transact(async |connection| {
            if had_history(connection, &project.name).await? {
                return match hold(self.backend(), connection, &project.name).await? {
                    true => Ok(Created::Exists),
                    false => Err(StoreError::NameWasUsed(project.name.clone())),
                };
            }
            let mut values =
                Values::texts("project", &[&project.name, &project.label, &project.description])?;
            values.int(project.created_at.0)?.json(&project.keeping)?.json(&project.places)?;
            values.text(project.sizing.as_str())?.int(i64::from(project.sizing_chosen))?;
            let rows = execute(
                connection,
                "INSERT INTO projects (name, label, description, created_at, keeping_json, places_json, sizing, \
                 sizing_chosen, revision) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1) ON CONFLICT (name) DO NOTHING",
                values,
            )
            .await?;
            let created = Created::of(rows);
            if created == Created::Yes {
                audit::write(connection, audit).await?;
            }
            Ok(created)
        })
        .await
    }

    /// Completes the project that every new database has: its creation time, and its right-sizing mode. A
    /// completed one stays unchanged.
    pub async fn complete_first_project(&self, now: Timestamp, sizing: SizingMode) -> Result<(), StoreError> {
        let dated = |project: Project| project.created_at.0 > 0;
        if self.project("default").await?.is_none_or(dated) {
            return Ok(());
        }
        self.transact(async |connection| {
            let mut values = Values::texts("project", &[sizing.as_str()])?;
            values.int(now.0)?;
            let sql = "UPDATE projects SET sizing = $1, sizing_chosen = 1, created_at = $2 \
                       WHERE name = 'default' AND created_at = 0";
            execute(connection, sql, values).await.map(|_| ())
        })
        .await
    }

    pub async fn project(&self, name: &str) -> Result<Option<Project>, StoreError> {
        let sql = "SELECT name, label, description, keeping_json, places_json, sizing, sizing_chosen, created_at, revision FROM projects \
                   WHERE name = $1";
        self.one(sql, Values::texts("project", &[name])?, read).await
    }

    /// All projects, or those of a member, by name.
    pub async fn projects(&self, of_user: Option<&str>) -> Result<Vec<Project>, StoreError> {
        let Some(user) = of_user else {
            let sql = "SELECT name, label, description, keeping_json, places_json, sizing, sizing_chosen, created_at, revision FROM projects \
                       ORDER BY name";
            return self.all(sql, Values::new("project", 0), read).await;
        };
        let sql = "SELECT p.name, p.label, p.description, p.keeping_json, p.places_json, p.sizing, p.sizing_chosen, p.created_at, \
                   p.revision FROM projects p JOIN members m ON m.project = p.name WHERE m.user_id = $1 ORDER BY p.name";
        self.all(sql, Values::texts("project", &[user])?, read).await
    }

    /// Changes a project's label, description, retention and allowed clusters.
    pub async fn update_project(
        &self,
        project: &Project,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.transact(async |connection| {
            let change = target(&project.name, expected).take(self.backend(), connection).await?;
            let Change::Done(revision) = change else { return Ok(change) };
            let mut values =
                Values::texts("project", &[&project.name, &project.label, &project.description])?;
            values.json(&project.keeping)?.json(&project.places)?.text(project.sizing.as_str())?;
            values.int(i64::from(project.sizing_chosen))?.int(revision)?;
            let sql = "UPDATE projects SET label = $2, description = $3, keeping_json = $4, places_json = $5, \
                       sizing = $6, sizing_chosen = $7, revision = $8 WHERE name = $1";
            execute(connection, sql, values).await?;
            audit::write(connection, audit).await?;
            Ok(change)
        })
        .await
    }

    /// Deletes a project, with its members, secrets, volumes, registries, hooks, quotas, schedules and alert
    /// channels. Revokes tokens restricted to it, and its invitations. Its history (ended runs, versions)
    /// stays.
    ///
    /// # Errors
    /// [`StoreError::ProjectInUse`] while it has pipelines, or runs that have not ended.
    pub async fn delete_project(
        &self,
        name: &str,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.transact(async |connection| {
            let change = target(name, expected).take(self.backend(), connection).await?;
            if !matches!(change, Change::Done(_)) {
                return Ok(change);
            }
            refuse_in_use(connection, name).await?;
            let mut values = Values::texts("token", &[name])?;
            values.int(audit.at.0)?;
            let sql = "UPDATE api_tokens SET revoked_at = $2 WHERE project = $1 AND revoked_at IS NULL";
            execute(connection, sql, values).await?;
            for sql in OF_PROJECT {
                execute(connection, *sql, Values::texts("project", &[name])?).await?;
            }
            audit::write(connection, audit).await?;
            Ok(change)
        })
        .await
    }
}

impl Keeps for Store {
    fn of_run<'a>(&'a self, run: &'a str) -> BoxFuture<'a, Result<Keeping, String>> {
        Box::pin(async move {
            let sql =
                "SELECT p.keeping_json FROM projects p JOIN runs r ON r.project = p.name WHERE r.id = $1";
            let read = |row: &AnyRow| Columns::of("project", row).json();
            let found = self.one(sql, Values::texts("run", &[run]).map_err(text)?, read).await;
            found.map(Option::unwrap_or_default).map_err(text)
        })
    }
}

fn text(error: StoreError) -> String {
    error.to_string()
}

/// The rows deleted with a project, the project itself last.
const OF_PROJECT: &[&str] = &[
    "DELETE FROM members WHERE project = $1",
    "DELETE FROM budgets WHERE project = $1",
    "DELETE FROM lengths WHERE project = $1",
    "DELETE FROM sizes WHERE project = $1",
    "DELETE FROM size_changes WHERE project = $1",
    "DELETE FROM size_reverts WHERE project = $1",
    "DELETE FROM model_versions WHERE project = $1",
    "DELETE FROM models WHERE project = $1",
    "DELETE FROM secrets WHERE owner_kind = 'project' AND owner = $1",
    "DELETE FROM volumes WHERE project = $1",
    "DELETE FROM registries WHERE project = $1",
    "DELETE FROM hooks WHERE project = $1",
    "DELETE FROM quota_marks WHERE project = $1",
    "DELETE FROM queues WHERE kind = 'project' AND name = $1",
    "DELETE FROM schedules WHERE project = $1",
    "DELETE FROM firings WHERE project = $1",
    "DELETE FROM backfills WHERE project = $1",
    "DELETE FROM alert_deliveries WHERE project = $1",
    "DELETE FROM alert_channels WHERE project = $1",
    "DELETE FROM links WHERE project = $1 AND used_at IS NULL",
    "DELETE FROM device_codes WHERE project = $1",
    "DELETE FROM projects WHERE name = $1",
];

async fn refuse_in_use(connection: &mut AnyConnection, name: &str) -> Result<(), StoreError> {
    let runs = "SELECT COUNT(*) FROM runs WHERE project = $1 AND live = 1";
    let pipelines = "SELECT COUNT(*) FROM pipelines WHERE project = $1 AND deleted = 0";
    let mut counts = [0_u64; 2];
    for (sql, count) in [runs, pipelines].into_iter().zip(&mut counts) {
        let values = Values::texts("project", &[name])?;
        let row = sqlx::query_with(sql, values.arguments).fetch_one(&mut *connection).await?;
        *count = u64::try_from(row.try_get::<i64, _>(0)?).unwrap_or(0);
    }
    match counts {
        [0, 0] => Ok(()),
        [runs, pipelines] => Err(StoreError::ProjectInUse { name: name.into(), runs, pipelines }),
    }
}

/// Whether a project of this name exists or has left history behind: its runs, versions and audit entries
/// would appear as those of a new one.
async fn had_history(connection: &mut AnyConnection, name: &str) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM audit WHERE project = $1 UNION ALL SELECT 1 FROM runs WHERE project = $1 \
               UNION ALL SELECT 1 FROM pipeline_versions WHERE project = $1 LIMIT 1";
    let values = Values::texts("project", &[name])?;
    Ok(sqlx::query_with(sql, values.arguments).fetch_optional(connection).await?.is_some())
}

/// Whether the project exists; it cannot be deleted until the transaction ends.
pub(crate) async fn hold(
    backend: Backend,
    connection: &mut AnyConnection,
    name: &str,
) -> Result<bool, StoreError> {
    let sql = backend.pick(
        "SELECT name FROM projects WHERE name = $1",
        "SELECT name FROM projects WHERE name = $1 FOR KEY SHARE",
    );
    let values = Values::texts("project", &[name])?;
    Ok(sqlx::query_with(sql, values.arguments).fetch_optional(connection).await?.is_some())
}

fn target<'t>(name: &'t str, expected: Option<u64>) -> Target<'t, 1> {
    Target { table: "projects", key: [("name", name)], expected }
}

/// The allowed clusters of a project; `None` if the project does not exist.
pub(crate) async fn places(
    connection: &mut AnyConnection,
    project: &str,
) -> Result<Option<Places>, StoreError> {
    let values = Values::texts("project", &[project])?;
    let sql = "SELECT places_json FROM projects WHERE name = $1";
    let row = sqlx::query_with(sql, values.arguments).fetch_optional(connection).await?;
    row.map(|row| Columns::of("project", &row).json()).transpose()
}

fn read(row: &AnyRow) -> Result<Project, StoreError> {
    let mut columns = Columns::of("project", row);
    Ok(Project {
        name: columns.text()?.into(),
        label: columns.text()?.into(),
        description: columns.text()?.into(),
        keeping: columns.json()?,
        places: columns.json()?,
        sizing: columns.word()?,
        sizing_chosen: columns.int::<i64>()? != 0,
        created_at: columns.time()?,
        revision: columns.int()?,
    })
}
