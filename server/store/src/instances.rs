//! Instances and attempts of one task: parts of runs that may have 100,000 of them.

use cubeloom_domain::record::{AttemptRecord, InstanceRecord};
use cubeloom_domain::{InstanceIx, RunId, TaskIx};
use sqlx::AssertSqlSafe;

use crate::Store;
use crate::conditions::Conditions;
use crate::error::StoreError;
use crate::rows::{self, ATTEMPT_COLUMNS, INSTANCE_COLUMNS};
use crate::values::{Columns, Values};

/// How many instances of a task are in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskCount {
    /// Task.
    pub task: TaskIx,
    /// The word for the state, as [`InstanceState::as_str`](cubeloom_domain::state::InstanceState::as_str) gives it.
    pub state: &'static str,
    /// Count.
    pub count: u64,
}

/// How many runs of a pipeline [`Store::history`] looks at for each attempt that is wanted: a task does not run in
/// every run.
const RUNS_AN_ATTEMPT: usize = 3;

impl Store {
    /// The stored instances of a task, in their order; only those after one, for the next page.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn instances_of(
        &self,
        run: &RunId,
        task: TaskIx,
        after: Option<InstanceIx>,
        limit: usize,
    ) -> Result<Vec<InstanceRecord>, StoreError> {
        self.instances_in(run, task, None, after, limit).await
    }

    /// The same, only those in a state, by the word for it; none for a word that is not one.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn instances_in(
        &self,
        run: &RunId,
        task: TaskIx,
        state: Option<&str>,
        after: Option<InstanceIx>,
        limit: usize,
    ) -> Result<Vec<InstanceRecord>, StoreError> {
        let mut wanted = Conditions::new("instance");
        wanted.text("run_id =", Some(run.as_str()))?;
        wanted.int("task =", Some(i64::from(task.0)))?;
        wanted.int("instance >", after.map(i64::from))?;
        if let Some(state) = state {
            wanted.fixed(&beginning_of(state));
        }
        let (wanted, limit, values) = wanted.limited(limit)?;
        let sql = format!(
            "SELECT {INSTANCE_COLUMNS} FROM instances WHERE {wanted} ORDER BY instance LIMIT {limit}"
        );
        self.all(AssertSqlSafe(sql), values, rows::instance).await
    }

    /// The attempts of an instance, the first first, without what workers were at when one hung.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn attempts_of(
        &self,
        run: &RunId,
        task: TaskIx,
        instance: InstanceIx,
    ) -> Result<Vec<AttemptRecord>, StoreError> {
        let mut values = Values::texts("attempt", &[run.as_str()])?;
        values.int(task.0)?.int(instance)?;
        let sql = format!(
            "SELECT {ATTEMPT_COLUMNS} FROM attempts WHERE run_id = $1 AND task = $2 AND instance = $3 ORDER BY n"
        );
        self.all(AssertSqlSafe(sql), values, rows::attempt).await
    }

    /// The instance of a run that failed first.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn first_failed(&self, run: &RunId) -> Result<Option<InstanceRecord>, StoreError> {
        let sql = format!(
            "SELECT {INSTANCE_COLUMNS} FROM instances WHERE run_id = $1 AND {STATE_WORD} LIKE 'failed\"%' \
             ORDER BY ended_at, task, instance LIMIT 1"
        );
        self.one(AssertSqlSafe(sql), Values::texts("instance", &[run.as_str()])?, rows::instance).await
    }

    /// How many stored instances of each task are in each state, in the plan's order.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn task_counts(&self, run: &RunId) -> Result<Vec<TaskCount>, StoreError> {
        let sql = format!(
            "SELECT task, {STATE_WORD} AS word, COUNT(*) FROM instances WHERE run_id = $1 \
             GROUP BY task, {STATE_WORD} ORDER BY task, word"
        );
        self.all(AssertSqlSafe(sql), Values::texts("instance", &[run.as_str()])?, |row| {
            let mut columns = Columns::of("instance", row);
            Ok(TaskCount {
                task: TaskIx(columns.int()?),
                state: state_of(columns.text()?)?,
                count: columns.int()?,
            })
        })
        .await
    }

    /// The newest attempts of a task that have ended, of whatever run of the pipeline.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn history(
        &self,
        project: &str,
        pipeline: &str,
        task_name: &str,
        limit: usize,
    ) -> Result<Vec<AttemptRecord>, StoreError> {
        let runs = i64::try_from(limit.saturating_mul(RUNS_AN_ATTEMPT)).unwrap_or(i64::MAX);
        let mut values = Values::texts("attempt", &[project, pipeline, task_name])?;
        values.int(runs)?.int(i64::try_from(limit).unwrap_or(i64::MAX))?;
        let sql = format!(
            "SELECT {ATTEMPT_COLUMNS} FROM attempts WHERE live = 0 AND task_name = $3 AND run_id IN ( \
                 SELECT id FROM runs WHERE project = $1 AND pipeline = $2 ORDER BY id DESC LIMIT $4 \
             ) ORDER BY run_id DESC, created_at DESC, instance, n DESC LIMIT $5"
        );
        self.all(AssertSqlSafe(sql), values, rows::attempt).await
    }
}

/// The beginning of a state's document after `{"state":"`, long enough to tell the states apart, and too short for
/// what differs between two instances in the same state.
const STATE_WORD: &str = "SUBSTR(state_json, 11, 12)";

/// How a state's document goes on, and the word for the state; of two that fit, the first.
const WORDS: [(&str, &str); 11] = [
    ("pending\"", "pending"),
    ("waiting\"", "waiting"),
    ("backoff\"", "backoff"),
    ("active\"", "running"),
    ("succeeded\",", "reused"),
    ("succeeded\"", "succeeded"),
    ("stopped_earl", "stopped_early"),
    ("failed\"", "failed"),
    ("upstream_fai", "upstream_failed"),
    ("skipped\"", "skipped"),
    ("cancelled\"", "cancelled"),
];

/// That an instance is in a state, as SQL.
fn beginning_of(state: &str) -> String {
    let known = WORDS.iter().find(|(_, word)| *word == state);
    match known {
        // Without where it came from: with that, it is another state.
        Some((_, "succeeded")) => format!("{STATE_WORD} LIKE 'succeeded\"}}%'"),
        Some((begin, _)) => format!("{STATE_WORD} LIKE '{begin}%'"),
        None => "1 = 0".into(),
    }
}

/// The state whose document goes on with this.
fn state_of(word: &str) -> Result<&'static str, StoreError> {
    let found = WORDS.into_iter().find(|(start, _)| word.starts_with(start));
    found.map(|(_, state)| state).ok_or_else(|| StoreError::Unreadable {
        what: "instance",
        reason: format!("its state begins with `{word}`"),
    })
}
