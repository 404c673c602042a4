//! Progress and result of a transfer.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::listener::Listener;

/// A snapshot of a running transfer. Bytes count everything at the target, including earlier attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Finished files.
    pub files_done: u64,
    /// Total number of files.
    pub files_total: u64,
    /// Bytes at the target.
    pub bytes_done: u64,
    /// Total bytes, of sources that are open and report a size.
    pub bytes_total: u64,
}

/// How a file came to be at its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Fetched from the start.
    Copied,
    /// Fetched except for this many bytes, which an earlier transfer left.
    Resumed(u64),
    /// Already at the target, with the same content.
    Skipped,
}

/// One file of a finished transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileReport {
    /// The source, without secrets.
    pub url: String,
    /// Path or URL of the target.
    pub target: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Lower-case hexadecimal digits; `None` only for a skipped object without a stored checksum.
    pub sha256: Option<String>,
    pub outcome: Outcome,
}

/// The result of a transfer, in the order of the sources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    pub files: Vec<FileReport>,
    /// Partitions that were missing.
    pub left_out: Vec<String>,
}

impl Report {
    /// Total size in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Number of skipped files.
    pub fn skipped(&self) -> u64 {
        self.files.iter().filter(|file| file.outcome == Outcome::Skipped).count() as u64
    }
}

/// Counts progress, and reports it to the listener.
pub(crate) struct Tracker<'a> {
    listener: &'a dyn Listener,
    files_total: u64,
    files_done: AtomicU64,
    bytes_done: AtomicU64,
    bytes_total: AtomicU64,
}

impl<'a> Tracker<'a> {
    pub(crate) fn new(files_total: u64, listener: &'a dyn Listener) -> Self {
        let zero = AtomicU64::default;
        Self { listener, files_total, files_done: zero(), bytes_done: zero(), bytes_total: zero() }
    }

    /// Starts counting one file of `expected` bytes.
    pub(crate) fn file(&'a self, expected: u64) -> FileTracker<'a> {
        self.bytes_total.fetch_add(expected, Relaxed);
        FileTracker { all: self, expected, done: AtomicU64::default() }
    }

    fn tell(&self) {
        self.listener.progress(Progress {
            files_done: self.files_done.load(Relaxed),
            files_total: self.files_total,
            bytes_done: self.bytes_done.load(Relaxed),
            bytes_total: self.bytes_total.load(Relaxed),
        });
    }
}

/// The share of one file in the counters.
pub(crate) struct FileTracker<'a> {
    all: &'a Tracker<'a>,
    expected: u64,
    done: AtomicU64,
}

impl FileTracker<'_> {
    pub(crate) fn advance(&self, bytes: u64) {
        self.done.fetch_add(bytes, Relaxed);
        self.all.bytes_done.fetch_add(bytes, Relaxed);
        self.all.tell();
    }

    /// Resets the file's count: the source must be read from the start again.
    pub(crate) fn restart(&self) {
        self.all.bytes_done.fetch_sub(self.done.swap(0, Relaxed), Relaxed);
    }

    /// Removes the file from the counters, before a retry or after a failure.
    pub(crate) fn give_up(&self) {
        self.restart();
        self.all.bytes_total.fetch_sub(self.expected, Relaxed);
    }

    pub(crate) fn finish(&self) {
        self.all.files_done.fetch_add(1, Relaxed);
        self.all.tell();
    }
}
