//! Polls a worker's files while it runs: timestamps of its lines, and a masked copy of its reports.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cubeloom_domain::logs::LogMark;
use cubeloom_files::own;

use crate::spec::{self, ShimSpec};
use cubeloom_workers::mask::Masker;
use cubeloom_workers::{log_times, logs, outputs};

/// Poll interval after a write; then it grows.
const SOON: Duration = Duration::from_millis(100);
const LATER: Duration = Duration::from_secs(1);
/// A stream with more marks than this gets at most one a second: an hour of continuous output.
const DENSE: u32 = 36_000;
/// Read size of the outputs, in bytes.
const PIECE: usize = 64 << 10;

/// Polls a worker's files.
pub(super) struct Watch {
    streams: [Marks; 2],
    outputs: Option<MaskedCopy>,
    began: Instant,
    next: Instant,
    gap: Duration,
}

/// The timestamps of one stream.
struct Marks {
    stream: PathBuf,
    file: Option<File>,
    /// Length of the stream at the last mark.
    known: u64,
    count: u32,
    last: Instant,
}

/// A masked copy of the reports, for a worker with secrets.
struct MaskedCopy {
    source: PathBuf,
    path: PathBuf,
    file: Option<File>,
    masker: Masker,
    read: u64,
}

impl Watch {
    pub(super) fn new(order: &ShimSpec) -> Self {
        let now = Instant::now();
        let streams = [spec::STDOUT, spec::STDERR].map(|name| Marks {
            stream: order.folder.join(name),
            file: None,
            known: 0,
            count: 0,
            last: now,
        });
        let outputs = (!order.masks.is_empty()).then(|| MaskedCopy::new(order));
        Self { streams, outputs, began: now, next: now + SOON, gap: SOON }
    }

    /// When the next poll is due.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Polls, if due.
    pub(super) fn tick(&mut self) {
        let now = Instant::now();
        if self.next > now {
            return;
        }
        let grown = self.look(now);
        self.gap = if grown { SOON } else { (self.gap * 2).min(LATER) };
        self.next = now + self.gap;
    }

    /// Polls the streams a last time, after all writes.
    pub(super) fn finish(&mut self) {
        let brief = self.began.elapsed() < log_times::BRIEF;
        for marks in self.streams.iter_mut().filter(|marks| !brief || marks.file.is_some()) {
            marks.look();
        }
    }

    /// Whether anything was written. Ignores write errors: they must not harm the worker.
    fn look(&mut self, now: Instant) -> bool {
        let mut grown = false;
        for marks in &mut self.streams {
            if marks.count < DENSE || now.duration_since(marks.last) >= LATER {
                grown |= marks.look();
                marks.last = now;
            }
        }
        grown | self.outputs.as_mut().is_some_and(MaskedCopy::look)
    }
}

impl Marks {
    /// Writes a mark if the stream has grown.
    fn look(&mut self) -> bool {
        let Ok(mark) = log_times::present(&self.stream) else { return false };
        if mark.end <= self.known {
            return false;
        }
        if self.append(&mark).is_ok() {
            self.known = mark.end;
            self.count = self.count.saturating_add(1);
        }
        true
    }

    fn append(&mut self, mark: &LogMark) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(append(log_times::path(&self.stream))?),
        };
        file.write_all(&log_times::written(mark))
    }
}

impl MaskedCopy {
    fn new(order: &ShimSpec) -> Self {
        let path = outputs::masked(&order.outputs);
        // Create it at the start: it marks the outputs themselves as not readable yet.
        let file = append(path.clone()).ok();
        Self { source: order.outputs.clone(), path, file, masker: Masker::new(&order.masks), read: 0 }
    }

    /// Copies new reports.
    fn look(&mut self) -> bool {
        let Some(file) = &mut self.file else { return false };
        let room = (outputs::MOST as u64).saturating_sub(self.read).min(PIECE as u64);
        let Ok(piece) = logs::range(&self.source, self.read, room as usize) else { return false };
        self.read = piece.next;
        !piece.bytes.is_empty() && file.write_all(&self.masker.push(&piece.bytes)).is_ok()
    }
}

impl Drop for MaskedCopy {
    fn drop(&mut self) {
        let _ = own::remove_file(&self.path);
    }
}

fn append(path: PathBuf) -> io::Result<File> {
    own::open_with(OpenOptions::new().create(true).append(true).mode(0o640), path)
}
