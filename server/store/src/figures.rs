//! Statistics of a run's task without reading its instances: there may be 100,000 of them.

use cubeloom_domain::effective::Tried;
use cubeloom_domain::record::{AttemptRecord, InstanceRecord};
use cubeloom_domain::usage::UsageSummary;
use cubeloom_domain::{Bytes, RunId, TaskIx, Timestamp};
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::Store;
use crate::error::StoreError;
use crate::rows::{self, ATTEMPT_COLUMNS, INSTANCE_COLUMNS};
use crate::values::{Columns, Values};

/// An attempt for goodput, with the times of its instance.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedTry {
    pub tried: Tried,
    pub n: u32,
    pub ready_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

impl TimedTry {
    /// Its position in its run: task, instance and number.
    #[must_use]
    pub fn place(&self) -> (u32, u32, u32) {
        (self.tried.task.0, self.tried.instance, self.n)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskFigures {
    /// When its first instance became ready.
    pub ready_at: Option<Timestamp>,
    /// When its last instance ended; `None` while one has not ended.
    pub ended_at: Option<Timestamp>,
    pub attempts: u64,
    /// When the first attempt was stored.
    pub began_at: Option<Timestamp>,
    /// Total usage of its attempts.
    pub usage: UsageSummary,
}

impl Store {
    pub async fn task_figures(&self, run: &RunId, task: TaskIx) -> Result<TaskFigures, StoreError> {
        let of_instances = self
            .one(
                "SELECT MIN(ready_at), MAX(ended_at), COUNT(*) - COUNT(ended_at) FROM instances \
                 WHERE run_id = $1 AND task = $2",
                Self::of_task("instance", run, task)?,
                |row| {
                    let mut columns = Columns::of("instance", row);
                    let (ready_at, ended_at) = (columns.maybe_int()?, columns.maybe_int()?);
                    let open: u64 = columns.int()?;
                    Ok((ready_at.map(Timestamp), ended_at.filter(|_| open == 0).map(Timestamp)))
                },
            )
            .await?;
        let of_attempts = self
            .one(
                "SELECT COUNT(*), MIN(created_at), CAST(COALESCE(SUM(used_cpu_us), 0) AS BIGINT), \
                 COALESCE(MAX(peak_memory), 0) FROM attempts WHERE run_id = $1 AND task = $2",
                Self::of_task("attempt", run, task)?,
                |row| {
                    let mut columns = Columns::of("attempt", row);
                    let (count, began) = (columns.int::<u64>()?, columns.maybe_int()?);
                    let usage = UsageSummary {
                        cpu_us: columns.int()?,
                        peak_memory: Bytes(columns.int()?),
                        ..UsageSummary::default()
                    };
                    Ok((count, began.map(Timestamp), usage))
                },
            )
            .await?;
        let (ready_at, ended_at) = of_instances.unwrap_or_default();
        let (attempts, began_at, usage) = of_attempts.unwrap_or_default();
        Ok(TaskFigures { ready_at, ended_at, attempts, began_at, usage })
    }

    /// The attempts at all instances of a task, by instance and number.
    pub async fn attempts_of_task(
        &self,
        run: &RunId,
        task: TaskIx,
        limit: usize,
    ) -> Result<Vec<AttemptRecord>, StoreError> {
        let mut values = Self::of_task("attempt", run, task)?;
        values.int(i64::try_from(limit).unwrap_or(i64::MAX))?;
        let sql = format!(
            "SELECT {ATTEMPT_COLUMNS} FROM attempts WHERE run_id = $1 AND task = $2 ORDER BY instance, n LIMIT $3"
        );
        self.all(AssertSqlSafe(sql), values, rows::attempt).await
    }

    /// The last attempt of each instance of a task, by instance.
    pub async fn last_attempts(
        &self,
        run: &RunId,
        task: TaskIx,
        limit: usize,
    ) -> Result<Vec<AttemptRecord>, StoreError> {
        let mut values = Self::of_task("attempt", run, task)?;
        values.int(i64::try_from(limit).unwrap_or(i64::MAX))?;
        let sql = format!(
            "SELECT {ATTEMPT_COLUMNS} FROM attempts WHERE run_id = $1 AND task = $2 AND n = (SELECT one.attempt \
             FROM instances one WHERE one.run_id = attempts.run_id AND one.task = attempts.task \
             AND one.instance = attempts.instance) ORDER BY instance LIMIT $3"
        );
        self.all(AssertSqlSafe(sql), values, rows::attempt).await
    }

    /// The attempts of a run, or of one of its tasks, for goodput, by task, instance and number, with only
    /// the needed columns. `after` starts the next page. Instances that will be rerun are excluded.
    pub async fn tried(
        &self,
        run: &RunId,
        task: Option<TaskIx>,
        after: Option<(u32, u32, u32)>,
        limit: usize,
    ) -> Result<Vec<TimedTry>, StoreError> {
        let first = task.map_or(-1, |task| i64::from(task.0));
        let after = after.map_or([first, -1, -1], |(task, instance, n)| [task, instance, n].map(i64::from));
        let mut values = Values::texts("attempt", &[run.as_str()])?;
        for part in after {
            values.int(part)?;
        }
        values.int(task.map_or(u32::MAX, |task| task.0))?.int(i64::try_from(limit).unwrap_or(i64::MAX))?;
        // SQLite keeps the order of a cross join: it begins with the attempts after `after`, by their key.
        let sql = "SELECT a.task, a.instance, a.n, a.state_json, a.created_at, a.pace_json, a.hang_json, a.gpus, a.used_card_us, \
                   i.ready_at, i.ended_at FROM attempts a CROSS JOIN instances i \
                   WHERE a.run_id = $1 AND (a.task, a.instance, a.n) > ($2, $3, $4) AND a.task <= $5 \
                   AND i.run_id = a.run_id AND i.task = a.task AND i.instance = a.instance \
                   AND (i.task, i.instance) >= ($2, $3) AND i.state_json NOT LIKE '{\"state\":\"pending\"%' \
                   ORDER BY a.task, a.instance, a.n LIMIT $6";
        self.all(sql, values, timed_try).await
    }

    /// The attempts of a run, by task, instance and number; `after` starts the next page.
    pub async fn attempts_page(
        &self,
        run: &RunId,
        after: Option<(u32, u32, u32)>,
        limit: usize,
    ) -> Result<Vec<AttemptRecord>, StoreError> {
        let mut values = Values::texts("attempt", &[run.as_str()])?;
        let after = after.map_or([-1; 3], |(task, instance, n)| [task, instance, n].map(i64::from));
        for part in after {
            values.int(part)?;
        }
        values.int(i64::try_from(limit).unwrap_or(i64::MAX))?;
        let sql = format!(
            "SELECT {ATTEMPT_COLUMNS} FROM attempts WHERE run_id = $1 AND (task, instance, n) > ($2, $3, $4) \
             ORDER BY task, instance, n LIMIT $5"
        );
        self.all(AssertSqlSafe(sql), values, rows::attempt).await
    }

    /// The instances of a run, or of one task, whose programs reported outputs, by task and instance; `after`
    /// starts the next page.
    pub async fn reported(
        &self,
        run: &RunId,
        task: Option<TaskIx>,
        after: Option<(u32, u32)>,
        limit: usize,
    ) -> Result<Vec<InstanceRecord>, StoreError> {
        let (first, last) = task.map_or((0, u32::MAX), |task| (task.0, task.0));
        let after = after.map_or([-1; 2], |(task, instance)| [task, instance].map(i64::from));
        let mut values = Values::texts("instance", &[run.as_str()])?;
        values.int(first)?.int(last)?.int(after[0])?.int(after[1])?;
        values.int(i64::try_from(limit).unwrap_or(i64::MAX))?;
        let sql = format!(
            "SELECT {INSTANCE_COLUMNS} FROM instances WHERE run_id = $1 AND task >= $2 AND task <= $3 \
             AND (task, instance) > ($4, $5) AND report_json <> '{{}}' ORDER BY task, instance LIMIT $6"
        );
        self.all(AssertSqlSafe(sql), values, rows::instance).await
    }

    /// The attempts of a run that have not ended.
    pub async fn live_attempts(&self, run: &RunId, limit: usize) -> Result<Vec<AttemptRecord>, StoreError> {
        let mut values = Values::texts("attempt", &[run.as_str()])?;
        values.int(i64::try_from(limit).unwrap_or(i64::MAX))?;
        let sql = format!(
            "SELECT {ATTEMPT_COLUMNS} FROM attempts WHERE run_id = $1 AND live = 1 \
             ORDER BY task, instance, n LIMIT $2"
        );
        self.all(AssertSqlSafe(sql), values, rows::attempt).await
    }

    pub async fn instance(
        &self,
        run: &RunId,
        task: TaskIx,
        instance: u32,
    ) -> Result<Option<InstanceRecord>, StoreError> {
        let mut values = Self::of_task("instance", run, task)?;
        values.int(instance)?;
        let sql = format!(
            "SELECT {INSTANCE_COLUMNS} FROM instances WHERE run_id = $1 AND task = $2 AND instance = $3"
        );
        self.one(AssertSqlSafe(sql), values, rows::instance).await
    }

    /// The first instance of a task in a state, which is the word in the state's JSON.
    pub async fn first_in_state(
        &self,
        run: &RunId,
        task: TaskIx,
        word: &str,
    ) -> Result<Option<InstanceRecord>, StoreError> {
        let mut values = Self::of_task("instance", run, task)?;
        values.text(&format!("{{\"state\":\"{word}\"%"))?;
        let sql = format!(
            "SELECT {INSTANCE_COLUMNS} FROM instances WHERE run_id = $1 AND task = $2 AND state_json LIKE $3 \
             ORDER BY instance LIMIT 1"
        );
        self.one(AssertSqlSafe(sql), values, rows::instance).await
    }

    /// The items of a task's `for_each`, once it is expanded.
    pub async fn items_of(
        &self,
        run: &RunId,
        task: TaskIx,
    ) -> Result<Option<Vec<serde_json::Value>>, StoreError> {
        let values = Self::of_task("expansion", run, task)?;
        let sql = "SELECT items_json FROM expansions WHERE run_id = $1 AND task = $2";
        self.one(sql, values, |row| Columns::of("expansion", row).json()).await
    }

    fn of_task(what: &'static str, run: &RunId, task: TaskIx) -> Result<Values, StoreError> {
        let mut values = Values::texts(what, &[run.as_str()])?;
        values.int(task.0)?;
        Ok(values)
    }
}

fn timed_try(row: &AnyRow) -> Result<TimedTry, StoreError> {
    let mut columns = Columns::of("attempt", row);
    let (task, instance, n) = (TaskIx(columns.int()?), columns.int()?, columns.int()?);
    let tried = Tried {
        task,
        instance,
        state: columns.json()?,
        created_at: Timestamp(columns.int()?),
        pace: columns.maybe_json()?,
        hang: columns.maybe_json()?,
        gpus: columns.int()?,
        card_us: columns.maybe_int()?,
    };
    let ready_at = Timestamp(columns.int()?);
    Ok(TimedTry { tried, n, ready_at, ended_at: columns.maybe_time()? })
}
