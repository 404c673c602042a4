//! Alert channels.

use cubeloom_domain::alert::Channel;
use cubeloom_domain::identity::AuditEntry;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::conditions::Conditions;
use crate::error::StoreError;
use crate::query::{collect, execute};
use crate::revision::Target;
use crate::values::{Columns, Values};
use crate::{Change, Store, audit, projects};

const COLUMNS: &str = "id, project, name, kind, shown, address, secret, rules_json, enabled, created_by, \
                       created_at, revision";

impl Store {
    /// Stores a new channel, at revision 1.
    ///
    /// # Errors
    /// [`StoreError::NoSuchProject`].
    pub async fn create_alert_channel(
        &self,
        channel: &Channel,
        audit: &AuditEntry,
    ) -> Result<(), StoreError> {
        self.transact(async |connection| {
            if !projects::hold(self.backend(), connection, &channel.project).await? {
                return Err(StoreError::NoSuchProject(channel.project.clone()));
            }
            let mut values = Values::texts("alert channel", &[&channel.id])?;
            bind(channel, &mut values)?;
            values.text(&channel.project)?.text(&channel.created_by)?.int(channel.created_at.0)?;
            let sql = "INSERT INTO alert_channels (id, name, kind, shown, address, secret, rules_json, enabled, \
                       project, created_by, created_at, revision) \
                       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 1)";
            execute(connection, sql, values).await?;
            audit::write(connection, audit).await
        })
        .await
    }

    pub async fn alert_channel(&self, id: &str) -> Result<Option<Channel>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM alert_channels WHERE id = $1");
        self.one(AssertSqlSafe(sql), Values::texts("alert channel", &[id])?, read).await
    }

    /// The channels of a project, oldest first.
    pub async fn alert_channels(&self, project: &str) -> Result<Vec<Channel>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM alert_channels WHERE project = $1 ORDER BY id");
        self.all(AssertSqlSafe(sql), Values::texts("alert channel", &[project])?, read).await
    }

    pub async fn update_alert_channel(
        &self,
        channel: &Channel,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        let mut values = Values::texts("alert channel", &[&channel.id])?;
        bind(channel, &mut values)?;
        let sql = "UPDATE alert_channels SET name = $2, kind = $3, shown = $4, address = $5, secret = $6, \
                   rules_json = $7, enabled = $8, revision = $9 WHERE id = $1";
        self.change_named(target(&channel.id, expected), sql, values, audit).await
    }

    /// Deletes a channel, with its messages.
    pub async fn delete_alert_channel(
        &self,
        id: &str,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.transact(async |connection| {
            let change = target(id, expected).take(self.backend(), connection).await?;
            if matches!(change, Change::Done(_)) {
                for sql in [
                    "DELETE FROM alert_deliveries WHERE channel = $1",
                    "DELETE FROM alert_channels WHERE id = $1",
                ] {
                    execute(connection, sql, Values::texts("alert channel", &[id])?).await?;
                }
                audit::write(connection, audit).await?;
            }
            Ok(change)
        })
        .await
    }
}

/// The enabled channels of one project or of all. An unreadable one is skipped and logged: it must not
/// prevent a run from ending.
pub(crate) async fn listening(
    connection: &mut AnyConnection,
    project: Option<&str>,
) -> Result<Vec<Channel>, StoreError> {
    let only = project.map_or("", |_| " AND project = $1");
    let sql = format!("SELECT {COLUMNS} FROM alert_channels WHERE enabled = 1{only} ORDER BY id");
    let values = Values::texts("alert channel", project.as_slice())?;
    let query = sqlx::query_with(AssertSqlSafe(sql), values.arguments);
    let found = collect(connection, query, |row| match read(row) {
        Err(error @ StoreError::Unreadable { .. }) => {
            tracing::warn!(%error, "an alert channel cannot be read, and is skipped");
            Ok(None)
        }
        other => other.map(Some),
    });
    Ok(found.await?.into_iter().flatten().collect())
}

/// Restricts to the runs that a channel reports, as in `Rules::want`; `runs` is the alias of their table in
/// the statement.
pub(super) fn only_its_runs(
    wanted: &mut Conditions,
    channel: &Channel,
    runs: &str,
) -> Result<(), StoreError> {
    wanted.text(&format!("{runs}.project ="), Some(&channel.project))?;
    let pipelines: Vec<&str> = channel.rules.pipelines.iter().map(String::as_str).collect();
    if pipelines.is_empty() {
        wanted.fixed(&format!("{runs}.parent IS NULL"));
        return Ok(());
    }
    wanted.any_of(&format!("{runs}.pipeline"), &pipelines)
}

/// Binds a channel's mutable fields.
fn bind(channel: &Channel, values: &mut Values) -> Result<(), StoreError> {
    values.text(&channel.name)?.text(channel.kind.as_str())?.text(&channel.shown)?;
    values.text(&channel.address)?.maybe_text(channel.secret.as_deref())?;
    values.json(&channel.rules)?.flag(channel.enabled)?;
    Ok(())
}

fn target(id: &str, expected: Option<u64>) -> Target<'_, 1> {
    Target { table: "alert_channels", key: [("id", id)], expected }
}

fn read(row: &AnyRow) -> Result<Channel, StoreError> {
    let mut columns = Columns::of("alert channel", row);
    Ok(Channel {
        id: columns.text()?.into(),
        project: columns.text()?.into(),
        name: columns.text()?.into(),
        kind: columns.word()?,
        shown: columns.text()?.into(),
        address: columns.text()?.into(),
        secret: columns.maybe_text()?,
        rules: columns.json()?,
        enabled: columns.flag()?,
        created_by: columns.text()?.into(),
        created_at: columns.time()?,
        revision: columns.int()?,
    })
}
