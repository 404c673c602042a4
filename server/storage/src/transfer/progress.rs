//! How far a transfer is, and what it brought.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::listener::Listener;

/// A moment of a running transfer. Bytes count what lies at the target, also from earlier tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Files that are finished.
    pub files_done: u64,
    /// Files in all.
    pub files_total: u64,
    /// Bytes that are there.
    pub bytes_done: u64,
    /// Bytes in all, as far as the sources were looked at and tell.
    pub bytes_total: u64,
}

/// How a file came to be at its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Fetched from its beginning.
    Copied,
    /// Fetched but for this many bytes, which an earlier transfer left.
    Resumed(u64),
    /// There already, with the same content.
    Skipped,
}

/// One file of a finished transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileReport {
    /// The source, without secrets.
    pub url: String,
    /// Where it lies now.
    pub target: String,
    /// Its size.
    pub bytes: u64,
    /// Lower-case hexadecimal digits; none only for a skipped object whose store keeps no sum of it.
    pub sha256: Option<String>,
    /// How it came there.
    pub outcome: Outcome,
}

/// What a transfer brought, in the order of the sources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The files.
    pub files: Vec<FileReport>,
    /// Partitions that were not there.
    pub left_out: Vec<String>,
}

impl Report {
    /// Sum of the sizes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Files that were there already.
    pub fn skipped(&self) -> u64 {
        self.files.iter().filter(|file| file.outcome == Outcome::Skipped).count() as u64
    }
}

/// Counts, and tells the listener.
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

    /// Starts to count one file of `expected` bytes.
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

/// The part of one file in the count.
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

    /// Takes back what was counted: the source must be read from its beginning again.
    pub(crate) fn restart(&self) {
        self.all.bytes_done.fetch_sub(self.done.swap(0, Relaxed), Relaxed);
    }

    /// Takes the file out of the count, before it is tried anew or given up.
    pub(crate) fn give_up(&self) {
        self.restart();
        self.all.bytes_total.fetch_sub(self.expected, Relaxed);
    }

    pub(crate) fn finish(&self) {
        self.all.files_done.fetch_add(1, Relaxed);
        self.all.tell();
    }
}
