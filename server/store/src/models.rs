//! The model registry: versions registered by successful tasks, and their aliases.

use std::collections::BTreeMap;

use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::model::{Model, ModelVersion, NewModelVersion, Origin, Usable};
use cubeloom_domain::{AttemptKey, RunId, Timestamp};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::backend::Backend;
use crate::conditions::{Conditions, Key, Order};
use crate::error::StoreError;
use crate::query::{collect, execute};
use crate::revision::Target;
use crate::values::{Columns, Values};
use crate::{Change, PageOf, Store, audit};

const MODEL: &str =
    "m.project, m.name, m.description, m.aliases_json, m.created_at, m.updated_at, m.revision";
const VERSION: &str = "v.project, v.version, v.reported_json, v.run_id, v.task_name, v.instance, v.attempt, \
                       v.pipeline, v.pipeline_version, v.code, v.user_name, v.created_at";

/// A model in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSummary {
    pub model: Model,
    pub versions: u64,
    pub newest: Option<ModelVersion>,
}

/// The outcome of setting an alias, or of deleting a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionChange {
    /// Done; the model's new revision.
    Done(u64),
    NoModel,
    /// The model has no such version, or no such alias.
    NoVersion,
    /// An alias refers to the version.
    HasAlias,
}

impl Store {
    /// The models of a project by name, with an optional text that their names or descriptions contain.
    pub async fn models(
        &self,
        project: &str,
        contains: Option<&str>,
        page: &PageOf<String>,
    ) -> Result<Vec<ModelSummary>, StoreError> {
        let order = Order { columns: &["m.name"], descending: false };
        let mut wanted = Conditions::new("model");
        wanted.text("m.project =", Some(project))?;
        wanted.contains(&["m.name", "m.description"], contains)?;
        if let Some(last) = &page.after {
            wanted.after(&order, &[Key::Text(last)])?;
        }
        let (wanted, limit, values) = wanted.limited(page.limit)?;
        let sql = format!("{} WHERE {wanted} ORDER BY {} LIMIT {limit}", summary(), order.sql());
        self.all(AssertSqlSafe(sql), values, read_summary).await
    }

    pub async fn model(&self, project: &str, name: &str) -> Result<Option<Model>, StoreError> {
        let sql = format!("SELECT {MODEL} FROM models m WHERE m.project = $1 AND m.name = $2");
        self.one(AssertSqlSafe(sql), Values::texts("model", &[project, name])?, read_model).await
    }

    /// A model in the form of the list.
    pub async fn model_summary(&self, project: &str, name: &str) -> Result<Option<ModelSummary>, StoreError> {
        let sql = format!("{} WHERE m.project = $1 AND m.name = $2", summary());
        self.one(AssertSqlSafe(sql), Values::texts("model", &[project, name])?, read_summary).await
    }

    /// The versions of a model, newest first.
    pub async fn model_versions(
        &self,
        project: &str,
        model: &str,
        page: &PageOf<u32>,
    ) -> Result<Vec<ModelVersion>, StoreError> {
        let order = Order { columns: &["v.version"], descending: true };
        let mut wanted = Conditions::new("model version");
        wanted.text("v.project =", Some(project))?;
        wanted.text("v.model =", Some(model))?;
        if let Some(last) = page.after {
            wanted.after(&order, &[Key::Int(last.into())])?;
        }
        let (wanted, limit, values) = wanted.limited(page.limit)?;
        let sql = format!(
            "SELECT {VERSION} FROM model_versions v WHERE {wanted} ORDER BY {} LIMIT {limit}",
            order.sql()
        );
        self.all(AssertSqlSafe(sql), values, read_version).await
    }

    pub async fn model_version(
        &self,
        project: &str,
        model: &str,
        version: u32,
    ) -> Result<Option<ModelVersion>, StoreError> {
        let sql = format!(
            "SELECT {VERSION} FROM model_versions v WHERE v.project = $1 AND v.model = $2 AND v.version = $3"
        );
        let mut values = Values::texts("model version", &[project, model])?;
        values.int(version)?;
        self.one(AssertSqlSafe(sql), values, read_version).await
    }

    /// The versions that a run registered, by model and number.
    pub async fn models_of_run(&self, run: &RunId) -> Result<Vec<ModelVersion>, StoreError> {
        let sql =
            format!("SELECT {VERSION} FROM model_versions v WHERE v.run_id = $1 ORDER BY v.model, v.version");
        self.all(AssertSqlSafe(sql), Values::texts("model version", &[run.as_str()])?, read_version).await
    }

    /// The models that plans of a project may use.
    pub async fn usable_models(&self, project: &str) -> Result<BTreeMap<String, Usable>, StoreError> {
        let read = |row: &AnyRow| {
            let mut columns = Columns::of("model", row);
            Ok((columns.text()?.to_owned(), columns.json()?))
        };
        let sql = "SELECT name, aliases_json FROM models WHERE project = $1";
        let mut usable: BTreeMap<String, Usable> = BTreeMap::new();
        for (name, aliases) in self.all(sql, Values::texts("model", &[project])?, read).await? {
            usable.insert(name, Usable { aliases, ..Usable::default() });
        }
        if usable.is_empty() {
            return Ok(usable);
        }
        let read = |row: &AnyRow| {
            let mut columns = Columns::of("model version", row);
            Ok((columns.text()?.to_owned(), columns.int()?, columns.text()?.to_owned()))
        };
        let sql = "SELECT model, version, path FROM model_versions WHERE project = $1";
        for (model, version, path) in self.all(sql, Values::texts("model", &[project])?, read).await? {
            if let Some(model) = usable.get_mut(&model) {
                model.paths.insert(version, path);
            }
        }
        Ok(usable)
    }

    pub async fn describe_model(
        &self,
        model: &Model,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        let sql = "UPDATE models SET description = $3, updated_at = $4, revision = $5 \
                   WHERE project = $1 AND name = $2";
        let mut values = Values::texts("model", &[&model.project, &model.name, &model.description])?;
        values.int(model.updated_at.0)?;
        self.change_named(target(&model.project, &model.name, expected), sql, values, audit).await
    }

    /// Sets an alias to a version, or removes it.
    pub async fn set_alias(
        &self,
        (project, model): (&str, &str),
        alias: &str,
        version: Option<u32>,
        audit: &AuditEntry,
    ) -> Result<VersionChange, StoreError> {
        self.transact(async |connection| {
            let held = target(project, model, None).take(self.backend(), connection).await?;
            let Change::Done(revision) = held else { return Ok(VersionChange::NoModel) };
            let mut aliases = aliases(connection, project, model).await?;
            match version {
                Some(version) if is_there(connection, (project, model), version).await? => {
                    aliases.insert(alias.to_owned(), version);
                }
                None if aliases.remove(alias).is_some() => {}
                _ => return Ok(VersionChange::NoVersion),
            }
            let mut values = Values::texts("model", &[project, model])?;
            values.json(&aliases)?.int(audit.at.0)?.int(revision)?;
            let sql = "UPDATE models SET aliases_json = $3, updated_at = $4, revision = $5 \
                       WHERE project = $1 AND name = $2";
            execute(connection, sql, values).await?;
            audit::write(connection, audit).await?;
            Ok(VersionChange::Done(revision))
        })
        .await
    }

    /// Deletes a version without an alias; its files stay.
    pub async fn delete_model_version(
        &self,
        (project, model): (&str, &str),
        version: u32,
        audit: &AuditEntry,
    ) -> Result<VersionChange, StoreError> {
        self.transact(async |connection| {
            let held = target(project, model, None).take(self.backend(), connection).await?;
            let Change::Done(revision) = held else { return Ok(VersionChange::NoModel) };
            if aliases(connection, project, model).await?.values().any(|aliased| *aliased == version) {
                return Ok(VersionChange::HasAlias);
            }
            let sql = "DELETE FROM model_versions WHERE project = $1 AND model = $2 AND version = $3";
            let mut values = Values::texts("model version", &[project, model])?;
            values.int(version)?;
            if execute(connection, sql, values).await? == 0 {
                return Ok(VersionChange::NoVersion);
            }
            audit::write(connection, audit).await?;
            Ok(VersionChange::Done(revision))
        })
        .await
    }

    /// Deletes a model with all its versions; their files stay.
    pub async fn delete_model(
        &self,
        project: &str,
        name: &str,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.transact(async |connection| {
            let change = target(project, name, expected).take(self.backend(), connection).await?;
            if matches!(change, Change::Done(_)) {
                for sql in [
                    "DELETE FROM model_versions WHERE project = $1 AND model = $2",
                    "DELETE FROM models WHERE project = $1 AND name = $2",
                ] {
                    execute(connection, sql, Values::texts("model", &[project, name])?).await?;
                }
                audit::write(connection, audit).await?;
            }
            Ok(change)
        })
        .await
    }
}

/// Registers versions; an existing one, registered by an earlier write of the same success, stays unchanged.
pub(crate) async fn register(
    backend: Backend,
    connection: &mut AnyConnection,
    models: &[NewModelVersion],
) -> Result<(), StoreError> {
    // All transactions lock rows in one order, so engines never deadlock.
    let mut models: Vec<&NewModelVersion> = models.iter().collect();
    models.sort_by_key(|made| (made.project.as_str(), made.reported.name.as_str()));
    for made in models {
        register_one(backend, connection, made).await?;
    }
    Ok(())
}

async fn register_one(
    backend: Backend,
    connection: &mut AnyConnection,
    made: &NewModelVersion,
) -> Result<(), StoreError> {
    let (project, name) = (made.project.as_str(), made.reported.name.as_str());
    let mut values = Values::texts("model", &[project, name])?;
    values.int(made.created_at.0)?;
    let sql = "INSERT INTO models (project, name, description, aliases_json, counted, created_at, updated_at, \
               revision) SELECT name, $2, '', '{}', 0, $3, $3, 0 FROM projects WHERE name = $1 \
               ON CONFLICT (project, name) DO NOTHING";
    execute(connection, sql, values).await?;
    let sql = backend.pick(
        "SELECT counted, revision, aliases_json FROM models WHERE project = $1 AND name = $2",
        "SELECT counted, revision, aliases_json FROM models WHERE project = $1 AND name = $2 FOR UPDATE",
    );
    let values = Values::texts("model", &[project, name])?;
    // Its project may have been deleted while the run was requested to resume.
    let row = sqlx::query_with(sql, values.arguments).fetch_optional(&mut *connection).await?;
    let Some(row) = row else { return Ok(()) };
    let mut columns = Columns::of("model", &row);
    let (version, revision): (u32, u64) = (columns.int::<u32>()? + 1, columns.int::<u64>()? + 1);
    let mut aliases: BTreeMap<String, u32> = columns.json()?;
    if insert(connection, made, version).await? == 0 {
        return Ok(());
    }
    if let Some(alias) = &made.reported.alias {
        aliases.insert(alias.clone(), version);
    }
    let mut values = Values::texts("model", &[project, name])?;
    values.json(&aliases)?.int(version)?.int(made.created_at.0)?.int(revision)?;
    let sql = "UPDATE models SET aliases_json = $3, counted = $4, updated_at = $5, revision = $6 \
               WHERE project = $1 AND name = $2";
    execute(connection, sql, values).await?;
    Ok(())
}

async fn insert(
    connection: &mut AnyConnection,
    made: &NewModelVersion,
    version: u32,
) -> Result<u64, StoreError> {
    let NewModelVersion { project, reported, origin, created_at } = made;
    let mut values = Values::texts("model version", &[project, &reported.name])?;
    values.int(version)?.text(&reported.path)?.json(reported)?;
    let AttemptKey { run, task, instance, n } = &origin.attempt;
    values.text(run.as_str())?.text(task)?.int(*instance)?.int(*n)?;
    values.text(&origin.pipeline)?.maybe_int(origin.pipeline_version)?.maybe_text(origin.code.as_deref())?;
    values.text(&origin.user)?.int(created_at.0)?;
    let sql = "INSERT INTO model_versions (project, model, version, path, reported_json, run_id, task_name, \
               instance, attempt, pipeline, pipeline_version, code, user_name, created_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT DO NOTHING";
    execute(connection, sql, values).await
}

async fn aliases(
    connection: &mut AnyConnection,
    project: &str,
    model: &str,
) -> Result<BTreeMap<String, u32>, StoreError> {
    let sql = "SELECT aliases_json FROM models WHERE project = $1 AND name = $2";
    let query = sqlx::query_with(sql, Values::texts("model", &[project, model])?.arguments);
    let found = collect(connection, query, |row| Columns::of("model", row).json()).await?;
    Ok(found.into_iter().next().unwrap_or_default())
}

async fn is_there(
    connection: &mut AnyConnection,
    (project, model): (&str, &str),
    version: u32,
) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM model_versions WHERE project = $1 AND model = $2 AND version = $3";
    let mut values = Values::texts("model version", &[project, model])?;
    values.int(version)?;
    Ok(sqlx::query_with(sql, values.arguments).fetch_optional(connection).await?.is_some())
}

/// The query for [`read_summary`], up to the conditions.
fn summary() -> String {
    let of_model = "FROM model_versions n WHERE n.project = m.project AND n.model = m.name";
    format!(
        "SELECT {MODEL}, (SELECT COUNT(*) {of_model}), {VERSION} FROM models m LEFT JOIN model_versions v \
         ON v.project = m.project AND v.model = m.name AND v.version = (SELECT MAX(n.version) {of_model})"
    )
}

fn target<'t>(project: &'t str, name: &'t str, expected: Option<u64>) -> Target<'t, 2> {
    Target { table: "models", key: [("project", project), ("name", name)], expected }
}

fn read_model(row: &AnyRow) -> Result<Model, StoreError> {
    model(&mut Columns::of("model", row))
}

fn model(columns: &mut Columns<'_>) -> Result<Model, StoreError> {
    Ok(Model {
        project: columns.text()?.into(),
        name: columns.text()?.into(),
        description: columns.text()?.into(),
        aliases: columns.json()?,
        created_at: columns.time()?,
        updated_at: columns.time()?,
        revision: columns.int()?,
    })
}

fn read_version(row: &AnyRow) -> Result<ModelVersion, StoreError> {
    version(&mut Columns::of("model version", row))
}

fn version(columns: &mut Columns<'_>) -> Result<ModelVersion, StoreError> {
    let project = columns.text()?.into();
    let version = columns.int()?;
    let reported = columns.json()?;
    let attempt = AttemptKey {
        run: columns.parsed()?,
        task: columns.text()?.into(),
        instance: columns.int()?,
        n: columns.int()?,
    };
    let origin = Origin {
        attempt,
        pipeline: columns.text()?.into(),
        pipeline_version: columns.maybe_int()?,
        code: columns.maybe_text()?,
        user: columns.text()?.into(),
    };
    let created_at: Timestamp = columns.time()?;
    Ok(ModelVersion { version, made: NewModelVersion { project, reported, origin, created_at } })
}

fn read_summary(row: &AnyRow) -> Result<ModelSummary, StoreError> {
    let mut columns = Columns::of("model", row);
    let model = model(&mut columns)?;
    let versions = columns.int()?;
    let newest = if versions > 0 { Some(version(&mut columns)?) } else { None };
    Ok(ModelSummary { model, versions, newest })
}
