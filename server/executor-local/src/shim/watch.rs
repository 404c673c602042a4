//! What a worker's files are looked at for while it runs: when its lines came, and what it reports so far, masked.

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

/// How soon it is looked again after something was written; then ever later.
const SOON: Duration = Duration::from_millis(100);
const LATER: Duration = Duration::from_secs(1);
/// A stream with more marks than this gets one a second at most: an hour of speaking without a pause.
const DENSE: u32 = 36_000;
/// How much of the outputs is read at a time, in bytes.
const PIECE: usize = 64 << 10;

/// Looks at a worker's files from time to time.
pub(super) struct Watch {
    streams: [Marks; 2],
    outputs: Option<MaskedCopy>,
    began: Instant,
    next: Instant,
    gap: Duration,
}

/// The marks of one stream.
struct Marks {
    stream: PathBuf,
    file: Option<File>,
    /// How long the stream was at the last mark.
    known: u64,
    count: u32,
    last: Instant,
}

/// A copy of what a worker with secrets reports, in which they are masked.
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

    /// When the next look is due.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Looks, if it is time to.
    pub(super) fn tick(&mut self) {
        let now = Instant::now();
        if self.next > now {
            return;
        }
        let grown = self.look(now);
        self.gap = if grown { SOON } else { (self.gap * 2).min(LATER) };
        self.next = now + self.gap;
    }

    /// The last look at the streams, when nothing is written any more.
    pub(super) fn finish(&mut self) {
        let brief = self.began.elapsed() < log_times::BRIEF;
        for marks in self.streams.iter_mut().filter(|marks| !brief || marks.file.is_some()) {
            marks.look();
        }
    }

    /// Whether something was written. What the disk does not take is left out: it must not harm the worker.
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
        // There from the beginning: it says that the outputs themselves are not to be read yet.
        let file = append(path.clone()).ok();
        Self { source: order.outputs.clone(), path, file, masker: Masker::new(&order.masks), read: 0 }
    }

    /// Takes over what is new.
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
