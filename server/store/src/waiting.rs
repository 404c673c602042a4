//! What waits, and why: instances that have what they need and do not run.

use std::collections::BTreeMap;

use cubeloom_domain::record::InstanceRecord;
use cubeloom_domain::{RunId, TaskIx};
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::Store;
use crate::conditions::Conditions;
use crate::error::StoreError;
use crate::rows;
use crate::values::Columns;

/// An instance that waits for a place, or for its next try.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// The project of its run.
    pub project: String,
    /// The pipeline of its run.
    pub pipeline: String,
    /// The task's name.
    pub task: String,
    /// The instance; its state says why it waits.
    pub instance: InstanceRecord,
}

impl Store {
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
        wanted.fixed("r.live = 1 AND i.ended_at IS NULL");
        // What a state's document says after `{"state":"`.
        wanted.fixed("SUBSTR(i.state_json, 11, 8) IN ('waiting\"', 'backoff\"')");
        if let Some(projects) = projects {
            let projects: Vec<&str> = projects.iter().map(String::as_str).collect();
            wanted.any_of("r.project", &projects)?;
        }
        let (wanted, limit, values) = wanted.limited(limit)?;
        let sql = format!(
            "SELECT i.run_id, i.task, i.instance, i.state_json, i.attempt, i.tries, i.ready_at, i.ended_at, \
             i.report_json, i.note, r.project, r.pipeline FROM runs r JOIN instances i ON i.run_id = r.id \
             WHERE {wanted} ORDER BY i.ready_at, i.run_id, i.task, i.instance LIMIT {limit}"
        );
        let mut found = self.all(AssertSqlSafe(sql), values, waiting).await?;
        self.name_tasks(&mut found).await?;
        Ok(found)
    }

    /// Fills in the tasks' names, which stand in the plans.
    async fn name_tasks(&self, waiting: &mut [Waiting]) -> Result<(), StoreError> {
        let mut tasks: BTreeMap<RunId, Vec<TaskIx>> = BTreeMap::new();
        for one in waiting.iter() {
            tasks.entry(one.instance.run.clone()).or_default().push(one.instance.task);
        }
        for (run, tasks) in tasks {
            let planned = self.planned_tasks(&run, &tasks).await?;
            for one in waiting.iter_mut().filter(|one| one.instance.run == run) {
                one.task = planned.get(&one.instance.task).map(|task| task.name.clone()).unwrap_or_default();
            }
        }
        Ok(())
    }
}

fn waiting(row: &AnyRow) -> Result<Waiting, StoreError> {
    let mut columns = Columns::of("instance", row);
    let instance = rows::instance_from(&mut columns)?;
    let (project, pipeline) = (columns.text()?.into(), columns.text()?.into());
    Ok(Waiting { project, pipeline, task: String::new(), instance })
}
