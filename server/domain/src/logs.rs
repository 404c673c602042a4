//! Logs of workers: an optional capability of executors.
//!
//! A log is one append-only byte stream of one worker, so a reader only needs an offset.

use std::io;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::executor::{BoxFuture, Report};
use crate::ids::AttemptKey;
use crate::outcome::WorkerName;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl LogStream {
    /// The public name.
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
    pub worker: WorkerName,
    pub stream: LogStream,
}

/// A log, as far as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    pub name: LogName,
    /// Size, in bytes.
    pub length: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogPiece {
    /// The bytes. Empty if nothing is written yet.
    pub bytes: Vec<u8>,
    /// Offset of the next piece.
    pub next: u64,
    /// Whether this was the last piece: the worker has ended, and everything that it wrote was read.
    pub ended: bool,
    /// When its bytes were written, in order. Fewer marks, or none, if unknown.
    pub marks: Vec<LogMark>,
}

/// When a part of a log was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogMark {
    /// End of the part, in bytes. It begins at the end of the one before.
    pub end: u64,
    /// When its end was written. Its beginning is at most about a second older.
    pub at: Timestamp,
}

pub trait Logs: Send + Sync {
    /// The logs of an attempt, by role and index of their workers. Empty if no worker has begun, or if the
    /// logs are no longer retained.
    fn logs<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<Log>>>;

    /// Reads at most `limit` bytes of a log from `offset`. A log that does not exist is empty, and has not
    /// ended.
    fn read<'a>(
        &'a self,
        key: &'a AttemptKey,
        name: &'a LogName,
        offset: u64,
        limit: usize,
    ) -> BoxFuture<'a, io::Result<LogPiece>>;

    /// Offset up to which a log is known to be older than a time. 0 if nothing is known to be older.
    fn since<'a>(
        &'a self,
        key: &'a AttemptKey,
        name: &'a LogName,
        at: Timestamp,
    ) -> BoxFuture<'a, io::Result<u64>>;

    /// Reports so far of an unfinished attempt's workers, by rank, with secrets removed.
    fn reported<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<Arc<Report>>>>;
}

/// Initial search window for the last lines of a log, in bytes.
const WINDOW: u64 = 256 << 10;

/// Offset of the last `lines` lines of a log. Reads at most `most` bytes from its end, so there are fewer
/// lines if they are longer.
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

/// Offset of the last `count` lines of these bytes, and whether there are that many. `first` means that the
/// bytes start at the beginning of the log.
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
        // There are fewer lines: all of them, except one whose beginning is not in the bytes.
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
