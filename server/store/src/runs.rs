//! Creates and reads runs.

use cubeloom_domain::failpoint;
use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::record::{AttemptRecord, ExpansionRecord, InstanceRecord, RunRecord, TakenOver};
use cubeloom_domain::schedule::PipelineName;
use cubeloom_domain::{RunId, Timestamp};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use crate::error::StoreError;
use crate::lease::run_id;
use crate::query::{collect, execute, lists, places};
use crate::rows::{
    self, ATTEMPT_COLUMNS, EXPANSION_COLUMNS, EXPANSIONS, INSTANCE_COLUMNS, INSTANCES, RUN_COLUMNS,
};
use crate::values::{Columns, Values};
use crate::{Store, audit, budgets, code, firings, listen, plans, projects};

/// Maximum number of ids from [`Store::find_run`]: more than one is ambiguous anyway.
const MATCHES: i64 = 20;

/// The outcome of deleting a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deleted {
    Done,
    /// It has not ended, or it is requested to resume; nothing was done.
    Live,
    Missing,
}

/// A run to store.
struct Begun<'r> {
    record: &'r RunRecord,
    plan: &'r RunPlan,
    taken: &'r TakenOver,
    /// The scheduled date of the run.
    date: Option<Timestamp>,
}

impl Store {
    /// The last run of a pipeline, whatever its state.
    pub async fn last_run(&self, project: &str, pipeline: &str) -> Result<Option<RunId>, StoreError> {
        let sql = "SELECT id FROM runs WHERE project = $1 AND pipeline = $2 ORDER BY id DESC LIMIT 1";
        let read = |row: &AnyRow| Columns::of("run", row).parsed();
        self.one(sql, Values::texts("run", &[project, pipeline])?, read).await
    }

    /// Stores a new run and its plan.
    ///
    /// # Errors
    /// [`StoreError::NoSuchProject`]; [`StoreError::BudgetSpent`]; an error if the id exists.
    pub async fn create_run(
        &self,
        record: &RunRecord,
        plan: &RunPlan,
        audit: Option<&AuditEntry>,
    ) -> Result<(), StoreError> {
        self.create_run_with(record, plan, &TakenOver::default(), audit).await
    }

    /// Stores a new run and links it to its due date: both, or neither if the date is no longer due. Returns
    /// whether it did.
    ///
    /// # Errors
    /// As [`Self::create_run`].
    pub async fn create_run_of_date(
        &self,
        record: &RunRecord,
        plan: &RunPlan,
        date: Timestamp,
        audit: &AuditEntry,
    ) -> Result<bool, StoreError> {
        failpoint::hit("schedules.start.before");
        let begun = Begun { record, plan, taken: &TakenOver::default(), date: Some(date) };
        let stored = self.store_run(begun, Some(audit)).await?;
        failpoint::hit("schedules.start.after");
        Ok(stored)
    }

    /// Stores a new run, its plan, and its reused upstream results from an earlier run: all or nothing.
    ///
    /// # Errors
    /// As [`Self::create_run`].
    pub async fn create_run_with(
        &self,
        record: &RunRecord,
        plan: &RunPlan,
        taken: &TakenOver,
        audit: Option<&AuditEntry>,
    ) -> Result<(), StoreError> {
        self.store_run(Begun { record, plan, taken, date: None }, audit).await.map(drop)
    }

    async fn store_run(&self, begun: Begun<'_>, audit: Option<&AuditEntry>) -> Result<bool, StoreError> {
        let stored = self.insert_run(begun, audit).await;
        self.noticed(stored)
    }

    async fn insert_run(&self, begun: Begun<'_>, audit: Option<&AuditEntry>) -> Result<bool, StoreError> {
        let Begun { record, plan, taken, date } = begun;
        let parts = plans::parts(plan)?;
        let mut writer = self.writer().await?;
        let mut transaction = writer.begin(self.backend()).await?;
        if !projects::hold(self.backend(), &mut transaction, &record.project).await? {
            return Err(StoreError::NoSuchProject(record.project.clone()));
        }
        budgets::refuse_spent(&mut transaction, record).await?;
        if let Some(date) = date {
            let (project, pipeline) = (record.project.clone(), record.pipeline.clone());
            let of = PipelineName { project, pipeline };
            if !firings::start(&mut transaction, &of, date, &record.id, record.created_at).await? {
                transaction.rollback().await?;
                writer.ended();
                return Ok(false);
            }
        }
        if let Some(audit) = audit {
            audit::write(&mut transaction, audit).await?;
        }
        rows::insert_run(&mut transaction, record).await?;
        plans::insert(&mut transaction, &record.id, parts).await?;
        code::note(&mut transaction, &record.id, &record.project, plan.context.code.as_deref()).await?;
        EXPANSIONS.write(self.backend(), &mut transaction, &taken.expansions).await?;
        INSTANCES.write(self.backend(), &mut transaction, &taken.instances).await?;
        listen::notify(self.backend(), &mut transaction).await?;
        failpoint::hit("store.create_run.before");
        transaction.commit().await?;
        writer.ended();
        failpoint::hit("store.create_run.after");
        drop(writer);
        self.inner.checkpoints.wrote(plan.tasks.len() + taken.instances.len());
        self.wake();
        Ok(true)
    }

    pub async fn run(&self, id: &RunId) -> Result<Option<RunRecord>, StoreError> {
        let sql = format!("SELECT {RUN_COLUMNS} FROM runs WHERE id = $1");
        let row = sqlx::query(AssertSqlSafe(sql))
            .bind(id.as_str().to_owned())
            .fetch_optional(&self.inner.pool)
            .await?;
        row.as_ref().map(rows::run).transpose()
    }

    /// The existing runs among these ids.
    pub async fn runs_of(&self, ids: &[RunId]) -> Result<Vec<RunRecord>, StoreError> {
        let ids: Vec<&str> = ids.iter().map(RunId::as_str).collect();
        let mut found = Vec::with_capacity(ids.len());
        for list in lists(&ids) {
            let sql = format!("SELECT {RUN_COLUMNS} FROM runs WHERE id IN ({})", places(1, list.len()));
            found.extend(self.all(AssertSqlSafe(sql), Values::texts("run", &list)?, rows::run).await?);
        }
        Ok(found)
    }

    /// Deletes an ended run: its plan, instances, attempts and commands, and its cached results. The caller
    /// deletes its files.
    pub async fn delete_run(&self, id: &RunId, audit: &AuditEntry) -> Result<Deleted, StoreError> {
        self.transact(async |connection| {
            // A server that leads it would continue to write its rows.
            let sql = format!(
                "SELECT live, COALESCE(lease_until, 0), (SELECT COUNT(*) FROM wishes \
                 WHERE handled = 0 AND run_id = $1) FROM runs WHERE id = $1{}",
                self.backend().pick("", " FOR UPDATE")
            );
            let values = Values::texts("run", &[id.as_str()])?;
            let query = sqlx::query_with(AssertSqlSafe(sql), values.arguments);
            let row = query.fetch_optional(&mut *connection).await?;
            let Some(row) = row else { return Ok(Deleted::Missing) };
            let mut columns = Columns::of("run", &row);
            let (live, led_until, wanted) = (columns.flag()?, columns.time()?, columns.flag()?);
            if live || led_until > audit.at || wanted {
                return Ok(Deleted::Live);
            }
            for sql in OF_RUN {
                execute(connection, *sql, Values::texts("run", &[id.as_str()])?).await?;
            }
            audit::write(connection, audit).await?;
            Ok(Deleted::Done)
        })
        .await
    }

    /// The runs whose id begins with this text or, if none does, ends with it; a few at most, newest first.
    /// Users type the end, because ids of the same hour begin alike.
    pub async fn find_run(&self, part: &str) -> Result<Vec<RunId>, StoreError> {
        let part = part.to_ascii_lowercase();
        if part.is_empty() || part.len() > 26 || !part.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Ok(Vec::new());
        }
        let mut connection = self.inner.pool.acquire().await?;
        let query = sqlx::query("SELECT id FROM runs WHERE id >= $1 AND id <= $2 ORDER BY id DESC LIMIT $3")
            .bind(part.clone())
            .bind(format!("{part:z<26}"))
            .bind(MATCHES);
        let found = collect(&mut connection, query, run_id).await?;
        if !found.is_empty() {
            return Ok(found);
        }
        let query = sqlx::query("SELECT id FROM runs WHERE id LIKE $1 ORDER BY id DESC LIMIT $2")
            .bind(format!("%{part}"))
            .bind(MATCHES);
        collect(&mut connection, query, run_id).await
    }

    /// The number of a pipeline's active runs: neither queued behind others, nor ended.
    pub async fn active_runs(&self, (project, pipeline): (&str, &str)) -> Result<u64, StoreError> {
        let row = sqlx::query(
            "SELECT COUNT(*) FROM runs WHERE project = $1 AND pipeline = $2 AND live = 1 \
             AND state IN ('running', 'cancelling')",
        )
        .bind(project.to_owned())
        .bind(pipeline.to_owned())
        .fetch_one(&self.inner.pool)
        .await?;
        Ok(u64::try_from(row.try_get::<i64, _>(0)?).unwrap_or(0))
    }

    /// The stored instances of a run, in the plan's order.
    pub async fn instances(&self, id: &RunId) -> Result<Vec<InstanceRecord>, StoreError> {
        let sql =
            format!("SELECT {INSTANCE_COLUMNS} FROM instances WHERE run_id = $1 ORDER BY task, instance");
        let query = sqlx::query(AssertSqlSafe(sql)).bind(id.as_str().to_owned());
        collect(&mut *self.inner.pool.acquire().await?, query, rows::instance).await
    }

    /// The stored expansions of a run, in the plan's order.
    pub async fn expansions(&self, id: &RunId) -> Result<Vec<ExpansionRecord>, StoreError> {
        let sql = format!("SELECT {EXPANSION_COLUMNS} FROM expansions WHERE run_id = $1 ORDER BY task");
        let query = sqlx::query(AssertSqlSafe(sql)).bind(id.as_str().to_owned());
        collect(&mut *self.inner.pool.acquire().await?, query, rows::expansion).await
    }

    /// All attempts of a run, ended ones included, in the plan's order.
    pub async fn attempts(&self, id: &RunId) -> Result<Vec<AttemptRecord>, StoreError> {
        let sql =
            format!("SELECT {ATTEMPT_COLUMNS} FROM attempts WHERE run_id = $1 ORDER BY task, instance, n");
        let query = sqlx::query(AssertSqlSafe(sql)).bind(id.as_str().to_owned());
        collect(&mut *self.inner.pool.acquire().await?, query, rows::attempt).await
    }
}

/// The rows deleted with a run, the run itself last.
const OF_RUN: &[&str] = &[
    "DELETE FROM attempts WHERE run_id = $1",
    "DELETE FROM instances WHERE run_id = $1",
    "DELETE FROM expansions WHERE run_id = $1",
    "DELETE FROM plans WHERE run_id = $1",
    "DELETE FROM wishes WHERE run_id = $1",
    "DELETE FROM cache WHERE run_id = $1",
    "DELETE FROM run_code WHERE run_id = $1",
    "DELETE FROM secret_uses WHERE run_id = $1",
    "UPDATE firings SET run_id = NULL WHERE run_id = $1",
    "DELETE FROM runs WHERE id = $1",
];
