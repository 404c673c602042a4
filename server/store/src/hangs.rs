//! Hanging attempts, and the stack traces of their workers.

use cubeloom_domain::hang::Hang;
use cubeloom_domain::record::{AttemptRecord, HangStacks};
use cubeloom_domain::{InstanceIx, RunId, TaskIx};
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::Store;
use crate::error::StoreError;
use crate::query::execute;
use crate::rows::{self, ATTEMPT_COLUMNS, STACKS_COLUMN};
use crate::values::{Columns, Values};

impl Store {
    /// The attempts of an instance in order, each with the stacks of its workers if it hung. Stacks may be
    /// megabytes, so no other list has them.
    pub async fn attempts_with_stacks(
        &self,
        run: &RunId,
        task: TaskIx,
        instance: InstanceIx,
    ) -> Result<Vec<AttemptRecord>, StoreError> {
        let mut values = Values::texts("attempt", &[run.as_str()])?;
        values.int(task.0)?.int(instance)?;
        let sql = format!(
            "SELECT {ATTEMPT_COLUMNS}, {STACKS_COLUMN} FROM attempts \
             WHERE run_id = $1 AND task = $2 AND instance = $3 ORDER BY n"
        );
        self.all(AssertSqlSafe(sql), values, rows::whole_attempt).await
    }

    /// The hangs of a run's live attempts, including past ones, each with the name of its task, in the plan's
    /// order; without stacks.
    pub async fn hangs(&self, run: &RunId, limit: usize) -> Result<Vec<(String, Hang)>, StoreError> {
        let mut values = Values::texts("attempt", &[run.as_str()])?;
        values.int(i64::try_from(limit).unwrap_or(i64::MAX))?;
        let sql = "SELECT task_name, hang_json FROM attempts WHERE run_id = $1 AND live = 1 \
                   AND hang_json IS NOT NULL ORDER BY task, instance, n LIMIT $2";
        self.all(sql, values, |row| {
            let mut columns = Columns::of("attempt", row);
            Ok((columns.text()?.into(), columns.json()?))
        })
        .await
    }
}

/// Writes the stacks of attempts, replacing older ones.
pub(crate) async fn write_stacks(
    connection: &mut AnyConnection,
    all: &[HangStacks],
) -> Result<(), StoreError> {
    for HangStacks { key, task, stacks } in all {
        let mut values = Values::texts("attempt", &[key.run.as_str()])?;
        values.int(task.0)?.int(key.instance)?.int(key.n)?;
        values.maybe_json(Some(stacks).filter(|stacks| !stacks.is_empty()))?;
        let sql = "UPDATE attempts SET hang_stacks_json = $5 \
                   WHERE run_id = $1 AND task = $2 AND instance = $3 AND n = $4";
        execute(connection, sql, values).await?;
    }
    Ok(())
}
