//! The search across projects. It runs while people type: each query reads an index, or a bounded number of
//! rows, and no documents.

use cubeloom_domain::state::RunState;
use cubeloom_domain::{RunId, Timestamp};
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::Store;
use crate::conditions::{Conditions, escaped};
use crate::error::StoreError;
use crate::pipelines::LAST_RUN;
use crate::run_filter::{self, RunFilter};
use crate::values::{Columns, Values};

/// What to search for, and where.
#[derive(Clone, Copy, Debug)]
pub struct NameSearch<'s> {
    /// Only in these projects; `None` for all.
    pub projects: Option<&'s [String]>,
    /// The text, in lower case. An empty one matches everything.
    pub text: &'s str,
    /// Of equal matches, those of this project come first.
    pub project: &'s str,
    /// At most this many.
    pub limit: usize,
}

/// A pipeline or a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameMatch {
    pub project: String,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunMatch {
    pub id: RunId,
    pub project: String,
    pub pipeline: String,
    pub state: RunState,
    pub created_at: Timestamp,
}

/// The columns of [`read_run`].
const RUN: &str = "id, project, pipeline, state, created_at";

/// Runs are matched by the end of their id, or by a pipeline that is not stored, among this many of the
/// newest.
const RECENT: usize = 200;

impl Store {
    /// The pipelines with this name, or one that begins with the text, contains it, or has its letters in
    /// this order. For an empty text, those that ran last come first.
    pub async fn matching_pipelines(&self, search: &NameSearch<'_>) -> Result<Vec<NameMatch>, StoreError> {
        let mut wanted = Conditions::new("pipeline");
        wanted.fixed("p.deleted = 0");
        let order = search.text.is_empty().then(|| format!("{LAST_RUN} DESC, "));
        let (sql, values) = named("pipelines", wanted, search, &order.unwrap_or_default())?;
        self.all(AssertSqlSafe(sql), values, read_name).await
    }

    /// The models, as [`Self::matching_pipelines`]. For an empty text, in the order of their names.
    pub async fn matching_models(&self, search: &NameSearch<'_>) -> Result<Vec<NameMatch>, StoreError> {
        let (sql, values) = named("models", Conditions::new("model"), search, "")?;
        self.all(AssertSqlSafe(sql), values, read_name).await
    }

    /// The runs whose id begins with the text, and those of these pipelines whose name contains it, newest
    /// first. For an empty text, the newest runs.
    pub async fn matching_runs(
        &self,
        search: &NameSearch<'_>,
        pipelines: &[NameMatch],
    ) -> Result<Vec<RunMatch>, StoreError> {
        let (text, limit) = (search.text, search.limit);
        let filter = RunFilter { projects: search.projects.map(<[String]>::to_vec), ..RunFilter::default() };
        let mut found =
            self.short_runs(&RunFilter { limit: Some(limit.max(RECENT)), ..filter.clone() }).await?;
        found.retain(|run| run.id.as_str().ends_with(text) || run.pipeline.to_lowercase().contains(text));
        if begins_id(text) {
            let id = Some(text.to_owned());
            found.extend(self.short_runs(&RunFilter { id, limit: Some(limit), ..filter }).await?);
        }
        let contains = |one: &&NameMatch| !text.is_empty() && one.name.to_lowercase().contains(text);
        let named: Vec<&NameMatch> = pipelines.iter().filter(contains).collect();
        found.extend(self.last_of(&named, limit).await?);
        found.sort_by(|one, other| other.id.cmp(&one.id));
        found.dedup_by(|one, other| one.id == other.id);
        found.truncate(limit);
        Ok(found)
    }

    async fn short_runs(&self, filter: &RunFilter) -> Result<Vec<RunMatch>, StoreError> {
        let (sql, values) = run_filter::select(filter, RUN)?;
        self.all(AssertSqlSafe(sql), values, read_run).await
    }

    /// The newest runs of each of these pipelines, from the index of runs by pipeline.
    async fn last_of(&self, pipelines: &[&NameMatch], limit: usize) -> Result<Vec<RunMatch>, StoreError> {
        if pipelines.is_empty() {
            return Ok(Vec::new());
        }
        let mut values = Values::new("run", 1 + 2 * pipelines.len());
        values.int(limit)?;
        let mut parts = Vec::new();
        for (n, NameMatch { project, name }) in pipelines.iter().enumerate() {
            values.text(project)?.text(name)?;
            let (of, named) = (2 * n + 2, 2 * n + 3);
            parts.push(format!(
                "SELECT * FROM (SELECT {RUN} FROM runs WHERE project = ${of} AND pipeline = ${named} \
                 ORDER BY id DESC LIMIT $1) AS part_{n}"
            ));
        }
        self.all(AssertSqlSafe(parts.join(" UNION ALL ")), values, read_run).await
    }
}

/// The statement for the rows of a table that match by name, the best first. `order` goes before the name.
fn named(
    table: &str,
    mut wanted: Conditions,
    search: &NameSearch<'_>,
    order: &str,
) -> Result<(String, Values), StoreError> {
    let text = search.text;
    wanted.one_of("p.project", search.projects)?;
    wanted.letters("p.name", text)?;
    let (wanted, limit, mut values) = wanted.limited(search.limit)?;
    let mut place = |value: &str| values.text(value).map(|values| values.len());
    let (exact, begins) = (place(text)?, place(&format!("{}%", escaped(text)))?);
    let (contains, first) = (place(&format!("%{}%", escaped(text)))?, place(search.project)?);
    let sql = format!(
        "SELECT p.project, p.name FROM {table} p WHERE {wanted} ORDER BY \
         CASE WHEN LOWER(p.name) = ${exact} THEN 0 WHEN LOWER(p.name) LIKE ${begins} ESCAPE '\\' THEN 1 \
         WHEN LOWER(p.name) LIKE ${contains} ESCAPE '\\' THEN 2 ELSE 3 END, \
         CASE WHEN p.project = ${first} THEN 0 ELSE 1 END, {order}p.name, p.project LIMIT {limit}"
    );
    Ok((sql, values))
}

/// Whether ids of runs may begin with this text.
fn begins_id(text: &str) -> bool {
    (1..=26).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn read_name(row: &AnyRow) -> Result<NameMatch, StoreError> {
    let mut columns = Columns::of("name", row);
    Ok(NameMatch { project: columns.text()?.into(), name: columns.text()?.into() })
}

/// A run, from [`RUN`].
fn read_run(row: &AnyRow) -> Result<RunMatch, StoreError> {
    let mut columns = Columns::of("run", row);
    Ok(RunMatch {
        id: columns.parsed()?,
        project: columns.text()?.into(),
        pipeline: columns.text()?.into(),
        state: columns.word()?,
        created_at: columns.time()?,
    })
}
