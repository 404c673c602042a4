//! Versions of a pipeline: a stored version never changes. The number of the newest is the pipeline's revision.

use std::collections::BTreeSet;

use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::{JsonMap, Timestamp};
use serde_json::Value;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::conditions::Conditions;
use crate::error::StoreError;
use crate::query::execute;
use crate::values::{Columns, Values};
use crate::{Change, Store, audit, listen, projects};

/// A new version of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewVersion {
    pub project: String,
    pub name: String,
    /// The document as written.
    pub document: String,
    /// SHA-256 of its content, computed by the caller.
    pub digest: String,
    /// Digest of the associated code folder.
    pub code: Option<String>,
    /// The author's message for the change.
    pub message: String,
    /// The pipeline's description, as in the document.
    pub description: String,
    /// The pipeline's labels, as in the document.
    pub labels: JsonMap,
    /// The author.
    pub user: String,
    pub now: Timestamp,
}

/// The state that the change is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Any state.
    Any,
    New,
    /// This version is the newest.
    Version(u32),
}

/// The outcome of storing a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutPipeline {
    /// Stored as this version.
    Stored(u32),
    /// The newest version has the same content; nothing was stored.
    Same(u32),
    /// Another version is the newest; nothing was stored.
    Stale(u32),
    /// The pipeline exists, and none was expected; nothing was stored.
    Exists,
    /// The project does not exist, or the expected pipeline; nothing was stored.
    Missing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineVersion {
    /// Version number, starting at 1.
    pub version: u32,
    /// The document as written.
    pub document: String,
    /// SHA-256 of its content, computed by the caller that stored it.
    pub digest: String,
    /// Digest of the associated code folder.
    pub code: Option<String>,
    /// The author's message for the change.
    pub message: String,
    /// The author.
    pub user: String,
    pub created_at: Timestamp,
}

const COLUMNS: &str = "v.version, v.document, v.digest, v.code, v.message, v.user_name, v.created_at";

/// A pipeline's row, locked until a transaction ends.
struct Held {
    version: u32,
    deleted: bool,
}

impl Store {
    /// Stores a document as the newest version of a pipeline, unless it equals the newest one (by the digests
    /// of document and code). A deleted pipeline counts as absent, but continues with the next number.
    pub async fn put_pipeline(
        &self,
        new: &NewVersion,
        expected: Expected,
        audit: &AuditEntry,
    ) -> Result<PutPipeline, StoreError> {
        self.transact(async |connection| {
            if !projects::hold(self.backend(), connection, &new.project).await? {
                return Ok(PutPipeline::Missing);
            }
            let mut held = self.hold_pipeline(connection, &new.project, &new.name).await?;
            if held.is_none() && !matches!(expected, Expected::Version(_)) {
                reserve(connection, &new.project, &new.name).await?;
                held = self.hold_pipeline(connection, &new.project, &new.name).await?;
            }
            let Some(held) = held else { return Ok(PutPipeline::Missing) };
            match (held.deleted, expected) {
                (false, Expected::New) => return Ok(PutPipeline::Exists),
                (true, Expected::Version(_)) => return Ok(PutPipeline::Missing),
                (false, Expected::Version(seen)) if seen != held.version => {
                    return Ok(PutPipeline::Stale(held.version));
                }
                _ => {}
            }
            if !held.deleted && says_the_same(connection, new, held.version).await? {
                return Ok(PutPipeline::Same(held.version));
            }
            let version = held.version + 1;
            write(connection, new, version).await?;
            audit::write(connection, audit).await?;
            let saved = (new.project.clone(), new.name.clone(), version);
            listen::notify_saved(self.backend(), connection, &saved).await?;
            Ok(PutPipeline::Stored(version))
        })
        .await
    }

    /// One version of a pipeline, deleted pipelines included, because runs refer to them.
    pub async fn pipeline(
        &self,
        project: &str,
        name: &str,
        version: u32,
    ) -> Result<Option<PipelineVersion>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM pipeline_versions v WHERE v.project = $1 AND v.name = $2 AND v.version = $3"
        );
        let mut values = Values::texts("pipeline", &[project, name])?;
        values.int(version)?;
        self.one(AssertSqlSafe(sql), values, read).await
    }

    /// The names of a project's pipelines, without deleted ones.
    pub async fn pipeline_names(&self, project: &str) -> Result<BTreeSet<String>, StoreError> {
        let sql = "SELECT name FROM pipelines WHERE project = $1 AND deleted = 0";
        let read = |row: &AnyRow| Ok(Columns::of("pipeline", row).text()?.to_owned());
        let names = self.all(sql, Values::texts("pipeline", &[project])?, read).await?;
        Ok(names.into_iter().collect())
    }

    /// The newest version of a pipeline that is not deleted.
    pub async fn newest(&self, project: &str, name: &str) -> Result<Option<PipelineVersion>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM pipelines p JOIN pipeline_versions v \
             ON v.project = p.project AND v.name = p.name AND v.version = p.version \
             WHERE p.project = $1 AND p.name = $2 AND p.deleted = 0"
        );
        self.one(AssertSqlSafe(sql), Values::texts("pipeline", &[project, name])?, read).await
    }

    /// The versions of a pipeline, newest first; `before` starts the next page.
    pub async fn versions(
        &self,
        project: &str,
        name: &str,
        before: Option<u32>,
        limit: usize,
    ) -> Result<Vec<PipelineVersion>, StoreError> {
        let mut wanted = Conditions::new("pipeline");
        wanted.text("v.project =", Some(project))?;
        wanted.text("v.name =", Some(name))?;
        wanted.int("v.version <", before.map(i64::from))?;
        let (wanted, limit, values) = wanted.limited(limit)?;
        let sql = format!(
            "SELECT {COLUMNS} FROM pipeline_versions v WHERE {wanted} ORDER BY v.version DESC LIMIT {limit}"
        );
        self.all(AssertSqlSafe(sql), values, read).await
    }

    /// Deletes a pipeline: it can no longer be listed, started or changed, and its hooks are deleted. Its
    /// versions and runs stay. The revisions are version numbers.
    pub async fn delete_pipeline(
        &self,
        project: &str,
        name: &str,
        expected: Option<u32>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.transact(async |connection| {
            let held = self.hold_pipeline(connection, project, name).await?;
            let Some(held) = held.filter(|held| !held.deleted) else { return Ok(Change::Missing) };
            let present = u64::from(held.version);
            if expected.is_some_and(|seen| seen != held.version) {
                return Ok(Change::Stale(present));
            }
            for sql in [
                "UPDATE pipelines SET deleted = 1 WHERE project = $1 AND name = $2",
                "DELETE FROM hooks WHERE project = $1 AND pipeline = $2",
            ] {
                execute(connection, sql, Values::texts("pipeline", &[project, name])?).await?;
            }
            audit::write(connection, audit).await?;
            Ok(Change::Done(present))
        })
        .await
    }

    /// A pipeline's row, locked until the transaction ends.
    async fn hold_pipeline(
        &self,
        connection: &mut AnyConnection,
        project: &str,
        name: &str,
    ) -> Result<Option<Held>, StoreError> {
        let sql = self.backend().pick(
            "SELECT version, deleted FROM pipelines WHERE project = $1 AND name = $2",
            "SELECT version, deleted FROM pipelines WHERE project = $1 AND name = $2 FOR UPDATE",
        );
        let values = Values::texts("pipeline", &[project, name])?;
        let row = sqlx::query_with(sql, values.arguments).fetch_optional(connection).await?;
        let Some(row) = row else { return Ok(None) };
        let mut columns = Columns::of("pipeline", &row);
        Ok(Some(Held { version: columns.int()?, deleted: columns.flag()? }))
    }
}

/// Creates the row of a pipeline without versions, as if deleted, as a lock that serializes writers.
async fn reserve(connection: &mut AnyConnection, project: &str, name: &str) -> Result<(), StoreError> {
    let sql = "INSERT INTO pipelines (project, name, version, deleted) VALUES ($1, $2, 0, 1) \
               ON CONFLICT (project, name) DO NOTHING";
    execute(connection, sql, Values::texts("pipeline", &[project, name])?).await?;
    Ok(())
}

async fn says_the_same(
    connection: &mut AnyConnection,
    new: &NewVersion,
    version: u32,
) -> Result<bool, StoreError> {
    let sql = "SELECT digest, code FROM pipeline_versions WHERE project = $1 AND name = $2 AND version = $3";
    let mut values = Values::texts("pipeline", &[&new.project, &new.name])?;
    values.int(version)?;
    let row = sqlx::query_with(sql, values.arguments).fetch_optional(connection).await?;
    let Some(row) = row else { return Ok(false) };
    let mut columns = Columns::of("pipeline", &row);
    Ok(columns.text()? == new.digest && columns.maybe_text()? == new.code)
}

async fn write(connection: &mut AnyConnection, new: &NewVersion, version: u32) -> Result<(), StoreError> {
    let mut values = Values::texts("pipeline", &[&new.project, &new.name])?;
    values.int(version)?.text(&new.document)?.text(&new.digest)?.maybe_text(new.code.as_deref())?;
    values.text(&new.message)?.text(&new.user)?.int(new.now.0)?;
    let sql = "INSERT INTO pipeline_versions (project, name, version, document, digest, code, message, user_name, \
               created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    execute(connection, sql, values).await?;
    let mut values = Values::texts("pipeline", &[&new.project, &new.name])?;
    values.int(version)?.text(&new.description)?.json(&new.labels)?.text(&search_text(new))?;
    let sql = "UPDATE pipelines SET version = $3, description = $4, labels_json = $5, search_text = $6, \
               deleted = 0 WHERE project = $1 AND name = $2";
    execute(connection, sql, values).await?;
    Ok(())
}

/// The searchable text, in lower case, one field per line.
fn search_text(new: &NewVersion) -> String {
    let mut text = format!("{}\n{}", new.name, new.description);
    for (label, value) in &new.labels {
        let value = value.as_str().map_or_else(|| Value::to_string(value), str::to_owned);
        text.push_str(&format!("\n{label}: {value}"));
    }
    text.to_lowercase()
}

fn read(row: &AnyRow) -> Result<PipelineVersion, StoreError> {
    let mut columns = Columns::of("pipeline", row);
    Ok(PipelineVersion {
        version: columns.int()?,
        document: columns.text()?.into(),
        digest: columns.text()?.into(),
        code: columns.maybe_text()?,
        message: columns.text()?.into(),
        user: columns.text()?.into(),
        created_at: columns.time()?,
    })
}
