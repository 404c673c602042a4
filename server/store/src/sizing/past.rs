//! Usage history: requests and usage of the last attempts, stored by task and role when their end is first
//! written, so that reads need no attempts.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cubeloom_domain::RunId;
use cubeloom_domain::pipeline::SizingMode;
use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::sizing::{KEPT, Past, RoleHistory, SizingHistory};
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use crate::Store;
use crate::backend::Backend;
use crate::error::StoreError;
use crate::learned::Learned;
use crate::usage::Origin;
use crate::values::{Columns, Values};

const COLUMNS: &[&str] = &["project", "pipeline", "task_name", "template", "role", "past_json"];

static SIZES: Learned<5> = Learned::new("sizes", COLUMNS);

/// Project, pipeline, task, template and role; pipeline and task are empty for totals of the template.
type Key = [String; 5];

impl Store {
    /// The usage history of a pipeline's tasks, and their project's right-sizing settings.
    pub async fn sizing(&self, project: &str, pipeline: &str) -> Result<SizingHistory, StoreError> {
        const ALL: &str = "SELECT task_name, template, role, past_json FROM sizes \
                           WHERE project = $1 AND pipeline IN ($2, '')";
        let mode = self.sizing_mode(project).await?;
        let mut history = SizingHistory::new(mode, self.reverted_tasks(project, pipeline).await?);
        let values = Values::texts("sizing", &[project, pipeline])?;
        self.all(ALL, values, read).await?.into_iter().for_each(|role| history.insert(role));
        Ok(history)
    }

    /// The same for a loaded run. Without automatic right-sizing, only its project's settings.
    pub(crate) async fn sizing_of_run(
        &self,
        project: &str,
        plan: &RunPlan,
    ) -> Result<SizingHistory, StoreError> {
        let wanted = SizingHistory::new(self.sizing_mode(project).await?, BTreeSet::new());
        if plan.tasks.iter().any(|task| wanted.mode_of(task) == SizingMode::Auto) {
            return self.sizing(project, &plan.pipeline).await;
        }
        Ok(wanted)
    }

    async fn sizing_mode(&self, project: &str) -> Result<SizingMode, StoreError> {
        let read = |row: &AnyRow| Columns::of("project", row).word();
        let sql = "SELECT sizing FROM projects WHERE name = $1";
        Ok(self.one(sql, Values::texts("project", &[project])?, read).await?.unwrap_or_default())
    }
}

fn read(row: &AnyRow) -> Result<RoleHistory, StoreError> {
    let mut columns = Columns::of("sizing", row);
    let task = columns.text()?.to_owned();
    Ok(RoleHistory {
        task: Some(task).filter(|task| !task.is_empty()),
        template: columns.text()?.into(),
        role: columns.text()?.into(),
        past: columns.json()?,
    })
}

/// Adds the usage of ended attempts that count.
pub(crate) async fn add(
    backend: Backend,
    connection: &mut AnyConnection,
    attempts: &[&AttemptRecord],
    origins: &HashMap<RunId, Origin>,
) -> Result<(), StoreError> {
    // Sorted, so that two servers that write the same rows never deadlock.
    let mut new: BTreeMap<Key, Vec<Past>> = BTreeMap::new();
    for attempt in attempts {
        let Some(origin) = origins.get(&attempt.key.run) else { continue };
        for (role, past) in Past::of(attempt) {
            let key = |pipeline: &str, task: &str| {
                [&origin.project, pipeline, task, &attempt.account.template, role].map(str::to_owned)
            };
            new.entry(key("", "")).or_default().push(past.clone());
            new.entry(key(&origin.pipeline, &attempt.key.task)).or_default().push(past);
        }
    }
    SIZES.append(backend, connection, new, KEPT).await
}
