//! Plans, stored in parts: a plan of 100,000 tasks is tens of megabytes of text, and never in memory as a
//! whole.

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::plan::{PlannedTask, RunPlan};
use cubeloom_domain::{RunId, TaskIx};
use futures::TryStreamExt;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::Store;
use crate::error::StoreError;
use crate::query::{lists, places};
use crate::values::{Columns, Values};

/// Tasks per part. Reads of stored plans depend on it: it must never change.
const TASKS: usize = 500;

/// Number of tasks that [`Store::first_tasks`] reads from each plan: those of one part.
pub const FIRST_TASKS: usize = TASKS;

impl Store {
    /// # Errors
    /// If a newer program version wrote the plan.
    pub async fn plan(&self, id: &RunId) -> Result<Option<RunPlan>, StoreError> {
        let mut connection = self.inner.pool.acquire().await?;
        let mut rows = sqlx::query("SELECT part_json FROM plans WHERE run_id = $1 ORDER BY part")
            .bind(id.as_str().to_owned())
            .fetch(&mut *connection);
        let Some(head) = rows.try_next().await? else { return Ok(None) };
        let mut plan: RunPlan = Columns::of("plan", &head).json()?;
        while let Some(part) = rows.try_next().await? {
            plan.tasks.extend(Columns::of("plan", &part).json::<Vec<PlannedTask>>()?);
        }
        Ok(Some(plan))
    }

    /// A run's plan without its tasks.
    ///
    /// # Errors
    /// If a newer program version wrote the plan.
    pub async fn plan_head(&self, id: &RunId) -> Result<Option<RunPlan>, StoreError> {
        let sql = "SELECT part_json FROM plans WHERE run_id = $1 AND part = 0";
        let read = |row: &AnyRow| Columns::of("plan", row).json::<RunPlan>();
        self.one(sql, Values::texts("plan", &[id.as_str()])?, read).await
    }

    /// One task of a run's plan, without reading the whole plan.
    ///
    /// # Errors
    /// If a newer program version wrote the plan.
    pub async fn planned_task(&self, id: &RunId, task: TaskIx) -> Result<Option<PlannedTask>, StoreError> {
        Ok(self.planned_tasks(id, &[task]).await?.remove(&task))
    }

    /// Several tasks of a run's plan; reads only the parts that contain them.
    ///
    /// # Errors
    /// If a newer program version wrote the plan.
    pub async fn planned_tasks(
        &self,
        id: &RunId,
        tasks: &[TaskIx],
    ) -> Result<BTreeMap<TaskIx, PlannedTask>, StoreError> {
        let mut found = BTreeMap::new();
        let parts: BTreeSet<usize> = tasks.iter().map(|task| task.index() / TASKS).collect();
        for part in parts {
            let mut values = Values::texts("plan", &[id.as_str()])?;
            values.int(i64::try_from(part + 1).unwrap_or(i64::MAX))?;
            let sql = "SELECT part_json FROM plans WHERE run_id = $1 AND part = $2";
            let read = |row: &AnyRow| Columns::of("plan", row).json::<Vec<PlannedTask>>();
            let here = self.one(sql, values, read).await?.unwrap_or_default();
            for (at, task) in (part * TASKS..).zip(here) {
                let at = TaskIx(u32::try_from(at).unwrap_or(u32::MAX));
                if tasks.contains(&at) {
                    found.insert(at, task);
                }
            }
        }
        Ok(found)
    }

    /// The first [`FIRST_TASKS`] tasks of these runs' plans; unordered. Plans without tasks are omitted.
    ///
    /// # Errors
    /// If a newer program version wrote a plan.
    pub async fn first_tasks(&self, runs: &[&RunId]) -> Result<Vec<(RunId, Vec<PlannedTask>)>, StoreError> {
        let ids: Vec<&str> = runs.iter().map(|run| run.as_str()).collect();
        let mut found = Vec::new();
        for list in lists(&ids) {
            let ids = places(1, list.len());
            let sql = format!("SELECT run_id, part_json FROM plans WHERE part = 1 AND run_id IN ({ids})");
            found.extend(self.all(AssertSqlSafe(sql), Values::texts("plan", &list)?, tasks_of_run).await?);
        }
        Ok(found)
    }
}

fn tasks_of_run(row: &AnyRow) -> Result<(RunId, Vec<PlannedTask>), StoreError> {
    let mut columns = Columns::of("plan", row);
    Ok((columns.parsed()?, columns.json()?))
}

/// A plan's parts as text: the plan without tasks, then the tasks.
pub(crate) fn parts(plan: &RunPlan) -> Result<Vec<String>, StoreError> {
    let head = RunPlan {
        context: plan.context.clone(),
        pipeline: plan.pipeline.clone(),
        parameters: plan.parameters.clone(),
        cluster: plan.cluster.clone(),
        place: plan.place.clone(),
        parallelism: plan.parallelism,
        max_active_runs: plan.max_active_runs,
        part: plan.part.clone(),
        templates: plan.templates.clone(),
        tasks: Vec::new(),
    };
    let unstorable =
        |error: serde_json::Error| StoreError::Unstorable { what: "plan", reason: error.to_string() };
    let head = serde_json::to_string(&head).map_err(unstorable);
    let tasks = plan.tasks.chunks(TASKS).map(|tasks| serde_json::to_string(tasks).map_err(unstorable));
    std::iter::once(head).chain(tasks).collect()
}

pub(crate) async fn insert(
    connection: &mut AnyConnection,
    run: &RunId,
    parts: Vec<String>,
) -> Result<(), StoreError> {
    for (part, text) in (0_i64..).zip(parts) {
        sqlx::query("INSERT INTO plans (run_id, part, part_json) VALUES ($1, $2, $3)")
            .bind(run.as_str().to_owned())
            .bind(part)
            .bind(text)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}
