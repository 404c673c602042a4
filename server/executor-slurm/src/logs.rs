//! Workers' output: any server reads it from the shared file system.

use std::io;
use std::sync::Arc;

use cubeloom_domain::executor::{BoxFuture, Report};
use cubeloom_domain::logs::{Log, LogName, LogPiece, Logs};
use cubeloom_domain::usage::{Quantity, UsageSeries, WorkerUsage};
use cubeloom_domain::{AttemptKey, Timestamp};
use cubeloom_executor_local::afar;
use cubeloom_workers::place::Place;

use crate::executor::SlurmExecutor;

/// Runs blocking work on another thread.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}

impl SlurmExecutor {
    /// Reads an attempt's folder, if it is known.
    async fn reading<T: Default + Send + 'static>(
        &self,
        key: &AttemptKey,
        read: impl FnOnce(Place) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let (cluster, key) = (Arc::clone(&self.cluster), key.clone());
        let look = move || match cluster.folders.record(&key) {
            Some(record) => read(record.place()?),
            None => Ok(T::default()),
        };
        self.cluster.on_disk(look).await
    }
}

impl Logs for SlurmExecutor {
    fn logs<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<Log>>> {
        let (cluster, noted) = (Arc::clone(&self.cluster), key.clone());
        Box::pin(self.reading(key, move |folder| afar::logs(&folder, cluster.folders.workers(&noted))))
    }

    fn read<'a>(
        &'a self,
        key: &'a AttemptKey,
        name: &'a LogName,
        offset: u64,
        limit: usize,
    ) -> BoxFuture<'a, io::Result<LogPiece>> {
        let name = name.clone();
        Box::pin(async move {
            let read = move |folder| afar::read_log(&folder, &name, offset, limit).map(Some);
            let none = || LogPiece { next: offset, ..LogPiece::default() };
            Ok(self.reading(key, read).await?.unwrap_or_else(none))
        })
    }

    fn since<'a>(
        &'a self,
        key: &'a AttemptKey,
        name: &'a LogName,
        at: Timestamp,
    ) -> BoxFuture<'a, io::Result<u64>> {
        let name = name.clone();
        Box::pin(self.reading(key, move |folder| afar::log_since(&folder, &name, at)))
    }

    fn reported<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<Arc<Report>>>> {
        let (cluster, noted) = (Arc::clone(&self.cluster), key.clone());
        let read = move |folder| afar::reported(folder, cluster.folders.workers(&noted), &cluster.reports);
        Box::pin(self.reading(key, read))
    }
}

impl UsageSeries for SlurmExecutor {
    fn series<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<WorkerUsage>>> {
        let (cluster, noted) = (Arc::clone(&self.cluster), key.clone());
        Box::pin(self.reading(key, move |folder| afar::usage(folder, cluster.folders.workers(&noted))))
    }

    fn never_told(&self) -> &'static [Quantity] {
        // Workers share the network of their node.
        &[Quantity::Network]
    }
}
