//! Pending instances, with reasons: they are ready but do not run.

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

/// An instance that is pending, or waits for its retry.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    pub project: String,
    pub pipeline: String,
    pub user: String,
    pub task: String,
    /// The target cluster of its jobs.
    pub cluster: String,
    /// The planned task; `None` if the plan has no such task.
    pub planned: Option<PlannedTask>,
    /// The instance; its state has the pending reason.
    pub instance: InstanceRecord,
}

/// A task with pending instances.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingTask {
    /// The instance pending longest.
    pub first: Waiting,
    /// Number of pending instances.
    pub count: u64,
}

/// SQL for a pending instance: its state's JSON after `{"state":"`.
const WAITS: &str = "i.ended_at IS NULL AND SUBSTR(i.state_json, 11, 8) IN ('waiting\"', 'backoff\"')";

/// A pending instance of a run that another server leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingElsewhere {
    pub server: String,
    pub project: String,
    pub pipeline: String,
    /// The user that its run runs as.
    pub user: String,
    pub run: RunId,
    pub task: TaskIx,
    /// The index of the instance.
    pub instance: InstanceIx,
    /// The number of its next attempt.
    pub n: u32,
    /// Pending since this time.
    pub since: Timestamp,
    /// Until when it may not borrow quota.
    pub cool_until: Option<Timestamp>,
}

impl Store {
    /// The instances pending longest, of runs that servers other than `owner` lead now. Instances limited by
    /// their run's parallelism are not read, however many there are.
    pub async fn waiting_elsewhere(
        &self,
        owner: &str,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<WaitingElsewhere>, StoreError> {
        let mut values = Values::texts("instance", &[owner])?;
        values.int(now.0)?.int(i64::try_from(limit).unwrap_or(i64::MAX))?;
        // The join order makes SQLite start from the few runs of other servers, not from all pending
        // instances.
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

    /// The pending instances of a run, in the order in which they became ready.
    pub async fn waiting_of(&self, run: &RunId, limit: usize) -> Result<Vec<InstanceRecord>, StoreError> {
        let mut values = Values::texts("instance", &[run.as_str()])?;
        values.int(i64::try_from(limit).unwrap_or(i64::MAX))?;
        let sql = format!(
            "SELECT {INSTANCE_COLUMNS} FROM instances WHERE run_id = $1 AND ended_at IS NULL \
             AND SUBSTR(state_json, 11, 8) = 'waiting\"' ORDER BY ready_at, task, instance LIMIT $2"
        );
        self.all(AssertSqlSafe(sql), values, rows::instance).await
    }

    /// The instances of a run that wait for an approval, in the order in which they became ready.
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

    /// The instances pending longest, in all projects or in these.
    ///
    /// # Errors
    /// If a plan cannot be read.
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

    /// The tasks with pending instances, longest pending first, in all projects or in these; and the number
    /// of such tasks.
    ///
    /// # Errors
    /// If a plan cannot be read.
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
            // It may have started meanwhile.
            if let Some(found) = self.waits_longest(run, *task).await? {
                first.push(found);
                counts.push(*count);
            }
        }
        self.add_plans(&mut first).await?;
        let tasks = first.into_iter().zip(counts).map(|(first, count)| WaitingTask { first, count });
        Ok((tasks.collect(), groups.len()))
    }

    /// The instance of a task pending longest.
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

    /// Fills in the planned tasks.
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
