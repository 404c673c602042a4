//! SQLite's checkpoints, moved off the engine's way: commits only ever append to the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sqlx::{AnyConnection, Row};
use tokio::sync::Notify;

use crate::{Inner, Store};

/// Rows written before a checkpoint is worth its two fsyncs.
const ROWS: usize = 2_000;

/// Pages of the log (4 KiB each) above which writers wait once, so that it starts again from its beginning.
const LOG_PAGES: i64 = 16_384;

/// It works in what no reader holds back, and waits for nobody.
const CHECKPOINT: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// Counts what was written, and says when it is enough.
#[derive(Default)]
pub(crate) struct Pace {
    rows: AtomicUsize,
    enough: Arc<Notify>,
}

impl Pace {
    /// Some rows were committed.
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

/// Makes checkpoints for as long as the store is in use.
pub(crate) fn start(store: &Store) {
    let enough = store.inner.checkpoints.enough.clone();
    let store = Arc::downgrade(&store.inner);
    tokio::spawn(async move {
        loop {
            enough.notified().await;
            let Some(store) = store.upgrade() else { return };
            if let Err(error) = checkpoint(&store).await {
                tracing::warn!(%error, "the database's log could not be worked into its file; it grows meanwhile");
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
        // With no writer under way it reaches the log's end, after which the next commit begins the log anew.
        sqlx::query(CHECKPOINT).execute(writer.lock().await.connection()).await?;
    }
    Ok(())
}

/// The last checkpoint, when the server stops: the file alone then holds everything.
pub(crate) async fn last(writer: &mut AnyConnection) {
    if let Err(error) = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(writer).await {
        tracing::warn!(%error, "the database's log stays beside its file; the next start works it in");
    }
}
