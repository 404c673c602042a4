//! Joins small files: reads several, one after the other, as one.
//!
//! Lines stay intact: if a file does not end with a newline, one is inserted. Compressed formats that support
//! concatenation (gzip, bzip2, zstd) are joined as they are.

use std::fmt;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use sha2::{Digest, Sha256};

use super::error::TransferError;
use super::input::{Content, Identity, Input, hex};
use super::location::Location;
use super::stores::Stores;

/// Extensions of files that consist of text lines.
const LINES: [&str; 8] = ["", "csv", "json", "jsonl", "log", "ndjson", "tsv", "txt"];
/// Extensions of files that can be concatenated as they are.
const STREAMS: [&str; 5] = ["bz2", "gz", "lzo", "tfrecord", "zst"];
/// Maximum number of files per target: all of them are open at a time.
pub const MOST: usize = 256;
/// Magic numbers of files that are not lines, whatever their names: Parquet, ORC, Avro, SequenceFiles, gzip,
/// zip.
const OTHERS: [&[u8]; 6] = [b"PAR1", b"ORC", b"Obj\x01", b"SEQ", b"\x1f\x8b", b"PK\x03\x04"];
/// Maximum length of a first line.
const LONGEST_HEADER: u64 = 64 << 10;

/// The sources of one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A single file.
    One(Location),
    /// Joined small files.
    Joined(Joined),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(location) => location.fmt(f),
            Self::Joined(Joined { parts, .. }) => match &parts[..] {
                [first, .., last] => write!(f, "{} files from {first} to {last}", parts.len()),
                [only] => only.fmt(f),
                [] => f.write_str("nothing"),
            },
        }
    }
}

/// Several files that become one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    /// Their locations, in order.
    pub parts: Vec<Location>,
    /// Whether all have the same first line, to keep once.
    pub header: bool,
}

/// The part of one file that is read.
#[derive(Clone)]
pub struct Segment {
    input: Input,
    /// Its offset in the result.
    at: u64,
    /// Bytes to skip at the start.
    skip: u64,
    /// Number of bytes to read.
    length: u64,
    /// Whether to append a newline.
    line_end: bool,
}

/// The suffix of a name that determines its kind: nothing, `.csv` or `.csv.gz`.
pub fn suffix(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or(name);
    let Some(dot) = file.rfind('.') else { return "" };
    let inner =
        file[..dot].rfind('.').filter(|inner| is_stream(file) && LINES.contains(&&file[inner + 1..dot]));
    &file[inner.unwrap_or(dot)..]
}

fn kind(name: &str) -> String {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.rsplit_once('.').map_or_else(String::new, |(_, kind)| kind.to_ascii_lowercase())
}

fn is_stream(name: &str) -> bool {
    STREAMS.contains(&&*kind(name))
}

/// Whether a compressed file contains lines, judging by its name.
fn holds_lines(name: &str) -> bool {
    let inner = name.rsplit_once('.').map_or("", |(inner, _)| inner);
    let kind = kind(inner);
    LINES.contains(&&*kind) || kind.bytes().all(|byte| byte.is_ascii_digit())
}

/// Fails if files of this name cannot be concatenated.
pub fn check(name: &str, header: bool) -> Result<(), TransferError> {
    let kind = kind(name);
    let numbered = kind.bytes().all(|byte| byte.is_ascii_digit());
    if LINES.contains(&&*kind) || numbered || (is_stream(name) && !header && holds_lines(name)) {
        return Ok(());
    }
    let why = match is_stream(name) && holds_lines(name) {
        true => "the header of a compressed file cannot be removed; merge without `header`, or not at all",
        false => "files of this kind contain more than lines, and cannot be merged",
    };
    Err(TransferError::bad_url(name, why))
}

/// Opens all of them.
pub async fn open(stores: &Stores, joined: &Joined) -> Result<(Identity, Vec<Segment>), TransferError> {
    let mut segments: Vec<Segment> = Vec::with_capacity(joined.parts.len());
    let mut header: Option<Bytes> = None;
    let (mut at, mut hasher, mut telling) = (0, Sha256::new(), true);
    for (index, part) in joined.parts.iter().enumerate() {
        let input = Input::open_one(stores, part).await?;
        let Some(size) = input.identity.size.filter(|_| input.ranges) else {
            return Err(TransferError::bad_url(
                part,
                "its server does not report its size; it cannot be merged",
            ));
        };
        telling &= input.identity.is_telling();
        hasher.update(input.identity.digest());
        let mut skip = 0;
        if joined.header && size > 0 {
            let line = first_line(&input, size).await?;
            match &header {
                Some(first) if first.trim_ascii_end() != line.trim_ascii_end() => {
                    let why = "its first line differs from the files before it; they cannot be merged";
                    return Err(TransferError::bad_url(part, why));
                }
                Some(_) => skip = line.len() as u64,
                None => header = Some(line),
            }
        }
        refuse_others(&input, part, size).await?;
        let lines = !is_stream(&part.to_string());
        let last = index + 1 == joined.parts.len();
        let line_end = lines && !last && size > skip && bytes(&input, size - 1..size).await? != b"\n"[..];
        let length = size - skip.min(size);
        segments.push(Segment { input, at, skip, length, line_end });
        at += length + u64::from(line_end);
    }
    let identity = Identity {
        address: hex(&hasher.finalize())[..16].to_owned(),
        size: Some(at),
        etag: telling.then(|| "of its parts".to_owned()),
        modified: None,
    };
    Ok((identity, segments))
}

/// The bytes from `start` to `end` of the result.
pub fn read(segments: &[Segment], start: u64, end: u64) -> Content {
    let wanted = segments.iter().filter(|one| one.at < end && one.at + one.length + 1 > start).cloned();
    stream::iter(wanted.collect::<Vec<_>>())
        .then(move |one| async move {
            let stop = one.at + one.length;
            let (from, to) = (start.clamp(one.at, stop), end.clamp(one.at, stop));
            let content = match from < to {
                true => one.input.read(from - one.at + one.skip, Some(to - one.at + one.skip)).await?,
                false => stream::empty().boxed(),
            };
            let line_end =
                (one.line_end && (start..end).contains(&stop)).then(|| Ok(Bytes::from_static(b"\n")));
            Ok(content.chain(stream::iter(line_end)))
        })
        .try_flatten()
        .boxed()
}

/// A name without an extension does not determine a file's kind.
async fn refuse_others(input: &Input, part: &Location, size: u64) -> Result<(), TransferError> {
    let name = part.to_string();
    let begin = if is_stream(&name) { Bytes::new() } else { bytes(input, 0..size.min(4)).await? };
    match OTHERS.iter().any(|other| begin.starts_with(other)) {
        true => {
            let why = "it contains more than lines, and cannot be merged";
            Err(TransferError::bad_url(part, why))
        }
        false => Ok(()),
    }
}

/// Including its newline.
async fn first_line(input: &Input, size: u64) -> Result<Bytes, TransferError> {
    let mut begin = bytes(input, 0..size.min(LONGEST_HEADER)).await?;
    match begin.iter().position(|byte| *byte == b'\n') {
        Some(end) => Ok(begin.split_to(end + 1)),
        None if size <= LONGEST_HEADER => Ok(begin),
        None => Err(TransferError::bad_url(&input.url, "its first line is longer than 64 KiB")),
    }
}

async fn bytes(input: &Input, range: std::ops::Range<u64>) -> Result<Bytes, TransferError> {
    let mut content = input.read(range.start, Some(range.end)).await?;
    let mut bytes = Vec::new();
    while let Some(block) = content.try_next().await? {
        bytes.extend_from_slice(&block);
    }
    Ok(bytes.into())
}
