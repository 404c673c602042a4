//! What workers wrote: read from the file system that all nodes share, by whichever server.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::executor::{BoxFuture, Report};
use cubeloom_domain::logs::{Log, LogName, LogPiece, Logs};
use cubeloom_domain::usage::{Quantity, UsageSeries, WorkerUsage};
use cubeloom_executor_local::afar;

use crate::executor::SlurmExecutor;

/// Reads an attempt's folder where it is known, blocking, on a thread for that.
async fn reading<T: Default + Send + 'static>(
    folder: Option<PathBuf>,
    read: impl FnOnce(PathBuf) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let Some(folder) = folder else { return Ok(T::default()) };
    tokio::task::spawn_blocking(move || read(folder)).await.map_err(io::Error::other)?
}

impl SlurmExecutor {
    fn folder(&self, key: &AttemptKey) -> Option<PathBuf> {
        self.cluster.folders.record(key).map(|record| record.folder)
    }
}

impl Logs for SlurmExecutor {
    fn logs<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<Log>>> {
        Box::pin(reading(self.folder(key), |folder| afar::logs(&folder)))
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
            let none = LogPiece { next: offset, ..LogPiece::default() };
            let Some(folder) = self.folder(key) else { return Ok(none) };
            reading(Some(folder), move |folder| afar::read_log(&folder, &name, offset, limit)).await
        })
    }

    fn reported<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<Arc<Report>>>> {
        let cluster = Arc::clone(&self.cluster);
        Box::pin(reading(self.folder(key), move |folder| afar::reported(&folder, &cluster.reports)))
    }
}

impl UsageSeries for SlurmExecutor {
    fn series<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<WorkerUsage>>> {
        Box::pin(reading(self.folder(key), |folder| afar::usage(&folder)))
    }

    fn never_told(&self) -> &'static [Quantity] {
        // Workers share the network of their node.
        &[Quantity::Network]
    }
}
