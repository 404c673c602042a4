//! The first tasks of several runs at once, by aggregates: a run may have 100,000 instances.

use cubeloom_domain::executor::Report;
use cubeloom_domain::state::AttemptState;
use cubeloom_domain::{RunId, TaskIx, Timestamp};
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::Store;
use crate::error::StoreError;
use crate::instances::{STATE_WORD, state_of};
use crate::plans::FIRST_TASKS;
use crate::query::{lists, places};
use crate::values::{Columns, Values};

/// Instances of a task of a run in one state. A state may have several groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceGroup {
    pub run: RunId,
    pub task: TaskIx,
    /// As in [`TaskCount`](crate::TaskCount).
    pub state: &'static str,
    pub count: u64,
    /// Total number of their attempts.
    pub attempts: u64,
    /// When the first of them became ready.
    pub ready_at: Timestamp,
    /// When the last of them ended; `None` while one has not ended.
    pub ended_at: Option<Timestamp>,
}

/// The start of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptStart {
    pub run: RunId,
    pub task: TaskIx,
    /// When it was stored.
    pub created_at: Timestamp,
    pub started_at: Timestamp,
}

/// What the first instance of a task reported.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstReport {
    pub run: RunId,
    pub task: TaskIx,
    pub report: Report,
}

impl Store {
    /// The stored instances of the first [`FIRST_TASKS`] tasks of these runs, grouped by run, task and state;
    /// unordered.
    pub async fn instance_groups(&self, runs: &[&RunId]) -> Result<Vec<InstanceGroup>, StoreError> {
        let select = format!(
            "SELECT run_id, task, {STATE_WORD}, COUNT(*), CAST(SUM(attempt) AS BIGINT), MIN(ready_at), \
             MAX(ended_at), COUNT(*) - COUNT(ended_at) FROM instances"
        );
        let group = format!("GROUP BY run_id, task, {STATE_WORD}");
        self.of_first_tasks("instance", [&select, &group], runs, instance_group).await
    }

    /// When the attempts of the first [`FIRST_TASKS`] tasks of these runs started; unordered. Attempts that
    /// have not started are omitted.
    pub async fn attempt_starts(&self, runs: &[&RunId]) -> Result<Vec<AttemptStart>, StoreError> {
        let select = "SELECT run_id, task, created_at, state_json FROM attempts";
        let found = self.of_first_tasks("attempt", [select, ""], runs, attempt_start).await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Reports of the first instances of the first [`FIRST_TASKS`] tasks of these runs; unordered. A task without
    /// `for_each` has one instance.
    pub async fn first_reports(&self, runs: &[&RunId]) -> Result<Vec<FirstReport>, StoreError> {
        let select = "SELECT run_id, task, report_json FROM instances";
        let rest = "AND instance = 0 AND report_json <> '{}'";
        self.of_first_tasks("instance", [select, rest], runs, first_report).await
    }

    /// The rows of a query, given as its text before and after the condition.
    async fn of_first_tasks<T>(
        &self,
        what: &'static str,
        [select, group]: [&str; 2],
        runs: &[&RunId],
        read: fn(&AnyRow) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let ids: Vec<&str> = runs.iter().map(|run| run.as_str()).collect();
        let mut found = Vec::new();
        for list in lists(&ids) {
            let mut values = Values::texts(what, &list)?;
            let (ids, limit) = (places(1, list.len()), values.len() + 1);
            values.int(FIRST_TASKS)?;
            let sql = format!("{select} WHERE run_id IN ({ids}) AND task < ${limit} {group}");
            found.extend(self.all(AssertSqlSafe(sql), values, read).await?);
        }
        Ok(found)
    }
}

fn instance_group(row: &AnyRow) -> Result<InstanceGroup, StoreError> {
    let mut columns = Columns::of("instance", row);
    let (run, task) = (columns.parsed()?, TaskIx(columns.int()?));
    let (state, count, attempts) = (state_of(columns.text()?)?, columns.int()?, columns.int()?);
    let (ready_at, ended_at, open) = (columns.time()?, columns.maybe_time()?, columns.int::<u64>()?);
    let ended_at = ended_at.filter(|_| open == 0);
    Ok(InstanceGroup { run, task, state, count, attempts, ready_at, ended_at })
}

fn first_report(row: &AnyRow) -> Result<FirstReport, StoreError> {
    let mut columns = Columns::of("instance", row);
    Ok(FirstReport { run: columns.parsed()?, task: TaskIx(columns.int()?), report: columns.json()? })
}

fn attempt_start(row: &AnyRow) -> Result<Option<AttemptStart>, StoreError> {
    let mut columns = Columns::of("attempt", row);
    let (run, task, created_at) = (columns.parsed()?, TaskIx(columns.int()?), columns.time()?);
    let started_at = columns.json::<AttemptState>()?.started_at();
    Ok(started_at.map(|started_at| AttemptStart { run, task, created_at, started_at }))
}
