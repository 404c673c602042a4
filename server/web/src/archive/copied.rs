//! Reads archived logs: the index lists them, and the store returns the requested byte ranges.

use std::io;
use std::sync::Arc;

use cubeloom_domain::executor::{BoxFuture, Report};
use cubeloom_domain::logs::{Log, LogMark, LogName, LogPiece, LogStream, Logs};
use cubeloom_domain::outcome::WorkerName;
use cubeloom_domain::usage::WorkerUsage;
use cubeloom_domain::{AttemptKey, Timestamp};
use cubeloom_storage::browse::{BrowseError, Bucket};
use futures::TryStreamExt;
use serde::{Deserialize, Serialize};

use super::{bucket, folder_of_run, index_of, name_of, usage_of};
use crate::error::ApiResult;
use crate::state::Web;

/// Index of an attempt's archive.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Index {
    pub logs: Vec<Entry>,
}

/// One log.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub role: String,
    pub index: u32,
    pub stream: LogStream,
    pub length: u64,
    /// Times of its parts: the end offset of each, and its time in microseconds since the epoch.
    pub marks: Vec<(u64, i64)>,
}

impl Entry {
    fn name(&self) -> LogName {
        LogName { worker: WorkerName { role: self.role.clone(), index: self.index }, stream: self.stream }
    }
}

/// Path of a log's copy.
pub(super) fn place_of(key: &AttemptKey, log: &LogName) -> String {
    format!("{}/{}/{}.{}.log", folder_of_run(&key.run), name_of(key), log.worker, log.stream.as_str())
}

/// Archived logs of an attempt.
pub(crate) struct Copied {
    bucket: Arc<Bucket>,
    key: AttemptKey,
    index: Index,
}

/// The archived logs of an attempt. `None` if there are none.
///
/// # Errors
/// The store cannot be read.
pub(crate) async fn find(web: &Web, key: &AttemptKey) -> ApiResult<Option<Copied>> {
    let Some(bucket) = chosen(web, key).await? else { return Ok(None) };
    let path = index_of(key);
    let Some(bytes) = whole(&bucket, &path).await? else { return Ok(None) };
    let index = serde_json::from_slice(&bytes).unwrap_or_else(|error| {
        tracing::warn!(path, %error, "cannot read the index of copied logs");
        Index::default()
    });
    Ok(Some(Copied { bucket, key: key.clone(), index }))
}

/// Archived resource usage of an attempt's workers. Empty if there is none.
///
/// # Errors
/// The store cannot be read.
pub(crate) async fn usage(web: &Web, key: &AttemptKey) -> ApiResult<Vec<WorkerUsage>> {
    let Some(bucket) = chosen(web, key).await? else { return Ok(Vec::new()) };
    let path = usage_of(key);
    let Some(bytes) = whole(&bucket, &path).await? else { return Ok(Vec::new()) };
    Ok(serde_json::from_slice(&bytes).unwrap_or_else(|error| {
        tracing::warn!(path, %error, "cannot read a copy of usage data");
        Vec::new()
    }))
}

/// The bucket with the attempt's archive, if its project archives logs.
async fn chosen(web: &Web, key: &AttemptKey) -> ApiResult<Option<Arc<Bucket>>> {
    let store = web.store();
    let Some(run) = store.run(&key.run).await? else { return Ok(None) };
    let keeping = store.project(&run.project).await?.map(|project| project.keeping);
    let Some(volume) = keeping.and_then(|keeping| keeping.logs) else { return Ok(None) };
    Ok(Some(bucket(web, &run.project, &volume).await?))
}

/// Reads a whole object, if it exists.
async fn whole(bucket: &Bucket, path: &str) -> ApiResult<Option<Vec<u8>>> {
    let length = match bucket.object(path).await {
        Ok(object) => object.size,
        Err(BrowseError::NotFound(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    Ok(Some(read(bucket, path, 0, length).await?))
}

async fn read(bucket: &Bucket, path: &str, from: u64, to: u64) -> Result<Vec<u8>, BrowseError> {
    if from >= to {
        return Ok(Vec::new());
    }
    let pieces = bucket.read(path, from, to).await?;
    let gathered = pieces.try_fold(Vec::new(), async |mut all: Vec<u8>, piece| {
        all.extend_from_slice(&piece);
        Ok(all)
    });
    gathered.await.map_err(|error| BrowseError::Store { message: error.to_string() })
}

impl Copied {
    fn entry(&self, name: &LogName) -> Option<&Entry> {
        self.index.logs.iter().find(|entry| entry.name() == *name)
    }

    async fn piece(&self, name: &LogName, offset: u64, limit: usize) -> io::Result<LogPiece> {
        let Some(entry) = self.entry(name) else {
            return Ok(LogPiece { next: offset, ended: true, ..LogPiece::default() });
        };
        let to = entry.length.min(offset.saturating_add(limit as u64));
        let read = read(&self.bucket, &place_of(&self.key, name), offset, to).await;
        let bytes = read.map_err(|error| io::Error::other(error.to_string()))?;
        let next = offset + bytes.len() as u64;
        let after = entry.marks.partition_point(|(end, _)| *end <= offset);
        let until = entry.marks.partition_point(|(end, _)| *end < next);
        let marks = entry.marks.iter().skip(after).take((until + 1).saturating_sub(after));
        let marks = marks.map(|(end, at)| LogMark { end: *end, at: Timestamp(*at) }).collect();
        Ok(LogPiece { ended: next >= entry.length, bytes, next, marks })
    }
}

impl Logs for Copied {
    fn logs<'a>(&'a self, _key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<Log>>> {
        let log = |entry: &Entry| Log { name: entry.name(), length: entry.length };
        let all = self.index.logs.iter().map(log).collect();
        Box::pin(std::future::ready(Ok(all)))
    }

    fn read<'a>(
        &'a self,
        _key: &'a AttemptKey,
        name: &'a LogName,
        offset: u64,
        limit: usize,
    ) -> BoxFuture<'a, io::Result<LogPiece>> {
        Box::pin(self.piece(name, offset, limit))
    }

    fn since<'a>(
        &'a self,
        _key: &'a AttemptKey,
        name: &'a LogName,
        at: Timestamp,
    ) -> BoxFuture<'a, io::Result<u64>> {
        let older = self.entry(name).map_or(0, |entry| {
            let marks = entry.marks.partition_point(|(_, written)| *written < at.0);
            marks.checked_sub(1).and_then(|last| entry.marks.get(last)).map_or(0, |(end, _)| *end)
        });
        Box::pin(std::future::ready(Ok(older)))
    }

    /// Reports are in the database, not in the archive.
    fn reported<'a>(&'a self, _key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<Arc<Report>>>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}
