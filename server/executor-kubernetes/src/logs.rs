//! Logs of the executor port: files that the pods' logs are followed into.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cubeloom_domain::executor::{BoxFuture, Report};
use cubeloom_domain::logs::{Log, LogName, LogPiece, LogStream, Logs};
use cubeloom_domain::outcome::WorkerName;
use cubeloom_domain::{AttemptKey, Timestamp};
use cubeloom_files::own;
use cubeloom_workers::{log_times, logs};

use crate::executor::KubernetesExecutor;
use crate::folders::{DONE, LOG};
use crate::outputs;

impl Logs for KubernetesExecutor {
    fn logs<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<Log>>> {
        let folder = self.cluster.folders.attempt(key);
        Box::pin(blocking(move || {
            let workers = workers(&folder)?.into_iter();
            let log = |worker: WorkerName| {
                let length = logs::len(folder.join(worker.to_string()).join(LOG))?;
                // Kubernetes merges both streams of a container.
                Ok(Log { name: LogName { worker, stream: LogStream::Stdout }, length })
            };
            workers.map(log).collect()
        }))
    }

    fn read<'a>(
        &'a self,
        key: &'a AttemptKey,
        name: &'a LogName,
        offset: u64,
        limit: usize,
    ) -> BoxFuture<'a, io::Result<LogPiece>> {
        let folder = self.worker_folder(key, &name.worker);
        let stream = name.stream;
        Box::pin(blocking(move || match stream {
            LogStream::Stdout => piece(&folder?, offset, limit),
            LogStream::Stderr => Ok(LogPiece { next: offset, ended: true, ..LogPiece::default() }),
        }))
    }

    fn since<'a>(
        &'a self,
        key: &'a AttemptKey,
        name: &'a LogName,
        at: Timestamp,
    ) -> BoxFuture<'a, io::Result<u64>> {
        let folder = self.worker_folder(key, &name.worker);
        let stream = name.stream;
        Box::pin(blocking(move || match stream {
            LogStream::Stdout => log_times::since(folder?.join(LOG), at),
            LogStream::Stderr => Ok(0),
        }))
    }

    fn reported<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<Arc<Report>>>> {
        let cluster = Arc::clone(&self.cluster);
        let known = self.jobs().get(key).cloned();
        Box::pin(blocking(move || match known {
            Some(job) => outputs::so_far(&cluster, &job),
            None => Ok(Vec::new()),
        }))
    }
}

impl KubernetesExecutor {
    /// A worker's folder. Its name comes from outside: it must be a single path component.
    fn worker_folder(&self, key: &AttemptKey, worker: &WorkerName) -> io::Result<PathBuf> {
        if worker.role.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
            return Ok(self.cluster.folders.worker(key, worker));
        }
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not the name of a worker"))
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}

/// Workers that have a log, or could have one.
fn workers(folder: &Path) -> io::Result<Vec<WorkerName>> {
    let entries = match own::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut workers = Vec::new();
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let Some((role, index)) = name.rsplit_once('-') else { continue };
        let Ok(index) = index.parse() else { continue };
        workers.push(WorkerName { role: role.into(), index });
    }
    workers.sort();
    Ok(workers)
}

fn piece(folder: &Path, offset: u64, limit: usize) -> io::Result<LogPiece> {
    // Check this first: output written after the last check is read by the next call.
    let over = folder.join(DONE).exists();
    let path = folder.join(LOG);
    let piece = logs::range(&path, offset, limit)?;
    let ended = over && piece.next >= logs::len(&path)?;
    let marks =
        if piece.bytes.is_empty() { Vec::new() } else { log_times::between(&path, offset, piece.next)? };
    Ok(LogPiece { bytes: piece.bytes, next: piece.next, ended, marks })
}
