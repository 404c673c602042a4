//! Creating runs and looking at them.

use cubeloom_domain::RunId;
use cubeloom_domain::failpoint;
use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::record::{AttemptRecord, ExpansionRecord, InstanceRecord, RunRecord};
use cubeloom_domain::state::RunState;
use sqlx::{AssertSqlSafe, Row};

use crate::error::StoreError;
use crate::lease::run_id;
use crate::query::{collect, places};
use crate::rows::{self, ATTEMPT_COLUMNS, EXPANSION_COLUMNS, INSTANCE_COLUMNS, RUN_COLUMNS};
use crate::{Store, listen, plans};

/// The most ids that [`Store::find_run`] returns: more than one is a question to the person anyway.
const MATCHES: i64 = 20;

/// Which runs are wanted; the default is all of them.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    /// Only this project's.
    pub project: Option<String>,
    /// Only this pipeline's.
    pub pipeline: Option<String>,
    /// Only those in one of these states; empty for any.
    pub states: Vec<RunState>,
    /// At most this many.
    pub limit: Option<usize>,
    /// Only those older than this one, for the next page.
    pub before: Option<RunId>,
}

impl Store {
    /// Stores a new run and its plan.
    ///
    /// # Errors
    /// When the id exists, or the database refuses.
    pub async fn create_run(&self, record: &RunRecord, plan: &RunPlan) -> Result<(), StoreError> {
        let parts = plans::parts(plan)?;
        let mut writer = self.writer().await?;
        let mut transaction = writer.begin(self.backend()).await?;
        rows::insert_run(&mut transaction, record).await?;
        plans::insert(&mut transaction, &record.id, parts).await?;
        listen::notify(self.backend(), &mut transaction).await?;
        failpoint::hit("store.create_run.before");
        transaction.commit().await?;
        writer.ended();
        failpoint::hit("store.create_run.after");
        drop(writer);
        self.inner.checkpoints.wrote(plan.tasks.len());
        self.wake();
        Ok(())
    }

    /// A run.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn run(&self, id: &RunId) -> Result<Option<RunRecord>, StoreError> {
        let sql = format!("SELECT {RUN_COLUMNS} FROM runs WHERE id = $1");
        let row = sqlx::query(AssertSqlSafe(sql))
            .bind(id.as_str().to_owned())
            .fetch_optional(&self.inner.pool)
            .await?;
        row.as_ref().map(rows::run).transpose()
    }

    /// Runs, newest first.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRecord>, StoreError> {
        let (conditions, texts) = conditions(filter);
        let limit = filter.limit.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(i64::MAX);
        let sql = format!(
            "SELECT {RUN_COLUMNS} FROM runs WHERE {conditions} ORDER BY id DESC LIMIT ${}",
            texts.len() + 1
        );
        let mut query = sqlx::query(AssertSqlSafe(sql));
        for text in texts {
            query = query.bind(text);
        }
        collect(&mut *self.inner.pool.acquire().await?, query.bind(limit), rows::run).await
    }

    /// The runs whose id begins with this text or, when none does, ends with it; a few at most, newest first.
    /// People type the end: ids of the same hour begin alike.
    ///
    /// # Errors
    /// When the database refuses.
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

    /// How many runs of a pipeline are active: neither waiting for others, nor ended.
    ///
    /// # Errors
    /// When the database refuses.
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
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn instances(&self, id: &RunId) -> Result<Vec<InstanceRecord>, StoreError> {
        let sql =
            format!("SELECT {INSTANCE_COLUMNS} FROM instances WHERE run_id = $1 ORDER BY task, instance");
        let query = sqlx::query(AssertSqlSafe(sql)).bind(id.as_str().to_owned());
        collect(&mut *self.inner.pool.acquire().await?, query, rows::instance).await
    }

    /// The stored expansions of a run, in the plan's order.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn expansions(&self, id: &RunId) -> Result<Vec<ExpansionRecord>, StoreError> {
        let sql = format!("SELECT {EXPANSION_COLUMNS} FROM expansions WHERE run_id = $1 ORDER BY task");
        let query = sqlx::query(AssertSqlSafe(sql)).bind(id.as_str().to_owned());
        collect(&mut *self.inner.pool.acquire().await?, query, rows::expansion).await
    }

    /// Every attempt of a run, also those that have ended, in the plan's order.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn attempts(&self, id: &RunId) -> Result<Vec<AttemptRecord>, StoreError> {
        let sql =
            format!("SELECT {ATTEMPT_COLUMNS} FROM attempts WHERE run_id = $1 ORDER BY task, instance, n");
        let query = sqlx::query(AssertSqlSafe(sql)).bind(id.as_str().to_owned());
        collect(&mut *self.inner.pool.acquire().await?, query, rows::attempt).await
    }
}

/// The filter as SQL, and the texts for its parameters.
fn conditions(filter: &RunFilter) -> (String, Vec<String>) {
    let mut conditions = vec!["1 = 1".to_owned()];
    let mut texts = Vec::new();
    for (column, value) in [("project =", &filter.project), ("pipeline =", &filter.pipeline)] {
        if let Some(value) = value {
            texts.push(value.clone());
            conditions.push(format!("{column} ${}", texts.len()));
        }
    }
    if let Some(before) = &filter.before {
        texts.push(before.to_string());
        conditions.push(format!("id < ${}", texts.len()));
    }
    if !filter.states.is_empty() {
        conditions.push(format!("state IN ({})", places(texts.len() + 1, filter.states.len())));
        texts.extend(filter.states.iter().map(|state| state.as_str().to_owned()));
    }
    (conditions.join(" AND "), texts)
}
