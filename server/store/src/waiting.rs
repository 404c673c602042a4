//! What waits, and why: instances that have what they need and do not run.

use std::collections::BTreeMap;

use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::record::InstanceRecord;
use cubeloom_domain::{InstanceIx, RunId, TaskIx, Timestamp};
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::Store;
use crate::conditions::Conditions;
use crate::error::StoreError;
use crate::query;
use crate::rows::{self, INSTANCE_COLUMNS};
use crate::values::{Columns, Values};

/// An instance that waits for a place, or for its next try.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// The project of its run.
    pub project: String,
    /// The pipeline of its run.
    pub pipeline: String,
    /// User who started the run.
    pub user: String,
    /// Name of the task.
    pub task: String,
    /// The cluster that its jobs go to.
    pub cluster: String,
    /// The task as it was planned; none where its plan has no such task.
    pub planned: Option<PlannedTask>,
    /// The instance; its state says why it waits.
    pub instance: InstanceRecord,
}

/// A task whose instances wait.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingTask {
    /// The instance that waits longest.
    pub first: Waiting,
    /// How many of its instances wait.
    pub count: u64,
}

/// That an instance waits: what its state's document says after `{"state":"`.
const WAITS: &str = "i.ended_at IS NULL AND SUBSTR(i.state_json, 11, 8) IN ('waiting\"', 'backoff\"')";

/// An instance that waits for a place, of a run that another server leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingElsewhere {
    /// The server.
    pub server: String,
    /// The project of its run.
    pub project: String,
    /// The pipeline of its run.
    pub pipeline: String,
    /// Whom its run acts for.
    pub user: String,
    /// Run.
    pub run: RunId,
    /// Task.
    pub task: TaskIx,
    /// Which of the task's instances it is.
    pub instance: InstanceIx,
    /// The number of the attempt that it waits to make.
    pub n: u32,
    /// Since when it waits.
    pub since: Timestamp,
    /// Until when it borrows nothing.
    pub cool_until: Option<Timestamp>,
}

impl Store {
    /// The instances that wait for a place, of runs that servers other than `owner` lead now: those that wait longest. What
    /// their runs' parallelism keeps back is not read, however much of it there is.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn waiting_elsewhere(
        &self,
        owner: &str,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<WaitingElsewhere>, StoreError> {
        let mut values = Values::texts("instance", &[owner])?;
        values.int(now.0)?.int(i64::try_from(limit).unwrap_or(i64::MAX))?;
        // The join says the order in which SQLite goes: from the few runs of others, not from all that waits.
        let sql = "SELECT r.lease_owner, r.project, r.pipeline, COALESCE(r.acting_user, r.user_name), i.run_id, i.task, \
                   i.instance, i.attempt, i.ready_at, i.cool_until FROM runs r CROSS JOIN instances i \
                   WHERE r.lease_owner IS NOT NULL AND r.lease_owner <> $1 AND r.lease_until >= $2 AND r.state = 'running' \
                   AND i.run_id = r.id AND i.queued = 1 ORDER BY i.ready_at, i.run_id, i.task, i.instance LIMIT $3";
        self.all(sql, values, |row| {
            let mut columns = Columns::of("instance", row);
            Ok(WaitingElsewhere {
                server: columns.text()?.into(),
                project: columns.text()?.into(),
                pipeline: columns.text()?.into(),
                user: columns.text()?.into(),
                run: columns.parsed()?,
                task: TaskIx(columns.int()?),
                instance: columns.int()?,
                n: columns.int::<u32>()?.saturating_add(1),
                since: columns.time()?,
                cool_until: columns.maybe_time()?,
            })
        })
        .await
    }

    /// The instances of a run that wait, those that were ready first.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn waiting_of(&self, run: &RunId, limit: usize) -> Result<Vec<InstanceRecord>, StoreError> {
        let mut values = Values::texts("instance", &[run.as_str()])?;
        values.int(i64::try_from(limit).unwrap_or(i64::MAX))?;
        let sql = format!(
            "SELECT {INSTANCE_COLUMNS} FROM instances WHERE run_id = $1 AND ended_at IS NULL \
             AND SUBSTR(state_json, 11, 8) = 'waiting\"' ORDER BY ready_at, task, instance LIMIT $2"
        );
        self.all(AssertSqlSafe(sql), values, rows::instance).await
    }

    /// The instances of a run that wait for a person's decision, those that were ready first.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn questions(&self, run: &RunId, limit: usize) -> Result<Vec<InstanceRecord>, StoreError> {
        let mut values = Values::texts("instance", &[run.as_str()])?;
        values.int(i64::try_from(limit).unwrap_or(i64::MAX))?;
        let sql = format!(
            "SELECT {INSTANCE_COLUMNS} FROM instances WHERE run_id = $1 AND ended_at IS NULL AND queued = 0 \
             AND state_json LIKE '{{\"state\":\"waiting\",%\"rule\":\"decision\"%' \
             ORDER BY ready_at, task, instance LIMIT $2"
        );
        self.all(AssertSqlSafe(sql), values, rows::instance).await
    }

    /// The instances that wait longest, of all projects or of these.
    ///
    /// # Errors
    /// When the database refuses, or a plan cannot be read.
    pub async fn waiting(
        &self,
        projects: Option<&[String]>,
        limit: usize,
    ) -> Result<Vec<Waiting>, StoreError> {
        let mut wanted = Conditions::new("instance");
        wanted.fixed("r.live = 1");
        wanted.fixed(WAITS);
        wanted.one_of("r.project", projects)?;
        let (wanted, limit, values) = wanted.limited(limit)?;
        let sql = format!(
            "SELECT {}, r.project, r.pipeline, r.user_name FROM runs r JOIN instances i ON i.run_id = r.id \
             WHERE {wanted} ORDER BY i.ready_at, i.run_id, i.task, i.instance LIMIT {limit}",
            query::of_table("i", INSTANCE_COLUMNS)
        );
        let mut found = self.all(AssertSqlSafe(sql), values, waiting).await?;
        self.add_plans(&mut found).await?;
        Ok(found)
    }

    /// The tasks whose instances wait, those that wait longest first, of all projects or of these; and how many tasks there
    /// are.
    ///
    /// # Errors
    /// When the database refuses, or a plan cannot be read.
    pub async fn waiting_tasks(
        &self,
        projects: Option<&[String]>,
        limit: usize,
    ) -> Result<(Vec<WaitingTask>, usize), StoreError> {
        let mut wanted = Conditions::new("instance");
        wanted.fixed("r.live = 1");
        wanted.fixed(WAITS);
        wanted.one_of("r.project", projects)?;
        let (wanted, all, values) = wanted.limited(usize::MAX)?;
        let sql = format!(
            "SELECT i.run_id, i.task, COUNT(*), MIN(i.ready_at) AS since FROM runs r \
             JOIN instances i ON i.run_id = r.id WHERE {wanted} \
             GROUP BY i.run_id, i.task ORDER BY since, i.run_id, i.task LIMIT {all}"
        );
        let groups = self.all(AssertSqlSafe(sql), values, group).await?;
        let mut counts = Vec::new();
        let mut first = Vec::new();
        for (run, task, count) in groups.iter().take(limit) {
            // It may have begun meanwhile.
            if let Some(found) = self.waits_longest(run, *task).await? {
                first.push(found);
                counts.push(*count);
            }
        }
        self.add_plans(&mut first).await?;
        let tasks = first.into_iter().zip(counts).map(|(first, count)| WaitingTask { first, count });
        Ok((tasks.collect(), groups.len()))
    }

    /// The instance of a task that waits longest.
    async fn waits_longest(&self, run: &RunId, task: TaskIx) -> Result<Option<Waiting>, StoreError> {
        let mut values = Values::texts("instance", &[run.as_str()])?;
        values.int(task.0)?;
        let sql = format!(
            "SELECT {}, r.project, r.pipeline, r.user_name FROM runs r JOIN instances i ON i.run_id = r.id \
             WHERE i.run_id = $1 AND i.task = $2 AND {WAITS} ORDER BY i.ready_at, i.instance LIMIT 1",
            query::of_table("i", INSTANCE_COLUMNS)
        );
        self.one(AssertSqlSafe(sql), values, waiting).await
    }

    /// Fills in what stands in the plans.
    async fn add_plans(&self, waiting: &mut [Waiting]) -> Result<(), StoreError> {
        let mut tasks: BTreeMap<RunId, Vec<TaskIx>> = BTreeMap::new();
        for one in waiting.iter() {
            tasks.entry(one.instance.run.clone()).or_default().push(one.instance.task);
        }
        for (run, tasks) in tasks {
            let planned = self.planned_tasks(&run, &tasks).await?;
            let cluster = self.plan_head(&run).await?.map(|plan| plan.cluster).unwrap_or_default();
            for one in waiting.iter_mut().filter(|one| one.instance.run == run) {
                one.planned = planned.get(&one.instance.task).cloned();
                one.task = one.planned.as_ref().map(|task| task.name.clone()).unwrap_or_default();
                one.cluster.clone_from(&cluster);
            }
        }
        Ok(())
    }
}

fn group(row: &AnyRow) -> Result<(RunId, TaskIx, u64), StoreError> {
    let mut columns = Columns::of("instance", row);
    Ok((columns.parsed()?, TaskIx(columns.int()?), columns.int()?))
}

fn waiting(row: &AnyRow) -> Result<Waiting, StoreError> {
    let mut columns = Columns::of("instance", row);
    let instance = rows::instance_from(&mut columns)?;
    Ok(Waiting {
        project: columns.text()?.into(),
        pipeline: columns.text()?.into(),
        user: columns.text()?.into(),
        task: String::new(),
        cluster: String::new(),
        planned: None,
        instance,
    })
}
