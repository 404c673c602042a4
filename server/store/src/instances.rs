//! Instances and attempts of one task, in pages: a run may have 100,000 of them.

use cubeloom_domain::record::{AttemptRecord, InstanceRecord};
use cubeloom_domain::{InstanceIx, RunId, TaskIx};
use sqlx::AssertSqlSafe;

use crate::Store;
use crate::conditions::Conditions;
use crate::error::StoreError;
use crate::rows::{self, ATTEMPT_COLUMNS, INSTANCE_COLUMNS};
use crate::values::{Columns, Values};

/// The number of a task's instances in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskCount {
    pub task: TaskIx,
    /// The word for the state, as in
    /// [`InstanceState::as_str`](cubeloom_domain::state::InstanceState::as_str).
    pub state: &'static str,
    pub count: u64,
}

/// How many runs of a pipeline [`Store::history`] reads per requested attempt: a task does not run in every
/// run.
const RUNS_AN_ATTEMPT: usize = 3;

impl Store {
    /// The stored instances of a task, in order; `after` starts the next page.
    pub async fn instances_of(
        &self,
        run: &RunId,
        task: TaskIx,
        after: Option<InstanceIx>,
        limit: usize,
    ) -> Result<Vec<InstanceRecord>, StoreError> {
        self.instances_in(run, task, None, after, limit).await
    }

    /// The same, only in the state with this word; none for an unknown word.
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

    /// The attempts of an instance in order, without the stacks of hung workers.
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

    pub async fn first_failed(&self, run: &RunId) -> Result<Option<InstanceRecord>, StoreError> {
        let sql = format!(
            "SELECT {INSTANCE_COLUMNS} FROM instances WHERE run_id = $1 AND {STATE_WORD} LIKE 'failed\"%' \
             ORDER BY ended_at, task, instance LIMIT 1"
        );
        self.one(AssertSqlSafe(sql), Values::texts("instance", &[run.as_str()])?, rows::instance).await
    }

    /// The number of stored instances by task and state, in the plan's order.
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

    /// The newest ended attempts of a task, from any run of the pipeline.
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

/// The beginning of a state's JSON after `{"state":"`. It is long enough to distinguish the states, and too
/// short for differences between two instances in one state.
pub(crate) const STATE_WORD: &str = "SUBSTR(state_json, 11, 12)";

/// How a state's JSON continues, and the word for the state; the first match counts.
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

/// SQL for the condition that an instance is in a state.
fn beginning_of(state: &str) -> String {
    let known = WORDS.iter().find(|(_, word)| *word == state);
    match known {
        // Without its source: with it, it is another state.
        Some((_, "succeeded")) => format!("{STATE_WORD} LIKE 'succeeded\"}}%'"),
        Some((begin, _)) => format!("{STATE_WORD} LIKE '{begin}%'"),
        None => "1 = 0".into(),
    }
}

/// The state whose JSON continues with this.
pub(crate) fn state_of(word: &str) -> Result<&'static str, StoreError> {
    let found = WORDS.into_iter().find(|(start, _)| word.starts_with(start));
    found.map(|(_, state)| state).ok_or_else(|| StoreError::Unreadable {
        what: "instance",
        reason: format!("its state begins with `{word}`"),
    })
}
