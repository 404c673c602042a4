//! Loading a run for the engine.

use cubeloom_domain::hang::Known;
use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::record::LoadedRun;
use cubeloom_domain::state::AttemptState;
use cubeloom_domain::{InstanceIx, RunId, TaskIx};
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::error::StoreError;
use crate::query::{collect, of_table};
use crate::rows::{self, ATTEMPT_COLUMNS};
use crate::{Store, usage};

impl Store {
    /// A run with everything that the engine needs to continue it; only live attempts. It is consistent for
    /// the holder of the run's lease, because only that server changes it.
    pub async fn load(&self, id: &RunId) -> Result<Option<LoadedRun>, StoreError> {
        let Some(record) = self.run(id).await? else { return Ok(None) };
        let Some(plan) = self.plan(id).await? else {
            return Err(StoreError::Unreadable { what: "plan", reason: format!("run {id} has none") });
        };
        // All columns: values not loaded would be lost when the attempt is written again. Only stacks are
        // written separately.
        let sql = format!(
            "SELECT {ATTEMPT_COLUMNS} FROM attempts WHERE run_id = $1 AND live = 1 \
             ORDER BY task, instance, n"
        );
        let query = sqlx::query(AssertSqlSafe(sql)).bind(id.as_str().to_owned());
        let mut attempts = collect(&mut *self.inner.pool.acquire().await?, query, rows::attempt).await?;
        attempts.iter_mut().for_each(|attempt| usage::complete(attempt, &record, &plan));
        let sizing = self.sizing_of_run(&record.project, &plan).await?;
        let history = self.run_times(&record.project, &record.pipeline).await?;
        Ok(Some(LoadedRun {
            history,
            sizing,
            record,
            plan,
            expansions: self.expansions(id).await?,
            instances: self.instances(id).await?,
            attempts,
            known: self.known(id).await?,
        }))
    }

    /// Knowledge from ended attempts of live instances: from the last one with step progress or preflight
    /// results.
    async fn known(&self, id: &RunId) -> Result<Vec<(TaskIx, InstanceIx, Known)>, StoreError> {
        let sql = format!(
            "SELECT {} FROM instances i JOIN attempts a ON a.run_id = i.run_id AND a.task = i.task \
             AND a.instance = i.instance WHERE i.run_id = $1 AND i.ended_at IS NULL AND a.live = 0 \
             AND (a.pace_json IS NOT NULL OR a.preflight_json IS NOT NULL) ORDER BY a.task, a.instance, a.n DESC",
            of_table("a", ATTEMPT_COLUMNS)
        );
        let query = sqlx::query(AssertSqlSafe(sql)).bind(id.as_str().to_owned());
        let read = |row: &AnyRow| {
            let attempt = rows::attempt(row)?;
            let failed = match &attempt.state {
                AttemptState::Ended { outcome: Outcome::Failed(failure), .. } => Some(failure.kind),
                _ => None,
            };
            let known = Known::after(attempt.pace.as_deref(), attempt.preflight.as_deref(), failed);
            let known = known.unwrap_or_default();
            Ok((attempt.task, attempt.key.instance, known))
        };
        let mut known = collect(&mut *self.inner.pool.acquire().await?, query, read).await?;
        known.dedup_by_key(|(task, instance, _)| (*task, *instance));
        Ok(known)
    }
}
