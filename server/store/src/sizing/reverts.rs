//! Tasks whose right-sizing was reverted: they get their requested resources until it is resumed.

use std::collections::BTreeSet;

use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::sizing::Reverted;
use sqlx::any::AnyRow;

use crate::error::StoreError;
use crate::query::execute;
use crate::values::{Columns, Values};
use crate::{Store, audit};

impl Store {
    /// The tasks of a pipeline whose right-sizing was reverted.
    pub(crate) async fn reverted_tasks(
        &self,
        project: &str,
        pipeline: &str,
    ) -> Result<BTreeSet<String>, StoreError> {
        let read = |row: &AnyRow| Ok(Columns::of("task", row).text()?.to_owned());
        let sql = "SELECT task_name FROM size_reverts WHERE project = $1 AND pipeline = $2";
        Ok(self.all(sql, Values::texts("task", &[project, pipeline])?, read).await?.into_iter().collect())
    }

    /// The user who reverted the right-sizing of a task, and the time.
    pub async fn sizing_reverted(
        &self,
        project: &str,
        pipeline: &str,
        task: &str,
    ) -> Result<Option<Reverted>, StoreError> {
        let read = |row: &AnyRow| {
            let mut columns = Columns::of("task", row);
            Ok(Reverted {
                project: project.into(),
                pipeline: pipeline.into(),
                task: task.into(),
                by: columns.text()?.into(),
                at: columns.time()?,
            })
        };
        let sql = "SELECT user_name, reverted_at FROM size_reverts \
                   WHERE project = $1 AND pipeline = $2 AND task_name = $3";
        self.one(sql, Values::texts("task", &[project, pipeline, task])?, read).await
    }

    /// Reverts the right-sizing of a task. The first user who did so stays recorded.
    pub async fn revert_sizing(&self, reverted: &Reverted, audit: &AuditEntry) -> Result<(), StoreError> {
        let Reverted { project, pipeline, task, by, at } = reverted;
        self.transact(async |connection| {
            let mut values = Values::texts("task", &[project, pipeline, task, by])?;
            values.int(at.0)?;
            let sql = "INSERT INTO size_reverts (project, pipeline, task_name, user_name, reverted_at) \
                       VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
            execute(connection, sql, values).await?;
            audit::write(connection, audit).await
        })
        .await
    }

    /// Resumes the right-sizing of a task.
    pub async fn resume_sizing(
        &self,
        project: &str,
        pipeline: &str,
        task: &str,
        audit: &AuditEntry,
    ) -> Result<(), StoreError> {
        self.transact(async |connection| {
            let sql = "DELETE FROM size_reverts WHERE project = $1 AND pipeline = $2 AND task_name = $3";
            execute(connection, sql, Values::texts("task", &[project, pipeline, task])?).await?;
            audit::write(connection, audit).await
        })
        .await
    }
}
