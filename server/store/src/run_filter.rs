//! Filters of run lists.

use std::collections::BTreeSet;

use cubeloom_domain::record::RunRecord;
use cubeloom_domain::state::RunState;
use cubeloom_domain::{RunId, Timestamp};
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::Store;
use crate::conditions::Conditions;
use crate::error::StoreError;
use crate::rows::{self, RUN_COLUMNS};
use crate::values::{Columns, Values};

/// Selects runs; the default is all of them, newest first.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    /// Only runs of these projects; `None` for all.
    pub projects: Option<Vec<String>>,
    /// Only runs of this pipeline.
    pub pipeline: Option<String>,
    /// Only runs of this version of it.
    pub version: Option<u32>,
    /// Only runs in one of these states; empty for any.
    pub states: Vec<RunState>,
    /// Only runs requested by this user, by name.
    pub user: Option<String>,
    /// Only runs whose pipeline name or run ID contains this text.
    pub text: Option<String>,
    /// Only runs whose ID begins with this text, which is in lower case.
    pub id: Option<String>,
    /// Only runs requested at or after this time.
    pub since: Option<Timestamp>,
    /// Only runs requested before this time.
    pub until: Option<Timestamp>,
    /// Only runs older than this one.
    pub before: Option<RunId>,
    /// Only runs newer than this one.
    pub after: Option<RunId>,
    /// Only runs that no task of another run has started.
    pub top: bool,
    /// Only runs that tasks of this run have started.
    pub of: Option<RunId>,
    pub oldest_first: bool,
    pub limit: Option<usize>,
}

/// A run with all its mutable fields: as long as this is equal, the rest need not be read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunMark {
    pub id: RunId,
    pub state: RunState,
    pub ended_at: Option<Timestamp>,
    /// Its start time, effective user and message, as stored.
    rest: String,
}

/// Separators, which occur in no text that users write.
const FIELD: char = '\u{1f}';
const RUN: char = '\u{1e}';

impl RunMark {
    /// From the run's id, state, end time and the rest.
    fn read(text: &str) -> Result<Self, StoreError> {
        let unreadable = || StoreError::Unreadable { what: "run", reason: format!("`{text}` is not a mark") };
        let mut fields = text.splitn(4, FIELD);
        let mut field = || fields.next().ok_or_else(unreadable);
        let id = field()?.parse().map_err(|_| unreadable())?;
        let state = field()?;
        let state = RunState::ALL.into_iter().find(|known| known.as_str() == state).ok_or_else(unreadable)?;
        let ended_at = match field()? {
            "" => None,
            micros => Some(Timestamp(micros.parse().map_err(|_| unreadable())?)),
        };
        Ok(Self { id, state, ended_at, rest: field()?.into() })
    }

    /// Whether this matches the run's current state.
    #[must_use]
    pub fn is_of(&self, run: &RunRecord) -> bool {
        (&self.id, self.state, self.ended_at) == (&run.id, run.state, run.ended_at)
    }
}

/// Up to this many projects are queried separately; among more, some have run recently.
const APART: usize = 64;

/// Maximum number of run ids per query.
const AT_ONCE: usize = 100;

/// Maximum count of runs: a larger number is of no use.
const COUNTED: usize = 10_000;

impl Store {
    /// Runs, newest first unless requested otherwise.
    pub async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRecord>, StoreError> {
        let (sql, values) = select(filter, RUN_COLUMNS)?;
        self.all(AssertSqlSafe(sql), values, rows::run).await
    }

    /// The marks of these runs, in the same order, to validate cached runs. They arrive in one row, because
    /// the driver moves each row between threads, which takes longer than to parse it.
    pub async fn run_marks(&self, filter: &RunFilter) -> Result<Vec<RunMark>, StoreError> {
        let (rows, values) = select(filter, "id, state, started_at, ended_at, acting_user, message")?;
        let time = |column: &str| format!("COALESCE(CAST({column} AS TEXT), '')");
        let text = |column: &str| format!("COALESCE({column}, '')");
        let join = |fields: [String; 3]| fields.join(&format!(" || '{FIELD}' || "));
        let rest = join([time("started_at"), text("acting_user"), text("message")]);
        let rest = format!("REPLACE({rest}, '{RUN}', ' ')");
        let mark = format!("id || '{FIELD}' || {}", join(["state".into(), time("ended_at"), rest]));
        let sql = format!("SELECT string_agg({mark}, '{RUN}') FROM ({rows}) AS marks");
        let read = |row: &AnyRow| Columns::of("run", row).maybe_text();
        let Some(text) = self.one(AssertSqlSafe(sql), values, read).await?.flatten() else {
            return Ok(Vec::new());
        };
        let mut marks = text.split(RUN).map(RunMark::read).collect::<Result<Vec<_>, _>>()?;
        // The order of an aggregate is unspecified.
        marks.sort_by(|a, b| if filter.oldest_first { a.id.cmp(&b.id) } else { b.id.cmp(&a.id) });
        Ok(marks)
    }

    /// The runs with these ids, unordered; missing ones are omitted.
    pub async fn runs_by_id(&self, ids: &[&RunId]) -> Result<Vec<RunRecord>, StoreError> {
        let mut found = Vec::with_capacity(ids.len());
        for ids in ids.chunks(AT_ONCE) {
            let ids: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
            let mut wanted = Conditions::new("run");
            wanted.any_of("id", &ids)?;
            let (wanted, limit, values) = wanted.limited(AT_ONCE)?;
            let sql = format!("SELECT {RUN_COLUMNS} FROM runs WHERE {wanted} LIMIT {limit}");
            found.extend(self.all(AssertSqlSafe(sql), values, rows::run).await?);
        }
        Ok(found)
    }

    /// The number of runs; 10,000 means that many or more.
    pub async fn count_runs(&self, filter: &RunFilter) -> Result<u64, StoreError> {
        let limit = filter.limit.unwrap_or(COUNTED).min(COUNTED);
        let (wanted, limit, values) = conditions(filter)?.limited(limit)?;
        let sql =
            format!("SELECT COUNT(*) FROM (SELECT 1 FROM runs WHERE {wanted} LIMIT {limit}) AS counted");
        let count = self.one(AssertSqlSafe(sql), values, |row| Columns::of("run", row).int()).await?;
        Ok(count.unwrap_or(0))
    }
}

/// The statement for these columns of the selected runs.
pub(crate) fn select(filter: &RunFilter, columns: &str) -> Result<(String, Values), StoreError> {
    let limit = filter.limit.unwrap_or(usize::MAX);
    let order = if filter.oldest_first { "" } else { "DESC" };
    let projects: BTreeSet<&str> = filter.projects.iter().flatten().map(String::as_str).collect();
    if (2..=APART).contains(&projects.len()) {
        return of_each(&projects, filter, columns, limit, order);
    }
    let (wanted, limit, values) = conditions(filter)?.limited(limit)?;
    Ok((format!("SELECT {columns} FROM runs WHERE {wanted} ORDER BY id {order} LIMIT {limit}"), values))
}

/// Runs of several projects. Each project's index yields its runs in order; a single query would sort
/// everything that they ever ran.
fn of_each(
    projects: &BTreeSet<&str>,
    filter: &RunFilter,
    columns: &str,
    limit: usize,
    order: &str,
) -> Result<(String, Values), StoreError> {
    let others = RunFilter { projects: None, ..filter.clone() };
    let (wanted, limit, mut values) = conditions(&others)?.limited(limit)?;
    let mut parts = Vec::new();
    for (n, project) in projects.iter().enumerate() {
        let place = values.len() + 1;
        values.text(project)?;
        parts.push(format!(
            "SELECT * FROM (SELECT {columns} FROM runs WHERE project = ${place} AND {wanted} \
             ORDER BY id {order} LIMIT {limit}) AS part_{n}"
        ));
    }
    let parts = parts.join(" UNION ALL ");
    Ok((format!("SELECT * FROM ({parts}) AS parts ORDER BY id {order} LIMIT {limit}"), values))
}

/// All of the filter but its order and limit.
fn conditions(filter: &RunFilter) -> Result<Conditions, StoreError> {
    let mut wanted = Conditions::new("run");
    wanted.one_of("project", filter.projects.as_deref())?;
    wanted.text("pipeline =", filter.pipeline.as_deref())?;
    wanted.int("version =", filter.version.map(i64::from))?;
    if !filter.states.is_empty() {
        if filter.states.iter().all(|state| !state.is_final()) {
            // The index of live runs is short, however many have ended.
            wanted.fixed("live = 1");
        }
        let states: Vec<&str> = filter.states.iter().map(|state| state.as_str()).collect();
        wanted.any_of("state", &states)?;
    }
    wanted.text("user_name =", filter.user.as_deref())?;
    wanted.contains(&["pipeline", "id"], filter.text.as_deref())?;
    wanted.text("id >=", filter.id.as_deref())?;
    wanted.text("id <=", filter.id.as_ref().map(|id| format!("{id:z<26}")).as_deref())?;
    wanted.int("created_at >=", filter.since.map(|time| time.0))?;
    wanted.int("created_at <", filter.until.map(|time| time.0))?;
    if filter.top {
        wanted.fixed("parent IS NULL");
    }
    // A run's child is younger than the run.
    wanted.text("id >", filter.of.as_ref().map(RunId::as_str))?;
    wanted.begins("parent", filter.of.as_ref().map(|run| format!("{run}.")).as_deref())?;
    wanted.text("id <", filter.before.as_ref().map(RunId::as_str))?;
    wanted.text("id >", filter.after.as_ref().map(RunId::as_str))?;
    Ok(wanted)
}
