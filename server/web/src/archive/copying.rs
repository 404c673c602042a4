//! Archives the logs of attempts when they end. At server start and after a change of a project's settings,
//! archives those of the last days.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::event::RunEvent;
use cubeloom_domain::executor::Executor;
use cubeloom_domain::logs::{Log, Logs};
use cubeloom_domain::{AttemptKey, RunId, Timestamp};
use cubeloom_storage::browse::{BrowseError, Bucket, Kind};
use cubeloom_store::RunFilter;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::time::{interval, timeout};

use super::copied::{Entry, Index, place_of};
use super::{Behind, TOP, bucket, folder_of_run, index_of, name_of, usage_of};
use crate::error::{ApiError, ApiResult};
use crate::runs::reader;
use crate::state::{WeakWeb, Web};

/// Interval of retries, and of reading the projects' settings, which another server may have changed.
const AGAIN: Duration = Duration::from_secs(30);
/// Maximum age of ended attempts without an event that are archived.
const MISSED: Duration = Duration::from_secs(7 * 86_400);
/// Chunk size of a copy, in bytes.
const PIECE: usize = 1 << 20;
/// Timeout of one log, whatever its size: an unresponsive store must not block the others forever.
const LONGEST: Duration = Duration::from_secs(3600);
/// Page size when listing objects.
const PAGE: usize = 500;
/// Maximum number of time marks kept per log. More are thinned out, so that times are less exact.
const MARKS: usize = 4096;

pub(crate) fn start(web: &Web) {
    tokio::spawn(run(web.downgrade(), web.events()));
}

/// Pending copies.
#[derive(Default)]
struct Due {
    /// Volume of each project that archives logs.
    volumes: BTreeMap<String, String>,
    attempts: BTreeSet<AttemptKey>,
    /// Whether some ended attempts may be missing.
    missed: bool,
}

impl Due {
    fn take(&mut self, event: &RunEvent) {
        if let RunEvent::Attempt(attempt) = event
            && !attempt.state.is_live()
            && !self.volumes.is_empty()
        {
            self.attempts.insert(attempt.key.clone());
        }
    }
}

async fn run(web: WeakWeb, mut events: broadcast::Receiver<RunEvent>) {
    let mut due = Due { missed: true, ..Due::default() };
    let mut again = interval(AGAIN);
    loop {
        let Some(held) = web.upgrade() else { return };
        let mut stopping = held.stopping();
        tokio::select! {
            event = events.recv() => match event {
                Ok(event) => {
                    let before = due.attempts.len();
                    due.take(&event);
                    // Process simultaneous ends together.
                    loop {
                        match events.try_recv() {
                            Ok(event) => due.take(&event),
                            Err(TryRecvError::Lagged(_)) => due.missed = true,
                            Err(TryRecvError::Empty | TryRecvError::Closed) => break,
                        }
                    }
                    if due.attempts.len() == before && !due.missed {
                        continue;
                    }
                }
                Err(RecvError::Lagged(_)) => due.missed = true,
                Err(RecvError::Closed) => return,
            },
            () = held.archive().wake.notified() => due.missed = true,
            _ = again.tick() => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
        // After a database error, look for the pending copies again.
        if let Err(error) = pass(&held, &mut due).await {
            due.missed = true;
            tracing::debug!(error = error.detail(), "cannot copy logs; retrying");
        }
    }
}

async fn pass(web: &Web, due: &mut Due) -> ApiResult<()> {
    let known = due.volumes.clone();
    let projects = web.store().projects(None).await?;
    due.volumes =
        projects.into_iter().filter_map(|project| Some((project.name, project.keeping.logs?))).collect();
    due.missed |= due.volumes != known;
    let mut troubles = Troubles::default();
    if std::mem::take(&mut due.missed) {
        for (project, volume) in &due.volumes {
            match missed(web, project, volume).await {
                Ok(missed) => due.attempts.extend(missed),
                Err(error) => {
                    due.missed = true;
                    troubles.note(project, 0, &error);
                    troubles.away.insert(project.clone());
                }
            }
        }
    }
    for key in std::mem::take(&mut due.attempts) {
        let Some(run) = web.store().run(&key.run).await? else { continue };
        let Some(volume) = due.volumes.get(&run.project) else { continue };
        if !troubles.copied(web, &run.project, volume, &key).await {
            due.attempts.insert(key);
        }
    }
    for (project, Behind { attempts, why }) in &troubles.behind {
        tracing::warn!(project, attempts, why, "cannot copy logs to the project's volume");
    }
    *web.archive().lock() = troubles.behind;
    Ok(())
}

/// Errors of one pass.
#[derive(Default)]
struct Troubles {
    behind: BTreeMap<String, Behind>,
    /// Projects with an unreachable store, which is not retried for each attempt.
    away: BTreeSet<String>,
}

impl Troubles {
    fn note(&mut self, project: &str, attempts: usize, error: &ApiError) {
        let none = || Behind { attempts: 0, why: String::new() };
        let found = self.behind.entry(project.to_owned()).or_insert_with(none);
        found.attempts += attempts;
        found.why = error.detail().to_owned();
    }

    /// Archives the logs of an attempt, unless its project's store is unreachable. Returns whether it is
    /// done.
    async fn copied(&mut self, web: &Web, project: &str, volume: &str, key: &AttemptKey) -> bool {
        if self.away.contains(project) {
            if let Some(found) = self.behind.get_mut(project) {
                found.attempts += 1;
            }
            return false;
        }
        let Err(error) = copy(web, project, volume, key).await else { return true };
        self.note(project, 1, &error);
        if !answers(web, project, volume).await {
            self.away.insert(project.to_owned());
        }
        false
    }
}

/// Whether the project's store responds.
async fn answers(web: &Web, project: &str, volume: &str) -> bool {
    match bucket(web, project, volume).await {
        Ok(bucket) => bucket.list(TOP, None, 1).await.is_ok(),
        Err(_) => false,
    }
}

/// Attempts that ended in the last days and have no archive.
async fn missed(web: &Web, project: &str, volume: &str) -> ApiResult<Vec<AttemptKey>> {
    let since = web.now().0.saturating_sub(i64::try_from(MISSED.as_micros()).unwrap_or(i64::MAX));
    let filter = RunFilter {
        projects: Some(vec![project.to_owned()]),
        since: Some(Timestamp(since)),
        ..RunFilter::default()
    };
    let bucket = bucket(web, project, volume).await?;
    let mut missed = Vec::new();
    for run in web.store().runs(&filter).await? {
        let copied = copied(&bucket, &run.id).await?;
        let attempts = web.store().attempts(&run.id).await?.into_iter();
        let ended = attempts.filter(|attempt| !attempt.state.is_live()).map(|attempt| attempt.key);
        missed.extend(ended.filter(|key| !copied.contains(&format!("{}.json", name_of(key)))));
    }
    Ok(missed)
}

/// Names of a run's indexes and of the folders beside them.
async fn copied(bucket: &Bucket, run: &RunId) -> ApiResult<BTreeSet<String>> {
    let mut all = BTreeSet::new();
    let mut last: Option<String> = None;
    loop {
        let entries = match bucket.list(&folder_of_run(run), last.as_deref(), PAGE).await {
            Err(BrowseError::NotFound(_)) => return Ok(all),
            entries => entries?,
        };
        last = entries.last().map(|entry| match entry.kind {
            Kind::Folder => format!("{}/", entry.name),
            Kind::File | Kind::Other => entry.name.clone(),
        });
        let whole = entries.len() < PAGE;
        all.extend(entries.into_iter().map(|entry| entry.name));
        if whole {
            return Ok(all);
        }
    }
}

/// Archives the logs of an attempt.
async fn copy(web: &Web, project: &str, volume: &str, key: &AttemptKey) -> ApiResult<()> {
    let plan = reader::plan(web, &key.run).await?;
    let executor: Option<Arc<dyn Executor>> = web.clusters().get(&plan.cluster);
    let Some(logs) = executor.as_ref().and_then(|executor| executor.logs()) else { return Ok(()) };
    let there = logs.logs(key).await.map_err(unreadable)?;
    // Another server may have the logs, and archives them.
    if there.is_empty() {
        return Ok(());
    }
    let bucket = bucket(web, project, volume).await?;
    let mut index = Index::default();
    for log in there {
        let entry = timeout(LONGEST, copy_one(logs, &bucket, key, log)).await;
        index.logs.push(entry.map_err(|_| ApiError::unavailable("the object store timed out"))??);
    }
    if let Some(usage) = executor.as_ref().and_then(|executor| executor.usage()) {
        let series = usage.series(key).await.map_err(unreadable)?;
        let text = serde_json::to_vec(&series).map_err(ApiError::internal)?;
        write(&bucket, &usage_of(key), text).await?;
    }
    let text = serde_json::to_vec(&index).map_err(ApiError::internal)?;
    write(&bucket, &index_of(key), text).await
}

async fn copy_one(logs: &dyn Logs, bucket: &Bucket, key: &AttemptKey, log: Log) -> ApiResult<Entry> {
    let Log { name, length } = log;
    let mut marks: Vec<(u64, i64)> = Vec::new();
    let mut at = 0;
    if length > 0 {
        let path = place_of(key, &name);
        let mut writer = bucket.write(&path).await?;
        while at < length {
            let piece = logs.read(key, &name, at, PIECE).await.map_err(unreadable)?;
            if piece.bytes.is_empty() {
                break;
            }
            at = piece.next;
            marks.extend(piece.marks.iter().map(|mark| (mark.end, mark.at.0)));
            writer.write(piece.bytes).await.map_err(|error| bucket.fault(&path, &error))?;
        }
        writer.close().await.map_err(|error| bucket.fault(&path, &error))?;
    }
    marks.dedup();
    let (role, index) = (name.worker.role, name.worker.index);
    Ok(Entry { role, index, stream: name.stream, length: at, marks: thinned(marks) })
}

/// Reduces the marks to at most [`MARKS`], including the last one.
fn thinned(marks: Vec<(u64, i64)>) -> Vec<(u64, i64)> {
    let every = marks.len().div_ceil(MARKS).max(1);
    let last = marks.len().saturating_sub(1);
    let kept = marks.into_iter().enumerate().filter(|(n, _)| (last - n).is_multiple_of(every));
    kept.map(|(_, mark)| mark).collect()
}

async fn write(bucket: &Bucket, path: &str, text: Vec<u8>) -> ApiResult<()> {
    let mut writer = bucket.write(path).await?;
    writer.write(text).await.map_err(|error| bucket.fault(path, &error))?;
    writer.close().await.map_err(|error| bucket.fault(path, &error))?;
    Ok(())
}

fn unreadable(error: std::io::Error) -> ApiError {
    ApiError::unavailable("the logs cannot be read now: try again").caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_marks_some_are_kept_and_the_last() {
        let marks = |count: u64| (1..=count).map(|n| (n, 0)).collect::<Vec<_>>();
        assert_eq!(thinned(marks(0)), []);
        assert_eq!(thinned(marks(3)), marks(3));
        for count in [4096, 4097, 10_000, 100_000] {
            let kept = thinned(marks(count));
            assert!(kept.len() <= MARKS && kept.len() > MARKS / 2 - 1, "{count}: {}", kept.len());
            assert_eq!(kept.last(), Some(&(count, 0)));
        }
    }
}
