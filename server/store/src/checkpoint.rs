//! SQLite's checkpoints, in the background: the engine's commits only append to the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sqlx::{AnyConnection, Row};
use tokio::sync::Notify;

use crate::{Inner, Store};

/// Rows written before a checkpoint is worth its two fsyncs.
const ROWS: usize = 2_000;

/// Pages of the log (4 KiB each) above which writers wait once, so that the log restarts from its beginning.
const LOG_PAGES: i64 = 16_384;

/// Works only on pages that no reader needs, and never waits.
const CHECKPOINT: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// Counts written rows, and decides when a checkpoint is due.
#[derive(Default)]
pub(crate) struct Pace {
    rows: AtomicUsize,
    enough: Arc<Notify>,
}

impl Pace {
    /// Records committed rows.
    pub(crate) fn wrote(&self, rows: usize) {
        if self.rows.fetch_add(rows, Ordering::Relaxed) + rows >= ROWS {
            self.rows.store(0, Ordering::Relaxed);
            self.enough.notify_one();
        }
    }
}

impl Drop for Pace {
    fn drop(&mut self) {
        self.enough.notify_one();
    }
}

/// Runs checkpoints as long as the store is in use.
pub(crate) fn start(store: &Store) {
    let enough = store.inner.checkpoints.enough.clone();
    let store = Arc::downgrade(&store.inner);
    tokio::spawn(async move {
        loop {
            enough.notified().await;
            let Some(store) = store.upgrade() else { return };
            if let Err(error) = checkpoint(&store).await {
                tracing::warn!(%error, "the database's log could not be checkpointed; it keeps growing");
            }
        }
    });
}

async fn checkpoint(store: &Inner) -> Result<(), sqlx::Error> {
    let mut reader = store.pool.acquire().await?;
    let row = sqlx::query(CHECKPOINT).fetch_one(&mut *reader).await?;
    let pages: i64 = row.try_get(1)?;
    drop(reader);
    if pages > LOG_PAGES
        && let Some(writer) = &store.writer
    {
        // Without an active writer it reaches the end of the log, and the next commit restarts the log.
        sqlx::query(CHECKPOINT).execute(writer.lock().await.connection()).await?;
    }
    Ok(())
}

/// The last checkpoint, at shutdown: afterwards the file alone contains everything.
pub(crate) async fn last(writer: &mut AnyConnection) {
    if let Err(error) = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(writer).await {
        tracing::warn!(%error, "the database's log could not be checkpointed; the next start will do it");
    }
}
