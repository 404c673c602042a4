//! Downloads to a file on this machine: writes ranges in place, then renames once.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures::{StreamExt, TryStreamExt, stream};

use super::error::TransferError;
use super::input::Input;
use super::part::Part;
use super::plan::Job;
use super::progress::{FileReport, FileTracker, Outcome};
use super::records::{Records, State};
use super::retry::retry;
use super::{Shared, blocking, sums};

/// Small blocks are buffered to this size before a write.
const BLOCK: usize = 1 << 20;

pub(crate) async fn download(
    shared: &Shared<'_>,
    job: &Job,
    path: &Path,
    records: &Records,
) -> Result<FileReport, TransferError> {
    if let Some(sum) = &job.sha256
        && holds(job, path, records, sum).await?
    {
        return skipped(shared, job, path, sum);
    }
    let input = retry(shared.spec.attempts, || Input::open(shared.stores, &job.from)).await?;
    if job.sha256.is_none()
        && let Some((sum, source)) = State::of_file(path).and_then(|now| records.find(&job.name, &now))
        && source.is_telling()
        && source == input.identity
    {
        return skipped(shared, job, path, &sum);
    }
    fetch(shared, job, path, records, input).await
}

/// Whether the target already has the requested content. Needs no request to the source.
async fn holds(job: &Job, path: &Path, records: &Records, sum: &str) -> Result<bool, TransferError> {
    let Some(now) = State::of_file(path) else { return Ok(false) };
    if let Some((known, _)) = records.find(&job.name, &now) {
        return Ok(known == sum);
    }
    let file = File::open(path).map_err(|error| TransferError::io(path, 0, error))?;
    Ok(sums::of_file(Arc::new(file), path).await? == sum)
}

fn skipped(shared: &Shared<'_>, job: &Job, path: &Path, sum: &str) -> Result<FileReport, TransferError> {
    let bytes = std::fs::metadata(path).map_err(|error| TransferError::io(path, 0, error))?.len();
    let count = shared.tracker.file(bytes);
    count.advance(bytes);
    count.finish();
    Ok(FileReport {
        url: job.from.to_string(),
        target: path.display().to_string(),
        bytes,
        sha256: Some(sum.to_owned()),
        outcome: Outcome::Skipped,
    })
}

async fn fetch(
    shared: &Shared<'_>,
    job: &Job,
    path: &Path,
    records: &Records,
    input: Input,
) -> Result<FileReport, TransferError> {
    let part = {
        let (path, identity) = (path.to_owned(), input.identity.clone());
        Arc::new(blocking(move || Part::open(&path, &identity)).await?)
    };
    let kept = part.done();
    let count = shared.tracker.file(input.identity.size.unwrap_or(0));
    count.advance(kept);
    let filled = fill(&Filling { shared, input: &input, part: &part, count: &count }).await;
    let sum = match filled {
        Ok(()) => checked_sum(shared, job, &input, &part, path).await,
        Err(error) => Err(error),
    };
    match sum {
        Ok(sum) => {
            let published = part.clone();
            blocking(move || published.publish()).await?;
            let now = State::of_file(path)
                .ok_or_else(|| TransferError::Missing { url: path.display().to_string() })?;
            let bytes = now.size;
            records.add(&job.name, now, &sum, &input.identity)?;
            count.finish();
            let outcome = if kept == 0 { Outcome::Copied } else { Outcome::Resumed(kept) };
            Ok(FileReport {
                url: input.url,
                target: path.display().to_string(),
                bytes,
                sha256: Some(sum),
                outcome,
            })
        }
        Err(error) => {
            count.give_up();
            leave(&part, &error)?;
            Err(error)
        }
    }
}

/// Saves what the next attempt can use, and removes the rest. A full disk must not hide the first error.
fn leave(part: &Part, error: &TransferError) -> Result<(), TransferError> {
    match error {
        TransferError::Checksum { .. } | TransferError::Changed { .. } | TransferError::Size { .. } => {
            part.discard()
        }
        TransferError::Full { .. } => {
            let _ = part.save();
            Ok(())
        }
        _ if part.done() == 0 => part.discard(),
        _ => part.save(),
    }
}

/// The checksum of the received content, if it is the expected one and the source is unchanged.
async fn checked_sum(
    shared: &Shared<'_>,
    job: &Job,
    input: &Input,
    part: &Part,
    path: &Path,
) -> Result<String, TransferError> {
    if input.identity.is_telling() {
        input.check_unchanged(shared.stores, &job.from).await?;
    }
    let sum = sums::of_file(part.file(), path).await?;
    sums::verify(&input.url, job.sha256.as_deref(), &sum)?;
    Ok(sum)
}

/// State shared by the steps of filling one partial file.
struct Filling<'a> {
    shared: &'a Shared<'a>,
    input: &'a Input,
    part: &'a Arc<Part>,
    count: &'a FileTracker<'a>,
}

async fn fill(filling: &Filling<'_>) -> Result<(), TransferError> {
    let spec = filling.shared.spec;
    match filling.input.identity.size {
        Some(size) if filling.input.ranges => {
            let missing = filling.part.missing(size, spec.chunk.max(1));
            let ranges = stream::iter(missing).map(|range| fill_range(filling, range));
            ranges.buffer_unordered(spec.parallel.max(1)).try_collect::<()>().await
        }
        size => fill_whole(filling, size).await,
    }
}

/// Fetches a range; after a transient error it continues where the connection broke.
async fn fill_range(filling: &Filling<'_>, range: Range<u64>) -> Result<(), TransferError> {
    let at = std::sync::atomic::AtomicU64::new(range.start);
    retry(filling.shared.spec.attempts, || pump(filling, &at, Some(range.end))).await?;
    let part = filling.part.clone();
    blocking(move || part.finish_range(range)).await
}

/// Fetches from a server without range support: each attempt starts from the beginning.
async fn fill_whole(filling: &Filling<'_>, size: Option<u64>) -> Result<(), TransferError> {
    let once = async || {
        filling.part.restart()?;
        filling.count.restart();
        pump(filling, &0.into(), size).await
    };
    retry(filling.shared.spec.attempts, once).await
}

/// Copies bytes from the source to the partial file from `at` on, and advances `at`.
async fn pump(
    filling: &Filling<'_>,
    at: &std::sync::atomic::AtomicU64,
    end: Option<u64>,
) -> Result<(), TransferError> {
    use std::sync::atomic::Ordering::Relaxed;
    let stop = &filling.shared.stop;
    let _permit = stop.or(filling.shared.permits.acquire()).await?;
    let mut content = stop.or(filling.input.read(at.load(Relaxed), end)).await??;
    let mut gathered = BytesMut::new();
    loop {
        let next = stop.or(content.next()).await?;
        let last = !matches!(next, Some(Ok(_)));
        if let Some(Ok(block)) = &next {
            gathered.extend_from_slice(block);
        }
        if gathered.len() >= BLOCK || (last && !gathered.is_empty()) {
            let block = gathered.split().freeze();
            put(filling, at, end, block).await?;
        }
        match next {
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(error),
            None => return complete(filling, at.load(Relaxed), end),
        }
    }
}

async fn put(
    filling: &Filling<'_>,
    at: &std::sync::atomic::AtomicU64,
    end: Option<u64>,
    block: Bytes,
) -> Result<(), TransferError> {
    use std::sync::atomic::Ordering::Relaxed;
    let (start, length) = (at.load(Relaxed), block.len() as u64);
    if let Some(end) = end.filter(|end| start + length > *end) {
        return Err(TransferError::Size {
            url: filling.input.url.clone(),
            expected: end,
            actual: start + length,
        });
    }
    filling.part.write(start, block).await?;
    at.store(start + length, Relaxed);
    filling.count.advance(length);
    Ok(())
}

fn complete(filling: &Filling<'_>, at: u64, end: Option<u64>) -> Result<(), TransferError> {
    match end {
        Some(end) if end != at => {
            Err(TransferError::Size { url: filling.input.url.clone(), expected: end, actual: at })
        }
        _ => Ok(()),
    }
}
