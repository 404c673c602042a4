//! Which runs a list shows.

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

/// Which runs are wanted; the default is all of them, the newest first.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    /// Only those of these projects; all when there is none.
    pub projects: Option<Vec<String>>,
    /// Only runs of this pipeline.
    pub pipeline: Option<String>,
    /// Only those of this version of it.
    pub version: Option<u32>,
    /// Only those in one of these states; empty for any.
    pub states: Vec<RunState>,
    /// Only those that this person asked for, by name.
    pub user: Option<String>,
    /// Only runs whose pipeline name or run ID contains this text.
    pub text: Option<String>,
    /// Only runs requested at or after this time.
    pub since: Option<Timestamp>,
    /// Only runs requested before this time.
    pub until: Option<Timestamp>,
    /// Only those older than this one.
    pub before: Option<RunId>,
    /// Only those newer than this one.
    pub after: Option<RunId>,
    /// Only those that no task of another run has started.
    pub top: bool,
    /// Only those that tasks of this run have started.
    pub of: Option<RunId>,
    /// The oldest first.
    pub oldest_first: bool,
    /// At most this many.
    pub limit: Option<usize>,
}

/// A run, and all of it that may change: who has read the rest once need not read it again while this is the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunMark {
    /// Run.
    pub id: RunId,
    /// State.
    pub state: RunState,
    /// End time.
    pub ended_at: Option<Timestamp>,
    /// When it began, who acts for it and its message, as the database has them.
    rest: String,
}

/// Stand between what is put together, and in no text that people write.
const FIELD: char = '\u{1f}';
const RUN: char = '\u{1e}';

impl RunMark {
    /// From the run's id, state, end and the rest.
    fn read(text: &str) -> Result<Self, StoreError> {
        let unreadable = || StoreError::Unreadable { what: "run", reason: format!("`{text}` is no mark") };
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

    /// Whether this was the run's state when it was read.
    #[must_use]
    pub fn is_of(&self, run: &RunRecord) -> bool {
        (&self.id, self.state, self.ended_at) == (&run.id, run.state, run.ended_at)
    }
}

/// Up to this many projects are asked for one by one; of more, some have run lately.
const APART: usize = 64;

/// Runs that are asked for by id at once.
const AT_ONCE: usize = 100;

/// The most runs that are counted: beyond it, nobody reads the number.
const COUNTED: usize = 10_000;

impl Store {
    /// Runs, newest first unless asked for otherwise.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRecord>, StoreError> {
        let (sql, values) = select(filter, RUN_COLUMNS)?;
        self.all(AssertSqlSafe(sql), values, rows::run).await
    }

    /// Which runs these are, in the same order, and whether what somebody has of them still holds. They come in one row:
    /// the driver hands each row from thread to thread, which takes longer than to read it.
    ///
    /// # Errors
    /// When the database refuses.
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
        // Nobody promises the order of what was put together.
        marks.sort_by(|a, b| if filter.oldest_first { a.id.cmp(&b.id) } else { b.id.cmp(&a.id) });
        Ok(marks)
    }

    /// The runs with these ids, in no order; those that are gone are left out.
    ///
    /// # Errors
    /// When the database refuses.
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

    /// How many runs there are; 10,000 stands for that many or more.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn count_runs(&self, filter: &RunFilter) -> Result<u64, StoreError> {
        let limit = filter.limit.unwrap_or(COUNTED).min(COUNTED);
        let (wanted, limit, values) = conditions(filter)?.limited(limit)?;
        let sql =
            format!("SELECT COUNT(*) FROM (SELECT 1 FROM runs WHERE {wanted} LIMIT {limit}) AS counted");
        let count = self.one(AssertSqlSafe(sql), values, |row| Columns::of("run", row).int()).await?;
        Ok(count.unwrap_or(0))
    }
}

/// The statement for these columns of the runs that a filter chooses.
fn select(filter: &RunFilter, columns: &str) -> Result<(String, Values), StoreError> {
    let limit = filter.limit.unwrap_or(usize::MAX);
    let order = if filter.oldest_first { "" } else { "DESC" };
    let projects: BTreeSet<&str> = filter.projects.iter().flatten().map(String::as_str).collect();
    if (2..=APART).contains(&projects.len()) {
        return of_each(&projects, filter, columns, limit, order);
    }
    let (wanted, limit, values) = conditions(filter)?.limited(limit)?;
    Ok((format!("SELECT {columns} FROM runs WHERE {wanted} ORDER BY id {order} LIMIT {limit}"), values))
}

/// Runs of several projects. Each project's index gives its own in order; asked for all at once, a database would sort
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
            // The index of live runs is short, whatever has ended.
            wanted.fixed("live = 1");
        }
        let states: Vec<&str> = filter.states.iter().map(|state| state.as_str()).collect();
        wanted.any_of("state", &states)?;
    }
    wanted.text("user_name =", filter.user.as_deref())?;
    wanted.contains(&["pipeline", "id"], filter.text.as_deref())?;
    wanted.int("created_at >=", filter.since.map(|time| time.0))?;
    wanted.int("created_at <", filter.until.map(|time| time.0))?;
    if filter.top {
        wanted.fixed("parent IS NULL");
    }
    // What a run starts is younger than itself.
    wanted.text("id >", filter.of.as_ref().map(RunId::as_str))?;
    wanted.begins("parent", filter.of.as_ref().map(|run| format!("{run}.")).as_deref())?;
    wanted.text("id <", filter.before.as_ref().map(RunId::as_str))?;
    wanted.text("id >", filter.after.as_ref().map(RunId::as_str))?;
    Ok(wanted)
}
