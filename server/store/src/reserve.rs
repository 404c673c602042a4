//! Reserved disk space next to a SQLite database. It is released when a write finds the disk full, so that
//! active runs can be stored, and reallocated when there is space.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use cubeloom_domain::disk::{kept_free, shown};
use rustix::fs::{CWD, FallocateFlags, Mode, OFlags};
use rustix::io::Errno;
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::Store;
use crate::error::StoreError;

/// The interval between checks for free space.
const AGAIN: Duration = Duration::from_secs(1);
/// The size of a write in bytes, if the file system cannot allocate.
const PIECE: usize = 1 << 20;

/// The state of the reserve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReserveState {
    /// The database has none: because of the settings, or because it is PostgreSQL.
    None,
    /// It is allocated.
    Kept,
    /// It was released, or could not be allocated yet: the disk has too little space.
    Missing,
}

pub(crate) struct Reserve {
    path: PathBuf,
    bytes: u64,
    /// The disk space to keep free, if set.
    free: Option<u64>,
    kept: AtomicBool,
    wanted: Arc<Notify>,
}

impl Store {
    /// Reserves so many bytes next to a SQLite database; 0 disables it. `free` is the disk space to keep free
    /// besides it, if set. Without enough space the reserve is allocated later.
    pub fn keep_reserve(&self, bytes: u64, free: Option<u64>) {
        let Some(file) = self.inner.file.as_deref().filter(|_| bytes > 0) else { return };
        let (kept, wanted) = (AtomicBool::new(false), Arc::new(Notify::new()));
        let reserve = Arc::new(Reserve { path: beside(file), bytes, free, kept, wanted: wanted.clone() });
        let looked_after = Arc::downgrade(&reserve);
        if self.inner.reserve.set(reserve).is_ok() {
            tokio::spawn(look_after(looked_after, wanted));
        }
    }

    #[must_use]
    pub fn reserve(&self) -> ReserveState {
        match self.inner.reserve.get() {
            None => ReserveState::None,
            Some(reserve) if reserve.kept.load(Ordering::Relaxed) => ReserveState::Kept,
            Some(_) => ReserveState::Missing,
        }
    }

    /// Passes a result on. After a full disk, releases the reserve, so that the next attempt has space. After
    /// a broken connection, the others are tested before use.
    pub(crate) fn noticed<T>(&self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(error) = &result {
            self.inner.breaks.look_at(error);
        }
        if let (Err(StoreError::DiskFull(_)), Some(reserve)) = (&result, self.inner.reserve.get()) {
            reserve.give_up();
        }
        result
    }
}

/// Reallocates it whenever it is missing and there is space, as long as the store is in use.
async fn look_after(reserve: Weak<Reserve>, wanted: Arc<Notify>) {
    let mut failed = false;
    while let Some(reserve) = reserve.upgrade() {
        let made = tokio::task::spawn_blocking(move || reserve.make()).await;
        match made.unwrap_or_else(|error| Err(io::Error::other(error))) {
            Ok(true) => {
                wanted.notified().await;
                continue;
            }
            Ok(false) => {}
            Err(error) if failed => tracing::debug!(%error, "the database's reserve cannot be created"),
            Err(error) => {
                failed = true;
                tracing::warn!(%error, "the database's reserve cannot be created; retrying");
            }
        }
        sleep(AGAIN).await;
    }
}

impl Reserve {
    /// Whether it is allocated. It needs space for itself, for the same amount again, and for the space to
    /// keep free.
    fn make(&self) -> io::Result<bool> {
        if self.kept.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let there = fs::symlink_metadata(&self.path).map_or(0, |found| found.blocks() * 512);
        let missing = self.bytes.saturating_sub(there);
        if missing > 0 {
            let disk = rustix::fs::statvfs(self.path.parent().unwrap_or(Path::new(".")))?;
            let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
            let needed = kept_free(bytes(disk.f_blocks), self.free).saturating_add(missing);
            if bytes(disk.f_bavail) < needed.saturating_add(self.bytes) {
                return Ok(false);
            }
        }
        allocate(&self.path, self.bytes).inspect_err(|_| _ = fs::remove_file(&self.path))?;
        self.kept.store(true, Ordering::Relaxed);
        tracing::info!("the database has a reserve of {}", shown(self.bytes));
        Ok(true)
    }

    fn give_up(&self) {
        if !self.kept.swap(false, Ordering::Relaxed) {
            return;
        }
        match fs::remove_file(&self.path) {
            Ok(()) => tracing::warn!(
                "the database's disk is full: its reserve of {} is released, and created again when there is space",
                shown(self.bytes)
            ),
            Err(error) => tracing::error!(%error, "the database's reserve could not be released"),
        }
        self.wanted.notify_one();
    }
}

impl Drop for Reserve {
    fn drop(&mut self) {
        self.wanted.notify_one();
    }
}

/// The path of a database's reserve.
fn beside(file: &Path) -> PathBuf {
    let mut name = OsString::from(file);
    name.push("-reserve");
    name.into()
}

/// Removes the reserve of a database that is not open; returns whether there was one.
pub(crate) fn remove(file: &Path) -> bool {
    fs::remove_file(beside(file)).is_ok()
}

/// Creates a file with this many allocated bytes.
fn allocate(path: &Path, bytes: u64) -> io::Result<()> {
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(CWD, path, flags, Mode::from_raw_mode(0o600))?);
    match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes) {
        Ok(()) => {}
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => write(&mut file, bytes)?,
        Err(errno) => return Err(errno.into()),
    }
    file.set_len(bytes)?;
    file.sync_all()
}

/// Writes incompressible data.
fn write(file: &mut File, bytes: u64) -> io::Result<()> {
    let mut noise: u64 = 1;
    let mut piece = vec![0; PIECE];
    let mut left = bytes;
    while left > 0 {
        for byte in &mut piece {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = noise.to_be_bytes()[0];
        }
        let length = usize::try_from(left).map_or(PIECE, |left| left.min(PIECE));
        file.write_all(&piece[..length])?;
        left -= length as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn reserve(file: &Path, bytes: u64, free: Option<u64>) -> Reserve {
        let (kept, wanted) = (AtomicBool::new(false), Arc::default());
        Reserve { path: beside(file), bytes, free, kept, wanted }
    }

    #[test]
    fn a_reserve_is_allocated_and_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("db.sqlite");
        let kept = reserve(&file, 3 << 20, Some(0));
        assert!(kept.make().unwrap());
        let found = fs::metadata(folder.path().join("db.sqlite-reserve")).unwrap();
        assert!(found.blocks() * 512 >= 3 << 20, "{} blocks", found.blocks());
        assert_eq!((found.len(), found.permissions().mode() & 0o777), (3 << 20, 0o600));
        kept.give_up();
        assert!(!beside(&file).exists());
        assert!(kept.make().unwrap() && beside(&file).exists());
        let smaller = reserve(&file, 1 << 20, Some(u64::MAX));
        assert!(smaller.make().unwrap(), "what is there needs no room");
        assert_eq!(fs::metadata(beside(&file)).unwrap().len(), 1 << 20);
        assert!(remove(&file) && !remove(&file));
    }

    #[test]
    fn without_room_none_is_made_and_no_link_is_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("db.sqlite");
        assert!(!reserve(&file, 1 << 20, Some(u64::MAX)).make().unwrap());
        assert!(!beside(&file).exists());
        let other = folder.path().join("other");
        fs::write(&other, "kept").unwrap();
        symlink(&other, beside(&file)).unwrap();
        assert!(reserve(&file, 1 << 20, Some(0)).make().is_err());
        assert_eq!(fs::read_to_string(&other).unwrap(), "kept");
    }

    #[test]
    fn where_nothing_can_be_allocated_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("written");
        write(&mut File::create(&path).unwrap(), (PIECE + 7) as u64).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), (PIECE + 7) as u64);
    }
}
