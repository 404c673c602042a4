//! Writes the decisions of one engine pass.

use std::collections::BTreeSet;

use cubeloom_domain::failpoint;
use cubeloom_domain::record::Changes;
use cubeloom_domain::{RunId, TaskIx};
use sqlx::AnyConnection;

use crate::error::StoreError;
use crate::rows::{CACHE, EXPANSIONS, INSTANCES};
use crate::told::Told;
use crate::{Lease, Store, active, alerts, ends, hangs, models, nodes, usage};

impl Store {
    /// Writes the changes in one durable transaction: all or none.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if `lease` does not cover one of the runs; [`StoreError::TooManyActive`] if
    /// one of them cannot start yet.
    pub async fn commit(&self, lease: &Lease, changes: &Changes) -> Result<(), StoreError> {
        if changes.is_empty() {
            return Ok(());
        }
        let written = self.write_all(lease, changes).await;
        self.noticed(written)
    }

    async fn write_all(&self, lease: &Lease, changes: &Changes) -> Result<(), StoreError> {
        let runs = touched(changes);
        let told = Told::begin();
        let mut writer = self.writer().await?;
        let mut transaction = writer.begin(self.backend()).await?;
        self.confirm(&mut transaction, lease, &runs).await?;
        write(self, &mut transaction, lease, changes).await?;
        failpoint::hit("store.commit.before");
        transaction.commit().await?;
        writer.ended();
        told.kept();
        failpoint::hit("store.commit.after");
        self.inner.checkpoints.wrote(changes.instances.len() + changes.attempts.len() + 1);
        Ok(())
    }
}

async fn write(
    store: &Store,
    connection: &mut AnyConnection,
    lease: &Lease,
    changes: &Changes,
) -> Result<(), StoreError> {
    let (backend, mails) = (store.backend(), store.inner.mails);
    for (run, task) in &changes.unexpanded {
        forget_expansion(connection, run, *task).await?;
    }
    active::write_runs(backend, connection, lease, changes).await?;
    alerts::ended(connection, &changes.runs).await?;
    ends::fire(backend, connection, &changes.runs).await?;
    EXPANSIONS.write(backend, connection, &changes.expansions).await?;
    INSTANCES.write(backend, connection, &changes.instances).await?;
    // Before the write, because the stored state says which attempts are marked now.
    alerts::hanging(connection, &changes.attempts, mails).await?;
    usage::write_attempts(backend, connection, &changes.attempts, mails).await?;
    hangs::write_stacks(connection, &changes.stacks).await?;
    nodes::note_failures(connection, &changes.attempts).await?;
    CACHE.write(backend, connection, &changes.cache).await?;
    models::register(backend, connection, &changes.models).await?;
    for wish in &changes.wishes {
        sqlx::query("UPDATE wishes SET handled = 1 WHERE id = $1")
            .bind(*wish)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

async fn forget_expansion(
    connection: &mut AnyConnection,
    run: &RunId,
    task: TaskIx,
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM expansions WHERE run_id = $1 AND task = $2")
        .bind(run.as_str().to_owned())
        .bind(i64::from(task.0))
        .execute(connection)
        .await?;
    Ok(())
}

/// The ids of the runs in the changes, sorted, without duplicates.
fn touched(changes: &Changes) -> Vec<&str> {
    let mut runs: BTreeSet<&RunId> = BTreeSet::new();
    runs.extend(changes.runs.iter().map(|run| &run.id));
    runs.extend(changes.expansions.iter().map(|expansion| &expansion.run));
    runs.extend(changes.unexpanded.iter().map(|(run, _)| run));
    runs.extend(changes.instances.iter().map(|instance| &instance.run));
    runs.extend(changes.attempts.iter().map(|attempt| &attempt.key.run));
    runs.extend(changes.stacks.iter().map(|stacks| &stacks.key.run));
    runs.extend(changes.cache.iter().map(|entry| &entry.run));
    runs.extend(changes.models.iter().map(|model| &model.origin.attempt.run));
    runs.into_iter().map(RunId::as_str).collect()
}
