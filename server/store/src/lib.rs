//! The database: all SQL of Cubeloom, in one dialect for SQLite and PostgreSQL.
//!
//! A [`Store`] is a handle that clones cheaply. [`Store::commit`] writes the decisions of one engine pass as
//! one transaction. It succeeds only while the engine leases the runs that it changes.

mod active;
mod alerts;
mod audit;
mod audit_streams;
mod backend;
mod backfills;
mod breaks;
mod budgets;
mod cache;
mod checkpoint;
mod clusters;
mod code;
mod commit;
mod conditions;
mod defined;
mod device_codes;
mod ends;
mod error;
mod figures;
mod firings;
mod gpu_series;
mod grid;
mod hangs;
mod holding;
mod hooks;
mod idempotency;
mod instances;
mod last;
mod learned;
mod lease;
mod lengths;
mod limits;
mod links;
mod listen;
mod load;
mod members;
mod models;
mod named;
mod nodes;
mod noticed;
mod open;
mod pipelines;
mod plans;
mod preflight;
mod prices;
mod priority_classes;
mod projects;
mod query;
mod queues;
mod registries;
mod reserve;
mod revision;
mod rows;
mod run_filter;
mod runs;
mod schedules;
mod schema;
mod sealed;
mod search;
mod secrets;
mod sessions;
mod sizing;
mod templates;
#[cfg(test)]
mod tests;
mod tokens;
mod told;
mod upsert;
mod usage;
mod user_filter;
mod users;
mod values;
mod versions;
mod volumes;
mod waiting;
mod wishes;
mod writer;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use sqlx::{AnyConnection, AnyPool};
use tokio::sync::{Mutex, watch};

pub use active::{Ahead, RunElsewhere};
pub use alerts::{Batch, IdleCards, QuotaUse, Receiver, Settled};
pub use audit::AuditFilter;
pub use audit_streams::AuditStream;
pub use backend::Backend;
pub use conditions::PageOf;
pub use error::StoreError;
pub use figures::{TaskFigures, TimedTry};
pub use firings::FiringFilter;
pub use gpu_series::{GpuPart, GpuRange};
pub use grid::{AttemptStart, FirstReport, InstanceGroup};
pub use holding::Holding;
pub use idempotency::Idempotent;
pub use instances::TaskCount;
pub use last::{LastAttempt, LastInstance};
pub use lease::Lease;
pub use limits::LimitedStart;
pub use models::{ModelSummary, VersionChange};
pub use noticed::{Hanging, Noticed};
pub use open::Options;
pub use pipelines::{PipelineFilter, PipelineOrder, PipelineSummary};
pub use plans::FIRST_TASKS;
pub use queues::TreeChange;
pub use reserve::ReserveState;
pub use revision::{Change, Created};
pub use run_filter::{RunFilter, RunMark};
pub use runs::Deleted;
pub use sealed::SealedPlace;
pub use search::{NameMatch, NameSearch, RunMatch};
pub use templates::Stored;
pub use usage::UsageFilter;
pub use user_filter::{UserFilter, UserOrder};
pub use versions::{Expected, NewVersion, PipelineVersion, PutPipeline};
pub use waiting::{Waiting, WaitingElsewhere, WaitingTask};

use crate::breaks::Breaks;
use crate::reserve::Reserve;
use crate::told::Told;
use crate::writer::{Only, Pooled, Writer};

/// A handle to the database.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("backend", &self.inner.backend).finish_non_exhaustive()
    }
}

struct Inner {
    backend: Backend,
    /// For reading; on PostgreSQL for everything.
    pool: AnyPool,
    /// SQLite's one writing connection.
    writer: Option<Mutex<Only>>,
    wakes: watch::Sender<u64>,
    checkpoints: checkpoint::Pace,
    reserve: OnceLock<Arc<Reserve>>,
    breaks: Arc<Breaks>,
    /// The file of a SQLite database.
    file: Option<PathBuf>,
    /// Whether users get mail about their own runs.
    mails: bool,
    /// The notifications from other servers of a PostgreSQL database.
    _listening: Option<listen::Listening>,
}

impl Store {
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.inner.backend
    }

    /// A counter that changes when there may be work: a new run, or a command for a run. It carries no data,
    /// and several events may appear as one.
    #[must_use]
    pub fn wakes(&self) -> watch::Receiver<u64> {
        self.inner.wakes.subscribe()
    }

    /// Checks that the database is reachable and writable, with an ordinary writing transaction.
    pub async fn check(&self) -> Result<(), StoreError> {
        self.transact(async |connection| {
            let sql = "UPDATE counters SET value = value WHERE name = 'wishes'";
            sqlx::query(sql).execute(connection).await?;
            Ok(())
        })
        .await
    }

    /// The number of pooled connections, and of idle ones. On SQLite, those for reading.
    #[must_use]
    pub fn connections(&self) -> (u32, u32) {
        let idle = u32::try_from(self.inner.pool.num_idle()).unwrap_or(u32::MAX);
        (self.inner.pool.size(), idle)
    }

    /// Closes the connections; the handle and its clones are unusable afterwards.
    pub async fn close(&self) {
        self.inner.pool.close().await;
        if let Some(writer) = &self.inner.writer {
            checkpoint::last(writer.lock().await.connection()).await;
        }
    }

    async fn writer(&self) -> Result<Writer<'_>, StoreError> {
        match &self.inner.writer {
            Some(writer) => {
                let mut only = writer.lock().await;
                let ready = only.ready().await.map_err(StoreError::from);
                self.noticed(ready)?;
                Ok(Writer::Only(only))
            }
            None => Ok(Writer::Pooled(Pooled::new(self.inner.pool.acquire().await?))),
        }
    }

    /// Runs `work` in one writing transaction: committed on `Ok`, rolled back otherwise.
    async fn transact<T>(
        &self,
        work: impl AsyncFnOnce(&mut AnyConnection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let told = Told::begin();
        let mut writer = self.writer().await?;
        let begun = writer.begin(self.backend()).await.map_err(StoreError::from);
        let mut transaction = self.noticed(begun)?;
        let result = work(&mut transaction).await;
        if result.is_ok() {
            let committed = transaction.commit().await.map_err(StoreError::from);
            self.noticed(committed)?;
            told.kept();
            writer.ended();
        } else if let Err(error) = transaction.rollback().await {
            // The database may have rolled back already. The original error is more useful.
            tracing::debug!(%error, "a rollback was refused");
        } else {
            writer.ended();
        }
        self.noticed(result)
    }

    fn wake(&self) {
        self.inner.wakes.send_modify(|count| *count += 1);
    }
}
