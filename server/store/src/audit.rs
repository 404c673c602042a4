//! The audit log, written in the transaction of the audited change.

use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::AuditEntry;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::Store;
use crate::conditions::Conditions;
use crate::error::StoreError;
use crate::query::execute;
use crate::values::{Columns, Values};

/// Selects entries; the default is the newest.
#[derive(Clone, Debug)]
pub struct AuditFilter {
    /// Only entries about this project.
    pub project: Option<String>,
    /// Only entries by the user with this name.
    pub user: Option<String>,
    /// Only actions that begin with this: `pipeline.` or `pipeline.update`.
    pub action: Option<String>,
    /// Only entries about the object with this name or ID.
    pub subject: Option<String>,
    /// Only entries about objects whose name or ID contains this text, ignoring case.
    pub text: Option<String>,
    /// Only entries at or after this time.
    pub since: Option<Timestamp>,
    /// Only entries before this time.
    pub until: Option<Timestamp>,
    /// Only entries older than the one of this id, for the next page.
    pub before: Option<String>,
    /// At most this many.
    pub limit: usize,
}

impl Default for AuditFilter {
    fn default() -> Self {
        Self {
            project: None,
            user: None,
            action: None,
            subject: None,
            text: None,
            since: None,
            until: None,
            before: None,
            limit: 100,
        }
    }
}

impl Store {
    /// Records a change made outside of the database.
    pub async fn audit(&self, entry: &AuditEntry) -> Result<(), StoreError> {
        self.transact(async |connection| write(connection, entry).await).await
    }

    /// Entries of the log, newest first.
    pub async fn audit_log(&self, filter: &AuditFilter) -> Result<Vec<AuditEntry>, StoreError> {
        let mut wanted = Conditions::new("audit entry");
        wanted.text("project =", filter.project.as_deref())?;
        wanted.text("user_name =", filter.user.as_deref())?;
        wanted.begins("action", filter.action.as_deref())?;
        wanted.text("subject =", filter.subject.as_deref())?;
        wanted.contains(&["subject"], filter.text.as_deref())?;
        wanted.int("at >=", filter.since.map(|time| time.0))?;
        wanted.int("at <", filter.until.map(|time| time.0))?;
        wanted.text("id <", filter.before.as_deref())?;
        let (wanted, limit, values) = wanted.limited(filter.limit)?;
        let sql = format!("SELECT {ENTRY_COLUMNS} FROM audit WHERE {wanted} ORDER BY id DESC LIMIT {limit}");
        self.all(AssertSqlSafe(sql), values, entry).await
    }
}

/// Writes an entry in the transaction of the audited change.
pub(crate) async fn write(connection: &mut AnyConnection, entry: &AuditEntry) -> Result<(), StoreError> {
    let mut values = Values::new("audit entry", 11);
    values.text(&entry.id)?.int(entry.at.0)?.maybe_text(entry.user_id.as_deref())?;
    values.text(&entry.user_name)?.text(&entry.via)?.text(&entry.address)?;
    values.maybe_text(entry.project.as_deref())?.text(&entry.action)?.text(&entry.subject)?;
    values.maybe_json(entry.before.as_ref())?.maybe_json(entry.after.as_ref())?;
    execute(
        connection,
        "INSERT INTO audit (id, at, user_id, user_name, via, address, project, action, subject, before_json, \
         after_json) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        values,
    )
    .await?;
    Ok(())
}

/// The columns of [`entry`].
pub(crate) const ENTRY_COLUMNS: &str =
    "id, at, user_id, user_name, via, address, project, action, subject, before_json, after_json";

/// An entry, from [`ENTRY_COLUMNS`].
pub(crate) fn entry(row: &AnyRow) -> Result<AuditEntry, StoreError> {
    let mut columns = Columns::of("audit entry", row);
    Ok(AuditEntry {
        id: columns.text()?.into(),
        at: columns.time()?,
        user_id: columns.maybe_text()?,
        user_name: columns.text()?.into(),
        via: columns.text()?.into(),
        address: columns.text()?.into(),
        project: columns.maybe_text()?,
        action: columns.text()?.into(),
        subject: columns.text()?.into(),
        before: columns.maybe_json()?,
        after: columns.maybe_json()?,
    })
}
