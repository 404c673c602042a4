//! The quota tree: groups and projects. Each change is checked against the whole tree in its own transaction.

use std::collections::BTreeMap;

use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::quota::change::{QueueChange, changed};
use cubeloom_domain::quota::{Pool, Queue, QueueRecord, Quota, by_pool};
use serde::{Deserialize, Serialize};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::backend::Backend;
use crate::conditions::{Conditions, PageOf};
use crate::error::StoreError;
use crate::query::{collect, execute};
use crate::values::{Columns, Values};
use crate::{Store, audit, listen, projects};

/// The audit actions in the history of quotas, concurrency limits and priority classes.
const ACTIONS: [&str; 7] = [
    "queue.set",
    "queue.delete",
    "queue.change",
    "limit.set",
    "limit.delete",
    "priority_class.set",
    "priority_class.delete",
];

/// The outcome of changes to the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeChange {
    /// Done; the revision of each queue.
    Done(Vec<u64>),
    /// No change: another user has changed a queue.
    Stale {
        /// The index of the change.
        at: usize,
        /// The queue's current revision.
        present: u64,
    },
    /// No change: the queue does not exist; the index of the change.
    Missing(usize),
}

/// Every queue: the stored ones, and projects without quotas.
const ALL: &str = "SELECT kind, name, parent, quotas_json, revision FROM queues \
     UNION ALL SELECT 'project', p.name, NULL, '[]', 0 FROM projects p \
     WHERE NOT EXISTS (SELECT 1 FROM queues q WHERE q.kind = 'project' AND q.name = p.name)";

impl Store {
    /// The tree: all groups and all projects, by kind and name.
    pub async fn queues(&self) -> Result<Vec<QueueRecord>, StoreError> {
        tree(&mut *self.inner.pool.acquire().await?).await
    }

    /// Applies changes of different queues: all of them, or none. `check` gets the tree before and after,
    /// which is locked meanwhile; if it refuses, the tree stays unchanged.
    pub async fn change_queues<E>(
        &self,
        changes: &[QueueChange],
        audit: &AuditEntry,
        check: impl FnOnce(&[QueueRecord], &[QueueRecord]) -> Result<(), E>,
    ) -> Result<Result<TreeChange, E>, StoreError> {
        let made = self
            .transact(async |connection| {
                hold(self.backend(), connection).await?;
                let before = tree(connection).await?;
                let mut revisions = Vec::new();
                for (at, change) in changes.iter().enumerate() {
                    let present = before.iter().find(|other| other.queue == change.queue);
                    let present = present.map(|found| found.revision);
                    if !exists(self.backend(), connection, change, present).await? {
                        return Ok(Ok(TreeChange::Missing(at)));
                    }
                    let present = present.unwrap_or(0);
                    if change.expected.is_some_and(|expected| expected != present) {
                        return Ok(Ok(TreeChange::Stale { at, present }));
                    }
                    revisions.push(present + 1);
                }
                if let Err(refused) = check(&before, &changed(&before, changes)) {
                    return Ok(Err(refused));
                }
                for (change, revision) in changes.iter().zip(&revisions) {
                    write(connection, change, *revision).await?;
                }
                audit::write(connection, audit).await?;
                listen::notify(self.backend(), connection).await?;
                Ok(Ok(TreeChange::Done(revisions)))
            })
            .await?;
        if matches!(made, Ok(TreeChange::Done(_))) {
            // Pending tasks may start now.
            self.wake();
        }
        Ok(made)
    }

    /// The changes of the tree and of named limits, newest first, optionally of one name only. The subject of
    /// an audit entry has the names of all queues in a change, separated by spaces.
    pub async fn queue_history(
        &self,
        subject: Option<&str>,
        page: &PageOf<String>,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let mut wanted = Conditions::new("audit entry");
        wanted.any_of("action", &ACTIONS)?;
        wanted.word("subject", subject)?;
        wanted.text("id <", page.after.as_deref())?;
        let (wanted, limit, values) = wanted.limited(page.limit)?;
        let sql = format!(
            "SELECT {} FROM audit WHERE {wanted} ORDER BY id DESC LIMIT {limit}",
            audit::ENTRY_COLUMNS
        );
        self.all(AssertSqlSafe(sql), values, audit::entry).await
    }
}

/// Locks the tree until the transaction ends.
async fn hold(backend: Backend, connection: &mut AnyConnection) -> Result<(), StoreError> {
    let sql = backend.pick(
        "SELECT value FROM counters WHERE name = 'queues'",
        "SELECT value FROM counters WHERE name = 'queues' FOR UPDATE",
    );
    sqlx::query(sql).fetch_one(connection).await?;
    Ok(())
}

/// Whether the target of a change exists; a project cannot be deleted until the transaction ends.
async fn exists(
    backend: Backend,
    connection: &mut AnyConnection,
    change: &QueueChange,
    present: Option<u64>,
) -> Result<bool, StoreError> {
    let put = change.to.is_some();
    match &change.queue {
        Queue::Project(name) if put => projects::hold(backend, connection, name).await,
        Queue::Group(_) if put => Ok(true),
        _ => Ok(present.is_some_and(|revision| revision > 0)),
    }
}

async fn write(
    connection: &mut AnyConnection,
    QueueChange { queue, to, .. }: &QueueChange,
    revision: u64,
) -> Result<(), StoreError> {
    let counted = "UPDATE counters SET value = value + 1 WHERE name = 'queues'";
    execute(connection, counted, Values::new("counter", 0)).await?;
    let mut values = Values::texts("queue", &[kind(queue), queue.name()])?;
    let Some(to) = to else {
        execute(connection, "DELETE FROM queues WHERE kind = $1 AND name = $2", values).await?;
        return Ok(());
    };
    values.maybe_text(to.parent.as_deref())?.json(&Quotas(to.quotas.clone()))?.int(revision)?;
    let sql = "INSERT INTO queues (kind, name, parent, quotas_json, revision) VALUES ($1, $2, $3, $4, $5) \
               ON CONFLICT (kind, name) DO UPDATE SET parent = excluded.parent, \
               quotas_json = excluded.quotas_json, revision = excluded.revision";
    execute(connection, sql, values).await?;
    Ok(())
}

async fn tree(connection: &mut AnyConnection) -> Result<Vec<QueueRecord>, StoreError> {
    let mut found = collect(connection, sqlx::query(ALL), read).await?;
    found.sort_by(|one, other| one.queue.cmp(&other.queue));
    Ok(found)
}

/// The stored form of quotas.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Quotas(#[serde(with = "by_pool")] BTreeMap<Pool, Quota>);

fn kind(queue: &Queue) -> &'static str {
    match queue {
        Queue::Group(_) => "group",
        Queue::Project(_) => "project",
    }
}

fn read(row: &AnyRow) -> Result<QueueRecord, StoreError> {
    let mut columns = Columns::of("queue", row);
    let (kind, name) = (columns.text()?, columns.text()?.to_owned());
    let queue = if kind == "group" { Queue::Group(name) } else { Queue::Project(name) };
    let parent = columns.maybe_text()?;
    let Quotas(quotas) = columns.json()?;
    Ok(QueueRecord { queue, parent, quotas, revision: columns.int()? })
}
