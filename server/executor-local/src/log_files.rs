//! Logs of the executor port on this machine: files in the workers' folders, including attempts of earlier
//! servers.

use std::io;
use std::sync::Arc;

use cubeloom_domain::executor::{BoxFuture, Report};
use cubeloom_domain::logs::{Log, LogName, LogPiece, LogStream, Logs};
use cubeloom_domain::outcome::WorkerName;
use cubeloom_domain::{AttemptKey, Timestamp};

use crate::afar;
use crate::executor::{LocalExecutor, worker_name};
use crate::look::exit_record;
use crate::spec::{EXIT, STDERR, STDOUT};
use cubeloom_workers::place::{Place, is_absent};
use cubeloom_workers::{log_times, logs};

/// A worker's report file, below its folder.
pub(crate) const OUTPUTS: &str = "outputs.jsonl";

impl Logs for LocalExecutor {
    fn logs<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<Log>>> {
        let dir = self.machine.layout.attempt(key);
        Box::pin(blocking(move || list(&dir)))
    }

    fn read<'a>(
        &'a self,
        key: &'a AttemptKey,
        name: &'a LogName,
        offset: u64,
        limit: usize,
    ) -> BoxFuture<'a, io::Result<LogPiece>> {
        let folder = folder(self.machine.layout.attempt(key), &name.worker);
        let stream = name.stream;
        Box::pin(blocking(move || read(&folder?, stream, offset, limit)))
    }

    fn since<'a>(
        &'a self,
        key: &'a AttemptKey,
        name: &'a LogName,
        at: Timestamp,
    ) -> BoxFuture<'a, io::Result<u64>> {
        let folder = folder(self.machine.layout.attempt(key), &name.worker);
        let stream = name.stream;
        Box::pin(blocking(move || since(&folder?, stream, at)))
    }

    fn reported<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<Arc<Report>>>> {
        let (dir, machine) = (self.machine.layout.attempt(key), Arc::clone(&self.machine));
        Box::pin(blocking(move || afar::reported(&dir, workers(&dir)?, &machine.reports)))
    }
}

pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}

/// A worker's folder. Its name comes from outside: it must be a single path component.
pub(crate) fn folder(dir: impl Into<Place>, worker: &WorkerName) -> io::Result<Place> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if worker.role.is_empty() || !worker.role.chars().all(plain) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not the name of a worker"));
    }
    Ok(dir.into().join(worker.to_string()))
}

fn file_name(stream: LogStream) -> &'static str {
    match stream {
        LogStream::Stdout => STDOUT,
        LogStream::Stderr => STDERR,
    }
}

/// Workers that have or had a shim.
pub(crate) fn workers(dir: impl Into<Place>) -> io::Result<Vec<WorkerName>> {
    let dir = dir.into();
    let names = match dir.names() {
        Ok(names) => names,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    // A worker that never had a shim has no logs.
    let has_logs = |name: &std::ffi::OsString| dir.join(name).join(STDOUT).exists();
    let mut workers: Vec<WorkerName> =
        names.iter().filter(|name| has_logs(name)).map(|name| worker_name(&name.to_string_lossy())).collect();
    workers.sort();
    Ok(workers)
}

pub(crate) fn list(dir: impl Into<Place>) -> io::Result<Vec<Log>> {
    let dir = dir.into();
    of(&dir, workers(&dir)?)
}

/// The logs of these workers.
pub(crate) fn of(dir: &Place, workers: Vec<WorkerName>) -> io::Result<Vec<Log>> {
    let mut logs = Vec::with_capacity(workers.len() * 2);
    for worker in workers {
        for stream in [LogStream::Stdout, LogStream::Stderr] {
            let length = logs::len(folder(dir, &worker)?.join(file_name(stream)))?;
            logs.push(Log { name: LogName { worker: worker.clone(), stream }, length });
        }
    }
    Ok(logs)
}

pub(crate) fn read(
    folder: impl Into<Place>,
    stream: LogStream,
    offset: u64,
    limit: usize,
) -> io::Result<LogPiece> {
    let folder = folder.into();
    // Check this first: output written after the last check is read by the next call.
    let over = folder.join(EXIT).exists();
    let place = folder.join(file_name(stream));
    let piece = logs::range(&place, offset, limit)?;
    let ended = over && place.exists() && piece.next >= logs::len(&place)?;
    let mut marks =
        if piece.bytes.is_empty() { Vec::new() } else { log_times::between(&place, offset, piece.next)? };
    let known = marks.last().is_some_and(|last| last.end >= piece.next);
    // Output after the shim's last mark is recent; all output of a brief worker dates from its last write.
    if !known && (!over || was_brief(&folder)) {
        marks.extend(log_times::present(&place).ok().filter(|present| present.end >= piece.next));
    }
    Ok(LogPiece { bytes: piece.bytes, next: piece.next, ended, marks })
}

/// Offset up to which a log is known to be older than a time.
pub(crate) fn since(folder: impl Into<Place>, stream: LogStream, at: Timestamp) -> io::Result<u64> {
    let folder = folder.into();
    let place = folder.join(file_name(stream));
    let older = log_times::since(&place, at)?;
    // All output of a brief worker dates from its last write.
    let all =
        older == 0 && was_brief(&folder) && log_times::present(&place).is_ok_and(|present| present.at < at);
    if all { logs::len(&place) } else { Ok(older) }
}

/// Whether an ended worker left no marks because it ran only briefly.
fn was_brief(folder: &Place) -> bool {
    let exit = exit_record(folder);
    let ran = exit.and_then(|exit| exit.started_at.map(|began| exit.ended_at.since(began)));
    ran.is_some_and(|ran| ran < log_times::BRIEF)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::spec::STARTED;

    #[test]
    fn a_worker_is_no_way_out_of_its_attempt() {
        for role in ["", "..", "../other", "a/b", "a\0b"] {
            let worker = WorkerName { role: role.into(), index: 0 };
            assert!(folder(Path::new("/data/runs/r/t.0.1"), &worker).is_err(), "{role}");
        }
    }

    #[test]
    fn a_log_has_ended_when_its_worker_has_and_all_of_it_was_read() {
        let dir = tempfile::tempdir().unwrap();
        let worker = dir.path().join("worker-0");
        std::fs::create_dir(&worker).unwrap();
        std::fs::write(worker.join(STARTED), "{}").unwrap();
        std::fs::write(worker.join(STDOUT), "one\ntwo\n").unwrap();
        assert!(!read(&worker, LogStream::Stdout, 0, 100).unwrap().ended, "it runs");
        std::fs::rename(worker.join(STARTED), worker.join(EXIT)).unwrap();
        let piece = read(&worker, LogStream::Stdout, 0, 4).unwrap();
        assert_eq!((piece.bytes.as_slice(), piece.next, piece.ended), (b"one\n".as_slice(), 4, false));
        assert!(read(&worker, LogStream::Stdout, 4, 4).unwrap().ended);
        let names: Vec<String> =
            list(dir.path()).unwrap().iter().map(|log| log.name.stream.as_str().to_owned()).collect();
        assert_eq!(names, ["stdout", "stderr"]);
        assert!(list(dir.path().join("none")).unwrap().is_empty());
    }
}
