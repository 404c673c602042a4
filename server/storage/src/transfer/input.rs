//! The reading side: a source's size and identity, and its bytes by range.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};
use opendal::Operator;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::TransferError;
use super::joined::{self, Origin, Segment};
use super::location::{Location, StorePath};
use super::stores::Stores;
use super::web;

/// Read size of local files.
const BLOCK: u64 = 1 << 20;

/// A stream of the bytes of a range.
pub type Content = BoxStream<'static, Result<Bytes, TransferError>>;

/// Identifies one state of a source: stored beside a partial file, and compared before the file is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// A hash of the address; the address itself may contain secrets.
    pub address: String,
    /// Bytes, if the source reports them.
    pub size: Option<u64>,
    /// The store's or server's own tag of this content.
    pub etag: Option<String>,
    /// Time of the last change, in the source's own notation.
    pub modified: Option<String>,
}

impl Identity {
    /// False if a change of equal size would go unnoticed; then no resume and no skip is possible.
    pub fn is_telling(&self) -> bool {
        self.size.is_some() && (self.etag.is_some() || self.modified.is_some())
    }

    /// A short form, for stores that keep metadata with their objects.
    pub fn digest(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        hex(&Sha256::digest(text.as_bytes()))[..32].to_owned()
    }
}

/// An opened source.
#[derive(Clone)]
pub struct Input {
    /// For messages.
    pub url: String,
    /// The identity at the time of opening.
    pub identity: Identity,
    /// Whether ranges are supported; otherwise only the whole.
    pub ranges: bool,
    body: Body,
}

#[derive(Clone)]
enum Body {
    Local(Arc<File>),
    Web(web::Page),
    Store { operator: Operator, path: StorePath },
    Joined(Arc<[Segment]>),
}

impl Input {
    /// Opens the sources of a target; reads no more of them than joining requires.
    pub async fn open(stores: &Stores, origin: &Origin) -> Result<Self, TransferError> {
        match origin {
            Origin::One(location) => Self::open_one(stores, location).await,
            Origin::Joined(parts) => {
                let (identity, segments) = joined::open(stores, parts).await?;
                Ok(Self {
                    url: origin.to_string(),
                    identity,
                    ranges: true,
                    body: Body::Joined(segments.into()),
                })
            }
        }
    }

    /// Opens a source without reading its content.
    pub async fn open_one(stores: &Stores, location: &Location) -> Result<Self, TransferError> {
        match location {
            Location::Local(path) => open_local(location, path.clone()).await,
            Location::Http(url) => {
                let (page, facts) = web::Page::open(stores.http()?, url).await?;
                let identity = Identity { address: address(&web::without_signature(url)), ..facts.identity };
                Ok(Self { url: location.to_string(), identity, ranges: facts.ranges, body: Body::Web(page) })
            }
            Location::Store(path) => open_store(stores, location, path).await,
        }
    }

    /// The bytes from `start` to `end` (exclusive). `end` is `None` only if the size is unknown. If the
    /// source ends early, so does the stream, without an error; callers count.
    pub async fn read(&self, start: u64, end: Option<u64>) -> Result<Content, TransferError> {
        match &self.body {
            Body::Local(file) => {
                Ok(local_blocks(self.url.clone(), file.clone(), start, end.unwrap_or(u64::MAX)))
            }
            Body::Web(page) => page.read(&self.identity, self.ranges, start, end).await,
            Body::Joined(segments) => {
                Ok(joined::read(segments, start, end.or(self.identity.size).unwrap_or(u64::MAX)))
            }
            Body::Store { operator, path } => {
                let (url, names) = (self.url.clone(), path.kind.credential_names());
                let fault = move |error| TransferError::store(&url, names, &error);
                let reader = operator.reader(&path.path).await.map_err(&fault)?;
                let blocks = match end {
                    Some(end) => reader.into_stream(start..end).await,
                    None => reader.into_stream(start..).await,
                };
                Ok(blocks.map_err(&fault)?.map_ok(|buffer| buffer.to_bytes()).map_err(fault).boxed())
            }
        }
    }

    /// Fails if the source has changed since it was opened.
    pub async fn check_unchanged(&self, stores: &Stores, origin: &Origin) -> Result<(), TransferError> {
        let now = Self::open(stores, origin).await?;
        if now.identity == self.identity {
            return Ok(());
        }
        Err(TransferError::Changed { url: self.url.clone() })
    }
}

async fn open_local(location: &Location, path: std::path::PathBuf) -> Result<Input, TransferError> {
    let url = location.to_string();
    let (file, meta) = super::blocking(move || {
        // Check before opening: opening a pipe would wait for its writer.
        let found = std::fs::metadata(&path).map_err(|error| TransferError::io(&path, 0, error))?;
        if !found.is_file() {
            return Err(TransferError::bad_url(path.display(), "this is not a regular file"));
        }
        let file = File::open(&path).map_err(|error| TransferError::io(&path, 0, error))?;
        let meta = file.metadata().map_err(|error| TransferError::io(&path, 0, error))?;
        Ok((file, meta))
    })
    .await?;
    let identity = Identity {
        address: address(&url),
        size: Some(meta.len()),
        etag: None,
        modified: Some(modified(&meta)),
    };
    Ok(Input { url, identity, ranges: true, body: Body::Local(Arc::new(file)) })
}

async fn open_store(stores: &Stores, location: &Location, path: &StorePath) -> Result<Input, TransferError> {
    let url = location.to_string();
    let operator = stores.reading(path).await?;
    let meta = match operator.stat(&path.path).await {
        Ok(meta) => meta,
        Err(error) => return Err(explain(&operator, path, &url, error).await),
    };
    if !meta.is_file() {
        return Err(TransferError::bad_url(
            url,
            "this is a folder; end the address with `/` to copy its contents",
        ));
    }
    let identity = Identity {
        address: address(&url),
        size: Some(meta.content_length()),
        etag: meta.etag().map(str::to_owned),
        modified: meta.last_modified().map(|time| time.to_string()),
    };
    Ok(Input { url, identity, ranges: true, body: Body::Store { operator, path: path.clone() } })
}

/// A failed HEAD request has no reason; reading a byte returns the store's message.
async fn explain(operator: &Operator, path: &StorePath, url: &str, error: opendal::Error) -> TransferError {
    let names = path.kind.credential_names();
    let unclear = matches!(error.kind(), opendal::ErrorKind::PermissionDenied | opendal::ErrorKind::NotFound);
    if unclear
        && let Err(reason) = operator.read_with(&path.path).range(0..1).await
        && reason.kind() != opendal::ErrorKind::RangeNotSatisfied
    {
        return TransferError::store(url, names, &reason);
    }
    TransferError::store(url, names, &error)
}

fn local_blocks(url: String, file: Arc<File>, start: u64, end: u64) -> Content {
    let next = move |at: u64| {
        let (url, file) = (url.clone(), file.clone());
        async move {
            if at >= end {
                return Ok(None);
            }
            let length = BLOCK.min(end - at) as usize;
            let block = super::blocking(move || read_at(&file, at, length, &url)).await?;
            let next = at + block.len() as u64;
            Ok((!block.is_empty()).then_some((block, next)))
        }
    };
    stream::try_unfold(start, next).boxed()
}

fn read_at(file: &File, at: u64, length: usize, url: &str) -> Result<Bytes, TransferError> {
    let mut block = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match file.read_at(&mut block[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(TransferError::io(url.as_ref(), 0, error)),
        }
    }
    block.truncate(filled);
    Ok(block.into())
}

/// Seconds and nanoseconds of the last change.
pub(crate) fn modified(meta: &std::fs::Metadata) -> String {
    use std::os::unix::fs::MetadataExt;
    format!("{}.{:09}", meta.mtime(), meta.mtime_nsec())
}

fn address(url: &str) -> String {
    hex(&Sha256::digest(url.as_bytes()))[..16].to_owned()
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
