//! An unfinished local target: a hidden partial file, with a note of its finished ranges beside it.
//!
//! The target appears by a single rename. An interrupted transfer leaves both files; the next one resumes
//! from them if the source is unchanged.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::error::TransferError;
use super::input::{Identity, hex};
use super::listing::{PART_SUFFIX, parent};

/// Maximum age of finished ranges that are not saved yet. After a crash, those are fetched again.
const NOTE_PERIOD: Duration = Duration::from_secs(1);

/// The partial file, locked by one transfer.
pub struct Part {
    file: Arc<File>,
    path: PathBuf,
    note_path: PathBuf,
    target: PathBuf,
    note: Mutex<Note>,
    noted: Mutex<Instant>,
}

/// Content of the note beside a partial file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Note {
    source: Identity,
    /// Finished ranges, sorted, none touching another.
    done: Vec<Range<u64>>,
}

impl Part {
    /// Opens or creates the partial file of `target`. Keeps ranges of an earlier transfer if `source` is the
    /// same.
    pub fn open(target: &Path, source: &Identity) -> Result<Self, TransferError> {
        let folder = parent(target);
        std::fs::create_dir_all(&folder).map_err(|error| TransferError::io(&folder, 0, error))?;
        let path = folder.join(format!(".{}{PART_SUFFIX}", short_name(target)));
        let note_path = path.with_added_extension("json");
        let file = open_locked(&path, target)?;
        let whole = file.metadata().is_ok_and(|meta| Some(meta.len()) == source.size);
        let kept =
            read_note(&note_path).filter(|note| whole && source.is_telling() && note.source == *source);
        let note = kept.unwrap_or_else(|| Note { source: source.clone(), done: Vec::new() });
        let part = Self {
            file: Arc::new(file),
            path,
            note_path,
            target: target.to_owned(),
            note: Mutex::new(note),
            noted: Mutex::new(Instant::now()),
        };
        part.prepare(source.size)?;
        Ok(part)
    }

    /// Truncates a new file, or checks that the disk has space for the missing ranges.
    fn prepare(&self, size: Option<u64>) -> Result<(), TransferError> {
        let fault = |error| TransferError::io(&self.path, size.unwrap_or(0), error);
        let fresh = self.lock().done.is_empty();
        if fresh {
            self.file.set_len(0).map_err(fault)?;
            remove(&self.note_path)?;
        }
        let stored = self.file.metadata().map_err(fault)?.blocks() * 512;
        let needed = size.unwrap_or(0).saturating_sub(stored);
        let room = rustix::fs::fstatvfs(&self.file).map_err(|error| fault(error.into()))?;
        if needed > room.f_bavail.saturating_mul(room.f_frsize) {
            if fresh {
                self.discard()?;
            }
            return Err(TransferError::Full { path: self.target.clone(), needed });
        }
        match size {
            Some(size) => self.file.set_len(size).map_err(fault),
            None => Ok(()),
        }
    }

    /// Bytes already in the partial file.
    pub fn done(&self) -> u64 {
        self.lock().done.iter().map(|range| range.end - range.start).sum()
    }

    /// The missing ranges, in pieces of at most `chunk` bytes.
    pub fn missing(&self, size: u64, chunk: u64) -> Vec<Range<u64>> {
        let note = self.lock();
        let mut missing = Vec::new();
        let mut at = 0;
        let end = std::iter::once(size..size);
        for done in note.done.iter().cloned().chain(end) {
            while at < done.start {
                let next = (at + chunk).min(done.start);
                missing.push(at..next);
                at = next;
            }
            at = at.max(done.end);
        }
        missing
    }

    /// Writes a block; blocks of different ranges may arrive concurrently.
    pub async fn write(&self, at: u64, block: Bytes) -> Result<(), TransferError> {
        let (file, path) = (self.file.clone(), self.target.clone());
        super::blocking(move || {
            file.write_all_at(&block, at).map_err(|error| TransferError::io(&path, block.len() as u64, error))
        })
        .await
    }

    /// Marks a range as finished.
    pub fn finish_range(&self, range: Range<u64>) -> Result<(), TransferError> {
        insert(&mut self.lock().done, range);
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.elapsed() < NOTE_PERIOD {
            return Ok(());
        }
        *noted = Instant::now();
        self.save()
    }

    /// Writes the note, after the data is synced to disk.
    pub fn save(&self) -> Result<(), TransferError> {
        let fault = |error| TransferError::io(&self.note_path, 0, error);
        let note = self.lock().clone();
        if note.done.is_empty() || !note.source.is_telling() {
            return Ok(());
        }
        self.file.sync_data().map_err(fault)?;
        let text = serde_json::to_vec(&note).map_err(|error| fault(error.into()))?;
        let fresh = self.note_path.with_added_extension("new");
        std::fs::write(&fresh, text).and_then(|()| std::fs::rename(&fresh, &self.note_path)).map_err(fault)
    }

    /// Discards the content, for a source that can only be read from the start.
    pub fn restart(&self) -> Result<(), TransferError> {
        self.lock().done.clear();
        self.file.set_len(0).map_err(|error| TransferError::io(&self.path, 0, error))
    }

    /// The partial file, for reading it back.
    pub fn file(&self) -> Arc<File> {
        self.file.clone()
    }

    /// Renames the partial file to the target.
    pub fn publish(&self) -> Result<(), TransferError> {
        self.file.sync_all().map_err(|error| TransferError::io(&self.path, 0, error))?;
        std::fs::rename(&self.path, &self.target)
            .map_err(|error| TransferError::io(&self.target, 0, error))?;
        let folder = parent(&self.target);
        let synced = File::open(&folder).and_then(|folder| folder.sync_all());
        synced.map_err(|error| TransferError::io(&folder, 0, error))?;
        remove(&self.note_path)
    }

    /// Removes the partial file and its note: the fetched data is useless.
    pub fn discard(&self) -> Result<(), TransferError> {
        remove(&self.path)?;
        remove(&self.note_path)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Note> {
        self.note.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens and locks. After locking it checks the name again: the previous holder may have renamed the file to
/// the target.
fn open_locked(path: &Path, target: &Path) -> Result<File, TransferError> {
    let fault = |error| TransferError::io(path, 0, error);
    loop {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(fault)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            // Some network file systems support no locks; there the user has to avoid concurrent transfers.
            Ok(()) | Err(Errno::NOTSUP | Errno::NOLCK | Errno::NOSYS) => {}
            Err(Errno::WOULDBLOCK) => return Err(TransferError::Busy { path: target.to_owned() }),
            Err(error) => return Err(fault(error.into())),
        }
        let held = file.metadata().map_err(fault)?.ino();
        if std::fs::metadata(path).is_ok_and(|named| named.ino() == held) {
            return Ok(file);
        }
    }
}

fn read_note(path: &Path) -> Option<Note> {
    let note: Note = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    let size = note.source.size?;
    let sorted = note.done.windows(2).all(|pair| pair[0].end < pair[1].start);
    let sound = note.done.iter().all(|range| range.start < range.end && range.end <= size);
    (sorted && sound).then_some(note)
}

fn insert(done: &mut Vec<Range<u64>>, range: Range<u64>) {
    if range.is_empty() {
        return;
    }
    let at = done.partition_point(|other| other.start < range.start);
    done.insert(at, range);
    done.dedup_by(|next, before| {
        let touches = next.start <= before.end;
        if touches {
            before.end = before.end.max(next.end);
        }
        touches
    });
}

/// The target's name, or a hash of it if the suffixes would make it too long for a file system.
fn short_name(target: &Path) -> String {
    use sha2::{Digest, Sha256};
    let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if name.len() <= 200 { name } else { hex(&Sha256::digest(name.as_bytes())) }
}

fn remove(path: &Path) -> Result<(), TransferError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(TransferError::io(path, 0, error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::insert;

    #[test]
    fn ranges_that_touch_become_one() {
        let mut done = Vec::new();
        for range in [10..20, 0..5, 30..40, 20..30, 5..10] {
            insert(&mut done, range);
        }
        assert!(done.len() == 1 && done[0] == (0..40), "{done:?}");
        insert(&mut done, 50..60);
        assert_eq!(done, [0..40, 50..60]);
    }
}
