//! Loading a run for the engine.

use cubeloom_domain::RunId;
use cubeloom_domain::record::LoadedRun;
use sqlx::AssertSqlSafe;

use crate::error::StoreError;
use crate::query::collect;
use crate::rows::{self, ATTEMPT_COLUMNS};
use crate::{Store, usage};

impl Store {
    /// A run with all that the engine needs to go on with it; of its attempts only those that have not ended.
    /// Whoever holds the run's lease sees it whole: nobody else changes it.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be read.
    pub async fn load(&self, id: &RunId) -> Result<Option<LoadedRun>, StoreError> {
        let Some(record) = self.run(id).await? else { return Ok(None) };
        let Some(plan) = self.plan(id).await? else {
            return Err(StoreError::Unreadable { what: "plan", reason: format!("run {id} has none") });
        };
        let sql = format!(
            "SELECT {ATTEMPT_COLUMNS} FROM attempts WHERE run_id = $1 AND live = 1 ORDER BY task, instance, n"
        );
        let query = sqlx::query(AssertSqlSafe(sql)).bind(id.as_str().to_owned());
        let mut attempts = collect(&mut *self.inner.pool.acquire().await?, query, rows::attempt).await?;
        attempts.iter_mut().for_each(|attempt| usage::complete(attempt, &record, &plan));
        let history = self.run_times(&record.project, &record.pipeline).await?;
        Ok(Some(LoadedRun {
            history,
            record,
            plan,
            expansions: self.expansions(id).await?,
            instances: self.instances(id).await?,
            attempts,
        }))
    }
}
