//! Uploads to a store: reads ranges in parallel and sends them in order as one object.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;

use bytes::{Bytes, BytesMut};
use futures::stream::LocalBoxStream;
use futures::{StreamExt, TryStreamExt, stream};
use opendal::{ErrorKind, Metadata, Operator, Writer};
use sha2::{Digest, Sha256};

use super::error::TransferError;
use super::input::{Input, hex};
use super::listing::PART_SUFFIX;
use super::location::{Location, StoreKind, StorePath};
use super::memory::Held;
use super::plan::Job;
use super::progress::{FileReport, FileTracker, Outcome};
use super::records::State;
use super::retry::retry;
use super::{Shared, blocking, sums};

/// Limits of S3 and COS: minimum size and maximum number of parts.
const SMALLEST_PART: u64 = 5 << 20;
const MOST_PARTS: u64 = 10_000;

/// Metadata of an object: the identity of its source, and its checksum if given.
const SOURCE_NOTE: &str = "cubeloom-source";
const SUM_NOTE: &str = "cubeloom-sha256";

/// One upload.
struct Upload<'a> {
    shared: &'a Shared<'a>,
    job: &'a Job,
    input: &'a Input,
    operator: Operator,
    /// The path of the object.
    path: &'a StorePath,
    url: String,
}

pub(crate) async fn upload(
    shared: &Shared<'_>,
    job: &Job,
    path: &StorePath,
) -> Result<FileReport, TransferError> {
    let attempts = shared.spec.attempts;
    let input = retry(attempts, || Input::open(shared.stores, &job.from)).await?;
    let operator = retry(attempts, || shared.stores.writing(path, attempts)).await?;
    let url = Location::Store(path.clone()).to_string();
    let upload = Upload { shared, job, input: &input, operator, path, url };
    let count = shared.tracker.file(input.identity.size.unwrap_or(0));
    let done = match upload.present().await? {
        Some(there) => Ok(upload.skip(there, &count)),
        None => upload.copy(&count).await,
    };
    match &done {
        Ok(_) => count.finish(),
        Err(_) => count.give_up(),
    }
    done
}

impl Upload<'_> {
    fn fault(&self, error: opendal::Error) -> TransferError {
        TransferError::store(&self.url, self.path.kind.credential_names(), &error)
    }

    /// The existing object, if it has the wanted content.
    async fn present(&self) -> Result<Option<Present>, TransferError> {
        let meta = match self.operator.stat(&self.path.path).await {
            Ok(meta) => meta,
            // Write permission does not imply read permission.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => {
                return Ok(None);
            }
            Err(error) => return Err(self.fault(error)),
        };
        let identity = &self.input.identity;
        let noted = self.noted(&meta);
        let same = match &self.job.sha256 {
            Some(sum) => noted.sha256.as_ref() == Some(sum),
            None => identity.is_telling() && noted.source == Some(identity.digest()),
        };
        let there = Present { bytes: meta.content_length(), sha256: noted.sha256 };
        Ok((same && Some(there.bytes) == identity.size).then_some(there))
    }

    /// The record of the existing object: its metadata, or the local record.
    fn noted(&self, meta: &Metadata) -> Noted {
        if self.path.kind.keeps_notes() {
            return Noted { sha256: note(meta, SUM_NOTE), source: note(meta, SOURCE_NOTE) };
        }
        match state(meta).and_then(|now| self.shared.records.find(&self.url, &now)) {
            Some((sha256, source)) => Noted { sha256: Some(sha256), source: Some(source.digest()) },
            None => Noted::default(),
        }
    }

    fn skip(&self, there: Present, count: &FileTracker<'_>) -> FileReport {
        count.advance(there.bytes);
        self.report(there.bytes, there.sha256, Outcome::Skipped)
    }

    fn report(&self, bytes: u64, sha256: Option<String>, outcome: Outcome) -> FileReport {
        FileReport { url: self.input.url.clone(), target: self.url.clone(), bytes, sha256, outcome }
    }

    async fn copy(&self, count: &FileTracker<'_>) -> Result<FileReport, TransferError> {
        // The range reader has retried each range, and most stores' clients retry what they send. The HDFS
        // client does not: a NameNode may report a block as "not replicated yet" before a DataNode has
        // reported it.
        let restartable = !self.input.ranges || self.path.kind == StoreKind::Hdfs;
        let attempts = if restartable { self.shared.spec.attempts } else { 1 };
        let (bytes, sum) = retry(attempts, async || {
            count.restart();
            self.put(count).await
        })
        .await?;
        Ok(self.report(bytes, Some(sum), Outcome::Copied))
    }

    /// One upload from start to completion; an error leaves the target unchanged.
    async fn put(&self, count: &FileTracker<'_>) -> Result<(u64, String), TransferError> {
        let place = self.place();
        let held = self.shared.memory.share(&self.url, self.wants(), self.shared.files)?;
        let _memory = self.shared.memory.take(held, self.shared.stop).await?;
        let mut writer = self.writer(&place, held.width).await?;
        match self.fill(&mut writer, held.width, count).await {
            Ok(sent) => {
                // Keep the complete file if it cannot be moved into place: the target may be gone by then.
                self.publish(&place).await?;
                self.settle(&sent).await?;
                Ok(sent)
            }
            Err(error) => {
                // Report the first error; a store drops incomplete uploads sooner or later.
                let _ = writer.abort().await;
                if place != self.path.path {
                    let _ = self.operator.delete(&place).await;
                }
                Err(error)
            }
        }
    }

    /// Sends everything. A store may still refuse at the end, since it writes late.
    async fn fill(
        &self,
        writer: &mut Writer,
        width: usize,
        count: &FileTracker<'_>,
    ) -> Result<(u64, String), TransferError> {
        let sent = self.send(writer, width, count).await?;
        let sent = self.check(sent).await?;
        writer.close().await.map_err(|error| self.fault(error))?;
        Ok(sent)
    }

    /// The key to write to: on HDFS a temporary name, since a file is visible while it is being written.
    fn place(&self) -> String {
        let path = &self.path.path;
        match (self.path.kind, path.rsplit_once('/')) {
            (StoreKind::S3 | StoreKind::Cos | StoreKind::Oss, _) => path.clone(),
            (_, Some((folder, name))) => format!("{folder}/.{name}{PART_SUFFIX}"),
            (_, None) => format!(".{path}{PART_SUFFIX}"),
        }
    }

    /// Size of a part in bytes.
    fn part(&self) -> u64 {
        let size = self.input.identity.size.unwrap_or(0);
        self.shared.spec.chunk.max(SMALLEST_PART).max(size.div_ceil(MOST_PARTS))
    }

    /// The memory that it would use without a limit.
    fn wants(&self) -> Held {
        let (range, part, width) = (self.shared.spec.chunk.max(1), self.part(), self.shared.width);
        match self.input.identity.size {
            Some(size) => Held { range: range.min(size), part: part.min(size), width },
            // Read as one stream, without ranges.
            None => Held { range: 0, part, width },
        }
    }

    async fn writer(&self, place: &str, width: usize) -> Result<Writer, TransferError> {
        let over_http = matches!(self.path.kind, StoreKind::WebHdfs | StoreKind::SecureWebHdfs);
        if let Some((folder, _)) = place.rsplit_once('/').filter(|_| over_http) {
            // The rename does nothing, silently, if the folder does not exist.
            self.operator.create_dir(&format!("{folder}/")).await.map_err(|error| self.fault(error))?;
        }
        let mut options = self.operator.writer_with(place).chunk(self.part() as usize).concurrent(width);
        if self.path.kind.keeps_notes() {
            options = options.user_metadata(self.notes());
        }
        options.await.map_err(|error| self.fault(error))
    }

    fn notes(&self) -> HashMap<String, String> {
        let sum = self.job.sha256.clone().map(|sum| (SUM_NOTE.to_owned(), sum));
        let source = Some((SOURCE_NOTE.to_owned(), self.input.identity.digest()));
        sum.into_iter().chain(source).collect()
    }

    async fn send(
        &self,
        writer: &mut Writer,
        width: usize,
        count: &FileTracker<'_>,
    ) -> Result<(u64, String), TransferError> {
        let mut hasher = Sha256::new();
        let mut bytes = 0;
        let mut blocks = self.blocks(width);
        while let Some(block) = self.shared.stop.or(blocks.try_next()).await?? {
            let (hashed, block) = blocking(move || {
                hasher.update(&block);
                Ok((hasher, block))
            })
            .await?;
            hasher = hashed;
            let length = block.len() as u64;
            self.shared.stop.or(writer.write(block)).await?.map_err(|error| self.fault(error))?;
            bytes += length;
            count.advance(length);
        }
        Ok((bytes, hex(&hasher.finalize())))
    }

    /// The content in order. At most `width` ranges read ahead are in memory.
    fn blocks(&self, width: usize) -> LocalBoxStream<'_, Result<Bytes, TransferError>> {
        let spec = self.shared.spec;
        match self.input.identity.size {
            Some(size) if self.input.ranges => {
                let chunk = spec.chunk.max(1);
                let ranges = (0..size.div_ceil(chunk)).map(move |n| n * chunk..((n + 1) * chunk).min(size));
                stream::iter(ranges).map(|range| self.range(range)).buffered(width).boxed_local()
            }
            size => stream::once(self.input.read(0, size)).try_flatten().boxed_local(),
        }
    }

    /// Reads one range; after a transient error it continues where the connection broke.
    async fn range(&self, range: Range<u64>) -> Result<Bytes, TransferError> {
        let wanted = (range.end - range.start) as usize;
        let read = Mutex::new(BytesMut::with_capacity(wanted));
        let have = || read.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        retry(self.shared.spec.attempts, async || {
            let _permit = self.shared.stop.or(self.shared.permits.acquire()).await?;
            let at = range.start + have().len() as u64;
            let mut content = self.input.read(at, Some(range.end)).await?;
            while let Some(block) = content.try_next().await? {
                have().extend_from_slice(&block);
            }
            Ok(())
        })
        .await?;
        let read = std::mem::take(&mut *have());
        if read.len() != wanted {
            let actual = range.start + read.len() as u64;
            return Err(TransferError::Size { url: self.input.url.clone(), expected: range.end, actual });
        }
        Ok(read.freeze())
    }

    async fn check(&self, (bytes, sum): (u64, String)) -> Result<(u64, String), TransferError> {
        if let Some(expected) = self.input.identity.size.filter(|size| *size != bytes) {
            return Err(TransferError::Size { url: self.input.url.clone(), expected, actual: bytes });
        }
        if self.input.identity.is_telling() {
            self.input.check_unchanged(self.shared.stores, &self.job.from).await?;
        }
        sums::verify(&self.input.url, self.job.sha256.as_deref(), &sum)?;
        Ok((bytes, sum))
    }

    async fn publish(&self, place: &str) -> Result<(), TransferError> {
        if place == self.path.path {
            return Ok(());
        }
        self.shared.stores.replace(self.path, place, self.shared.spec.attempts).await
    }

    /// Verifies that the object is complete, and records it.
    async fn settle(&self, (bytes, sum): &(u64, String)) -> Result<(), TransferError> {
        let meta = match self.operator.stat(&self.path.path).await {
            Ok(meta) => meta,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(()),
            Err(error) => return Err(self.fault(error)),
        };
        let actual = meta.content_length();
        if actual != *bytes {
            return Err(TransferError::Size { url: self.url.clone(), expected: *bytes, actual });
        }
        if let Some(now) = state(&meta).filter(|_| !self.path.kind.keeps_notes()) {
            let noted = self.shared.records.add(&self.url, now, sum, &self.input.identity);
            if let Err(error) = noted {
                // The object exists all the same; it would only be sent once more.
                tracing::debug!(%error, "upload progress could not be saved");
            }
        }
        Ok(())
    }
}

/// An existing object at the target.
struct Present {
    bytes: u64,
    sha256: Option<String>,
}

/// The record of an existing object.
#[derive(Default)]
struct Noted {
    sha256: Option<String>,
    source: Option<String>,
}

fn state(meta: &Metadata) -> Option<State> {
    let modified = meta.last_modified()?.to_string();
    Some(State { size: meta.content_length(), modified })
}

fn note(meta: &Metadata, key: &str) -> Option<String> {
    meta.user_metadata()?.get(key).map(str::to_owned)
}
