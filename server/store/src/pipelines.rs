//! Lists of pipelines, each with its newest version, and their last runs.

use std::collections::BTreeMap;

use cubeloom_domain::record::RunRecord;
use cubeloom_domain::{JsonMap, Timestamp};
use serde_json::Value;
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::Store;
use crate::conditions::{Conditions, Key, Order};
use crate::error::StoreError;
use crate::rows::{self, RUN_COLUMNS};
use crate::values::{Columns, Values};

/// Selects pipelines. Deleted ones are never included.
#[derive(Clone, Debug, Default)]
pub struct PipelineFilter {
    /// Only pipelines of these projects; `None` for all.
    pub projects: Option<Vec<String>>,
    /// Only pipelines whose name, description or labels contain this text, ignoring case.
    pub text: Option<String>,
    /// Only pipelines with this label.
    pub label: Option<(String, String)>,
    /// The sort key, and the start of the page.
    pub order: PipelineOrder,
    pub descending: bool,
    pub limit: Option<usize>,
}

/// The sort key of a list of pipelines. Each has the position of the previous page's last pipeline: its sort
/// value, its name, its project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PipelineOrder {
    Name(Option<(String, String)>),
    /// By the time of the newest version.
    Changed(Option<(Timestamp, String, String)>),
    /// By the newest run's id; pipelines without runs have an empty one and come first.
    LastRun(Option<(String, String, String)>),
}

impl Default for PipelineOrder {
    fn default() -> Self {
        Self::Name(None)
    }
}

impl PipelineOrder {
    fn columns(&self) -> &'static [&'static str] {
        match self {
            Self::Name(_) => &["p.name", "p.project"],
            Self::Changed(_) => &["v.created_at", "p.name", "p.project"],
            Self::LastRun(_) => &[LAST_RUN, "p.name", "p.project"],
        }
    }

    fn last(&self) -> Option<Vec<Key<'_>>> {
        match self {
            Self::Name(last) => {
                last.as_ref().map(|(name, project)| vec![Key::Text(name), Key::Text(project)])
            }
            Self::Changed(last) => last
                .as_ref()
                .map(|(at, name, project)| vec![Key::Int(at.0), Key::Text(name), Key::Text(project)]),
            Self::LastRun(last) => last
                .as_ref()
                .map(|(run, name, project)| vec![Key::Text(run), Key::Text(name), Key::Text(project)]),
        }
    }
}

/// The id of a pipeline's newest run, from the end of the index of runs by pipeline; empty without runs.
pub(crate) const LAST_RUN: &str =
    "COALESCE((SELECT MAX(r.id) FROM runs r WHERE r.project = p.project AND r.pipeline = p.name), '')";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineSummary {
    pub project: String,
    pub name: String,
    /// Newest version, starting at 1.
    pub version: u32,
    pub description: String,
    pub labels: JsonMap,
    /// The author's message for the newest version.
    pub message: String,
    /// The author of the newest version.
    pub user: String,
    /// The time of the newest version.
    pub created_at: Timestamp,
    /// The newest run's id, empty without runs; known only in a list sorted by it.
    pub last_run: Option<String>,
}

/// Pipelines per statement of [`Store::last_runs`]; SQLite accepts 500 parts.
const AT_ONCE: usize = 64;

impl Store {
    /// Pipelines, by name and project unless requested otherwise.
    pub async fn pipelines(&self, filter: &PipelineFilter) -> Result<Vec<PipelineSummary>, StoreError> {
        let mut wanted = Conditions::new("pipeline");
        wanted.fixed("p.deleted = 0");
        wanted.one_of("p.project", filter.projects.as_deref())?;
        wanted.contains(&["p.search_text"], filter.text.as_deref())?;
        if let Some(label) = &filter.label {
            // Both databases have `REPLACE`, which gives a case-sensitive substring test.
            wanted.with_text("REPLACE(p.labels_json, {}, '') <> p.labels_json", &member(label))?;
        }
        let order = Order { columns: filter.order.columns(), descending: filter.descending };
        if let Some(last) = filter.order.last() {
            wanted.after(&order, &last)?;
        }
        let last_run =
            if matches!(filter.order, PipelineOrder::LastRun(_)) { LAST_RUN } else { "CAST(NULL AS TEXT)" };
        let (wanted, limit, values) = wanted.limited(filter.limit.unwrap_or(usize::MAX))?;
        let sql = format!(
            "SELECT p.project, p.name, p.version, p.description, p.labels_json, v.message, v.user_name, \
             v.created_at, {last_run} FROM pipelines p JOIN pipeline_versions v \
             ON v.project = p.project AND v.name = p.name AND v.version = p.version \
             WHERE {wanted} ORDER BY {} LIMIT {limit}",
            order.sql()
        );
        self.all(AssertSqlSafe(sql), values, summary).await
    }

    /// The newest `each` runs of each of these pipelines that has runs, newest first.
    pub async fn last_runs(
        &self,
        project: &str,
        names: &[String],
        each: usize,
    ) -> Result<BTreeMap<String, Vec<RunRecord>>, StoreError> {
        let mut found: BTreeMap<String, Vec<RunRecord>> = BTreeMap::new();
        for names in names.chunks(AT_ONCE) {
            let mut values = Values::texts("run", &[project])?;
            values.int(i64::try_from(each).unwrap_or(i64::MAX))?;
            let mut parts = Vec::new();
            for (n, name) in names.iter().enumerate() {
                values.text(name)?;
                parts.push(format!(
                    "SELECT * FROM (SELECT {RUN_COLUMNS} FROM runs WHERE project = $1 AND pipeline = ${} \
                     ORDER BY id DESC LIMIT $2) AS part_{n}",
                    n + 3
                ));
            }
            let sql = parts.join(" UNION ALL ");
            for run in self.all(AssertSqlSafe(sql), values, rows::run).await? {
                found.entry(run.pipeline.clone()).or_default().push(run);
            }
        }
        for runs in found.values_mut() {
            runs.sort_by(|one, other| other.id.cmp(&one.id));
        }
        Ok(found)
    }
}

/// A label in the form of the JSON of all labels.
fn member((label, value): &(String, String)) -> String {
    format!("{}:{}", Value::from(label.as_str()), Value::from(value.as_str()))
}

fn summary(row: &AnyRow) -> Result<PipelineSummary, StoreError> {
    let mut columns = Columns::of("pipeline", row);
    Ok(PipelineSummary {
        project: columns.text()?.into(),
        name: columns.text()?.into(),
        version: columns.int()?,
        description: columns.text()?.into(),
        labels: columns.json()?,
        message: columns.text()?.into(),
        user: columns.text()?.into(),
        created_at: columns.time()?,
        last_run: columns.maybe_text()?,
    })
}
