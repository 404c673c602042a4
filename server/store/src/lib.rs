//! The database: all SQL of Cubeloom, one text for SQLite and PostgreSQL.
//!
//! A [`Store`] is a handle that clones cheaply. What the engine decided in one pass goes through
//! [`Store::commit`] as one transaction, which holds only while the engine leases the runs that it touches.

mod backend;
mod cache;
mod checkpoint;
mod commit;
mod error;
mod lease;
mod listen;
mod load;
mod open;
mod pipelines;
mod plans;
mod query;
mod rows;
mod runs;
mod schema;
mod templates;
#[cfg(test)]
mod tests;
mod upsert;
mod values;
mod wishes;

use std::sync::Arc;

use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyConnection, AnyPool, Connection, Transaction};
use tokio::sync::{Mutex, MutexGuard, watch};

pub use backend::Backend;
pub use error::StoreError;
pub use lease::Lease;
pub use open::Options;
pub use pipelines::{PipelineSummary, PipelineVersion};
pub use runs::RunFilter;
pub use templates::Stored;

/// A handle to the database.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    backend: Backend,
    /// For reading; on PostgreSQL for everything.
    pool: AnyPool,
    /// SQLite's one writing connection.
    writer: Option<Mutex<AnyConnection>>,
    wakes: watch::Sender<u64>,
    checkpoints: checkpoint::Pace,
    /// To the other servers of a PostgreSQL database.
    _listening: Option<listen::Listening>,
}

/// A connection that may write.
enum Writer<'s> {
    Only(MutexGuard<'s, AnyConnection>),
    Pooled(Pooled),
}

/// A connection of the pool. One that is given up between the beginning and the end of a transaction, because its
/// future was dropped, is closed: back in the pool it would hold its locks until somebody used it again.
struct Pooled {
    connection: PoolConnection<Any>,
    begun: bool,
}

impl Drop for Pooled {
    fn drop(&mut self) {
        if self.begun {
            self.connection.close_on_drop();
        }
    }
}

impl Store {
    /// Which database holds the data.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.inner.backend
    }

    /// Counts the moments at which there may be something new to do: a run was created, or somebody wants
    /// something of one. It carries no data, and several moments may show as one.
    #[must_use]
    pub fn wakes(&self) -> watch::Receiver<u64> {
        self.inner.wakes.subscribe()
    }

    /// Whether the database can be reached and written: it writes.
    ///
    /// # Errors
    /// When it cannot, and why.
    pub async fn check(&self) -> Result<(), StoreError> {
        let mut writer = self.writer().await?;
        sqlx::query("UPDATE counters SET value = value WHERE name = 'wishes'").execute(writer.get()).await?;
        Ok(())
    }

    /// Ends the connections, after which the handle and its clones are of no use.
    pub async fn close(&self) {
        self.inner.pool.close().await;
        if let Some(writer) = &self.inner.writer {
            checkpoint::last(&mut *writer.lock().await).await;
        }
    }

    async fn writer(&self) -> Result<Writer<'_>, StoreError> {
        match &self.inner.writer {
            Some(writer) => Ok(Writer::Only(writer.lock().await)),
            None => {
                let connection = self.inner.pool.acquire().await?;
                Ok(Writer::Pooled(Pooled { connection, begun: false }))
            }
        }
    }

    fn wake(&self) {
        self.inner.wakes.send_modify(|count| *count += 1);
    }
}

impl Writer<'_> {
    fn get(&mut self) -> &mut AnyConnection {
        match self {
            Self::Only(connection) => connection,
            Self::Pooled(pooled) => &mut pooled.connection,
        }
    }

    /// Begins a transaction; [`Writer::ended`] must be told of its commit.
    async fn begin(&mut self, backend: Backend) -> Result<Transaction<'_, Any>, sqlx::Error> {
        if let Self::Pooled(pooled) = self {
            pooled.begun = true;
        }
        self.get().begin_with(backend.begin()).await
    }

    /// The transaction is committed.
    fn ended(&mut self) {
        if let Self::Pooled(pooled) = self {
            pooled.begun = false;
        }
    }
}
