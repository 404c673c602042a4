//! Into a store: ranges are read in parallel, put in order, and become one object when all of them are there.

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

/// Limits of S3 and COS: parts are at least this long, and at most so many.
const SMALLEST_PART: u64 = 5 << 20;
const MOST_PARTS: u64 = 10_000;

/// Notes that are kept with an object: a mark of the source that it came from, and its sum where that was given.
const SOURCE_NOTE: &str = "cubeloom-source";
const SUM_NOTE: &str = "cubeloom-sha256";

/// One object on its way.
struct Upload<'a> {
    shared: &'a Shared<'a>,
    job: &'a Job,
    input: &'a Input,
    operator: Operator,
    /// Where the object is to be.
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

    /// What lies at the target, if it is the content that is to be put there.
    async fn present(&self) -> Result<Option<Present>, TransferError> {
        let meta = match self.operator.stat(&self.path.path).await {
            Ok(meta) => meta,
            // Who may write need not be allowed to look.
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

    /// What was noted of what lies at the target: with the object, or here.
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
        // What reads ranges has tried each of them again, and most stores' clients what they send. That of HDFS does not: a
        // NameNode may say that a block is "not replicated yet", which a DataNode has not told it of.
        let restartable = !self.input.ranges || self.path.kind == StoreKind::Hdfs;
        let attempts = if restartable { self.shared.spec.attempts } else { 1 };
        let (bytes, sum) = retry(attempts, async || {
            count.restart();
            self.put(count).await
        })
        .await?;
        Ok(self.report(bytes, Some(sum), Outcome::Copied))
    }

    /// One upload from its beginning to its completion; a fault on the way leaves the target as it was.
    async fn put(&self, count: &FileTracker<'_>) -> Result<(u64, String), TransferError> {
        let place = self.place();
        let held = self.shared.memory.share(&self.url, self.wants(), self.shared.files)?;
        let _memory = self.shared.memory.take(held, self.shared.stop).await?;
        let mut writer = self.writer(&place, held.width).await?;
        match self.fill(&mut writer, held.width, count).await {
            Ok(sent) => {
                // What is whole stays when it cannot be put in its place: the target may be gone by then.
                self.publish(&place).await?;
                self.settle(&sent).await?;
                Ok(sent)
            }
            Err(error) => {
                // The first fault is the one to tell; a store drops what was not completed, sooner or later.
                let _ = writer.abort().await;
                if place != self.path.path {
                    let _ = self.operator.delete(&place).await;
                }
                Err(error)
            }
        }
    }

    /// Sends all of it. What a store has taken may still be refused at the end: it is written late.
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

    /// The key that is written to: on HDFS another name, since what is written there can be seen at once.
    fn place(&self) -> String {
        let path = &self.path.path;
        match (self.path.kind, path.rsplit_once('/')) {
            (StoreKind::S3 | StoreKind::Cos | StoreKind::Oss, _) => path.clone(),
            (_, Some((folder, name))) => format!("{folder}/.{name}{PART_SUFFIX}"),
            (_, None) => format!(".{path}{PART_SUFFIX}"),
        }
    }

    /// Bytes of a part.
    fn part(&self) -> u64 {
        let size = self.input.identity.size.unwrap_or(0);
        self.shared.spec.chunk.max(SMALLEST_PART).max(size.div_ceil(MOST_PARTS))
    }

    /// What it would hold at a time if there were memory for all that is asked for.
    fn wants(&self) -> Held {
        let (range, part, width) = (self.shared.spec.chunk.max(1), self.part(), self.shared.width);
        match self.input.identity.size {
            Some(size) => Held { range: range.min(size), part: part.min(size), width },
            // It is read in one piece, as it comes.
            None => Held { range: 0, part, width },
        }
    }

    async fn writer(&self, place: &str, width: usize) -> Result<Writer, TransferError> {
        let over_http = matches!(self.path.kind, StoreKind::WebHdfs | StoreKind::SecureWebHdfs);
        if let Some((folder, _)) = place.rsplit_once('/').filter(|_| over_http) {
            // Its rename does nothing, without a word, when the folder is not there.
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

    /// The content in order. Ranges that were read ahead wait in memory, `width` of them at most.
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

    /// Reads one range; after a passing fault it goes on where the connection broke.
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

    /// Looks whether all of it is there, and notes what was brought.
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
                // It is there all the same; it would only be sent once more.
                tracing::debug!(%error, "what was sent is not noted");
            }
        }
        Ok(())
    }
}

/// What lies at a target already.
struct Present {
    bytes: u64,
    sha256: Option<String>,
}

/// What is known of what lies at a target.
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
