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
