//! What workers wrote: an optional capability of executors.
//!
//! A log is one stream of bytes of one worker that only grows, so that a reader needs no more than an offset.

use std::io;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::executor::{BoxFuture, Report};
use crate::ids::AttemptKey;
use crate::outcome::WorkerName;

/// Which of a worker's streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl LogStream {
    /// The word for it, as shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// One log of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogName {
    /// Who wrote it.
    pub worker: WorkerName,
    /// Which stream.
    pub stream: LogStream,
}

/// A log, as far as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// Which one.
    pub name: LogName,
    /// Size, in bytes.
    pub length: u64,
}

/// A piece of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogPiece {
    /// The bytes; empty where nothing is written yet.
    pub bytes: Vec<u8>,
    /// Where the next piece begins.
    pub next: u64,
    /// Whether that was the last piece: the worker has ended, and everything that it wrote was read.
    pub ended: bool,
    /// When its bytes came, in the log's order; fewer marks, or none, where that is not known.
    pub marks: Vec<LogMark>,
}

/// When a part of a log came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogMark {
    /// Where the part ends, in bytes; it begins where the one before it ends.
    pub end: u64,
    /// When its end was written; its beginning at most about a second before.
    pub at: Timestamp,
}

/// Reads logs.
pub trait Logs: Send + Sync {
    /// The logs of an attempt, by role and index of their workers; none when no worker has begun, or when they are
    /// not kept any more.
    ///
    /// # Errors
    /// They cannot be read.
    fn logs<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<Log>>>;

    /// At most `limit` bytes of a log, from `offset`.
    ///
    /// # Errors
    /// It cannot be read. One that does not exist is empty, and has not ended.
    fn read<'a>(
        &'a self,
        key: &'a AttemptKey,
        name: &'a LogName,
        offset: u64,
        limit: usize,
    ) -> BoxFuture<'a, io::Result<LogPiece>>;

    /// What the workers of an attempt that has not ended have reported so far, by rank; without their secrets.
    ///
    /// # Errors
    /// It cannot be read.
    fn reported<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<Arc<Report>>>>;
}

/// First window in which the last lines of a log are sought, in bytes.
const WINDOW: u64 = 256 << 10;

/// Where the last `lines` lines of a log begin, in bytes. At most `most` bytes of its end are read: of longer lines there
/// are fewer.
///
/// # Errors
/// The log cannot be read.
pub async fn before_last(
    logs: &dyn Logs,
    key: &AttemptKey,
    log: &Log,
    lines: usize,
    most: u64,
) -> io::Result<u64> {
    let mut window = WINDOW.min(most);
    loop {
        let from = log.length.saturating_sub(window);
        let limit = usize::try_from(log.length - from).unwrap_or(usize::MAX);
        let bytes = logs.read(key, &log.name, from, limit).await?.bytes;
        let (begin, all) = last_lines(&bytes, lines, from == 0);
        if all || from == 0 || window == most {
            return Ok(from + begin as u64);
        }
        window = window.saturating_mul(4).min(most);
    }
}

/// Where the last `count` lines of these bytes begin, and whether there are so many; `first` when they are the log from
/// its beginning.
fn last_lines(bytes: &[u8], count: usize, first: bool) -> (usize, bool) {
    if count == 0 {
        return (bytes.len(), true);
    }
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let ends = body.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    let (mut start, mut found) = (None, 0);
    for (at, _) in ends.take(count) {
        (start, found) = (Some(at + 1), found + 1);
    }
    match start {
        Some(start) if found == count => (start, true),
        // There are fewer lines: all of them, but for one whose beginning is not here.
        start => (if first { 0 } else { start.unwrap_or(0) }, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_begin_where_they_begin() {
        let text = b"one\ntwo\nthree\n";
        assert_eq!(last_lines(text, 1, true), (8, true));
        assert_eq!(last_lines(text, 2, true), (4, true));
        assert_eq!(last_lines(text, 3, true), (0, false));
        assert_eq!(last_lines(text, 9, false), (4, false));
        assert_eq!(last_lines(b"one\ntw", 1, true), (4, true));
        assert_eq!(last_lines(text, 0, true), (text.len(), true));
        assert_eq!(last_lines(b"", 5, true), (0, false));
    }
}
