//! Copies a folder atomically, without following symlinks, and preserves the files' owners.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use cubeloom_domain::failpoint;
use rustix::fs::{
    AtFlags, Dir, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps, Uid, mkdirat, openat,
};
use rustix::io::Errno;

use super::path::{clean, split};
use super::upload::PART;
use super::{BrowseError, Folder};

/// Maximum nesting depth of folders.
const MAX_DEPTH: usize = 128;
/// Mode bits to copy: neither setuid nor setgid.
const MODE: u32 = 0o777;

/// Counter for unique names of this process's copies.
static COPIES: AtomicU64 = AtomicU64::new(0);

/// Rewrites absolute symlinks: the old folder's outside path, and the new one's.
struct Names {
    old: String,
    new: String,
}

impl Folder {
    /// Copies the folder `from` recursively to `to`, which appears only once complete; does nothing if `to`
    /// exists. Skips special files. Symlinks stay symlinks. Absolute ones into the old folder are rewritten
    /// to the new one, where `outside` is this folder's path. Blocking. Removes the remains of an earlier
    /// attempt by a process that died.
    ///
    /// # Errors
    /// `from` does not exist, or the disk is full or fails.
    pub fn copy_folder(&self, from: &str, to: &str, outside: &Path) -> Result<(), BrowseError> {
        let (from, to) = (clean(from)?, clean(to)?);
        let names = Names {
            old: outside.join(&from).to_string_lossy().into_owned(),
            new: outside.join(&to).to_string_lossy().into_owned(),
        };
        let _turn = Turn::wait(&names.new);
        if matches!(self.stat(&to), Ok(found) if is_folder(&found)) {
            return Ok(());
        }
        let (above, name) = split(&to)?;
        let source = self.beneath(&from, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let parent = self.beneath(above, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let begun = format!("{PART}{name}-");
        self.forget_tries(above, &parent, &begun);
        // Another server may start the same copy if this one has lost its lease: each needs a unique name.
        let part = format!("{begun}{}-{}", std::process::id(), COPIES.fetch_add(1, Ordering::Relaxed));
        let placed = copy_aside(&source, &parent, &part, &names).and_then(|()| {
            match rustix::fs::renameat_with(&parent, part.as_str(), &parent, name, RenameFlags::NOREPLACE) {
                // Another server was faster.
                Err(Errno::EXIST) => Ok(false),
                other => Ok(other.map(|()| true)?),
            }
        });
        if !matches!(placed, Ok(true)) {
            self.forget_tries(above, &parent, &part);
        }
        placed.map(|_| ()).map_err(BrowseError::of_io(&from))
    }

    /// Removes remains of earlier attempts with this name prefix. What cannot be removed now is left for the
    /// next attempt.
    fn forget_tries(&self, above: &str, parent: &OwnedFd, begun: &str) {
        let Ok(entries) = Dir::read_from(parent) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy();
            if name.starts_with(begun) {
                let place = if above.is_empty() { name.into_owned() } else { format!("{above}/{name}") };
                if let Err(error) = self.remove(&place) {
                    tracing::warn!(%place, %error, "an unfinished copy is not removed");
                }
            }
        }
    }
}

/// An exclusive lock on filling a folder. An engine that restarts in the same process, as in an embedding
/// program, waits here for its predecessor's copy, and finds it complete.
struct Turn<'a>(&'a str);

static TAKEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
static GIVEN_BACK: Condvar = Condvar::new();

impl<'a> Turn<'a> {
    fn wait(folder: &'a str) -> Self {
        let taken = GIVEN_BACK.wait_while(Self::taken(), |taken| taken.contains(folder));
        taken.unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned());
        Self(folder)
    }

    fn taken() -> MutexGuard<'static, BTreeSet<String>> {
        TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        Self::taken().remove(self.0);
        GIVEN_BACK.notify_all();
    }
}

/// Copies a folder to a hidden temporary name.
fn copy_aside(source: &OwnedFd, parent: &OwnedFd, part: &str, names: &Names) -> io::Result<()> {
    let target = make_like(source, parent, part)?;
    copy_into(source, &target, names, 0)?;
    // The data must be on disk before the final name.
    rustix::fs::syncfs(&target)?;
    failpoint::hit("engine.prepare.copied");
    Ok(())
}

fn is_folder(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode) == FileType::Directory
}

/// Copies the entries of a folder into another.
fn copy_into(source: &OwnedFd, target: &OwnedFd, names: &Names, depth: usize) -> io::Result<()> {
    if depth > MAX_DEPTH {
        return Err(io::Error::other(format!("folders are nested more than {MAX_DEPTH} deep")));
    }
    for entry in Dir::read_from(source)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        // A process that a task left running may have removed it meanwhile.
        let Some(found) = there(rustix::fs::statat(source, name, AtFlags::SYMLINK_NOFOLLOW))? else {
            continue;
        };
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => {
                let Some(inner) = there(open_folder(source, name))? else { continue };
                copy_into(&inner, &make_like(&inner, target, name)?, names, depth + 1)?;
            }
            FileType::RegularFile => copy_file(source, target, name)?,
            FileType::Symlink => copy_link(source, target, name, &found, names)?,
            _ => {}
        }
    }
    Ok(())
}

fn there<T>(result: Result<T, Errno>) -> io::Result<Option<T>> {
    match result {
        Err(Errno::NOENT) => Ok(None),
        other => Ok(Some(other?)),
    }
}

fn open_folder(parent: &OwnedFd, name: impl rustix::path::Arg) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}

/// Creates a folder with the owner of another one.
fn make_like(
    like: &OwnedFd,
    parent: &OwnedFd,
    name: impl rustix::path::Arg + Copy,
) -> Result<OwnedFd, Errno> {
    mkdirat(parent, name, Mode::from_raw_mode(0o700))?;
    let made = open_folder(parent, name)?;
    give(&made, &rustix::fs::fstat(like)?)?;
    Ok(made)
}

/// Applies another file's owner, group and mode, as far as this process may.
fn give(file: &OwnedFd, like: &Stat) -> Result<(), Errno> {
    let own = rustix::fs::fstat(file)?;
    if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid) {
        rustix::fs::fchown(file, Some(Uid::from_raw(like.st_uid)), Some(Gid::from_raw(like.st_gid)))?;
    }
    rustix::fs::fchmod(file, Mode::from_raw_mode(like.st_mode & MODE))
}

fn copy_file(source: &OwnedFd, target: &OwnedFd, name: &CStr) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let Some(old) = there(openat(source, name, flags, Mode::empty()))? else { return Ok(()) };
    let found = rustix::fs::fstat(&old)?;
    // Replaced by something else since the stat.
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Ok(());
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let new = openat(target, name, flags, Mode::from_raw_mode(0o600))?;
    // The kernel copies, and shares blocks if the file system supports it.
    let (mut reader, mut writer) = (File::from(old), File::from(new));
    io::copy(&mut reader, &mut writer)?;
    let new = OwnedFd::from(writer);
    give(&new, &found)?;
    Ok(rustix::fs::futimens(&new, &times(&found))?)
}

/// Build tools and caches rely on them.
fn times(found: &Stat) -> Timestamps {
    let moment = |seconds, nanoseconds: u64| Timespec {
        tv_sec: seconds,
        tv_nsec: i64::try_from(nanoseconds).unwrap_or(0),
    };
    Timestamps {
        last_access: moment(found.st_atime, found.st_atime_nsec),
        last_modification: moment(found.st_mtime, found.st_mtime_nsec),
    }
}

fn copy_link(source: &OwnedFd, target: &OwnedFd, name: &CStr, found: &Stat, names: &Names) -> io::Result<()> {
    let Some(leads) = there(rustix::fs::readlinkat(source, name, Vec::new()))? else { return Ok(()) };
    let leads = leads.to_string_lossy().into_owned();
    let inside = leads.strip_prefix(&names.old).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let leads = inside.map_or(leads.clone(), |rest| format!("{}{rest}", names.new));
    rustix::fs::symlinkat(leads.as_str(), target, name)?;
    if rustix::process::geteuid().is_root() {
        let (uid, gid) = (Some(Uid::from_raw(found.st_uid)), Some(Gid::from_raw(found.st_gid)));
        rustix::fs::chownat(target, name, uid, gid, AtFlags::SYMLINK_NOFOLLOW)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_folder_is_copied_whole_and_nothing_is_shared() {
        let place = tempfile::tempdir().unwrap();
        let runs = place.path().join("runs");
        fs::create_dir_all(runs.join("old/deep")).unwrap();
        fs::create_dir_all(runs.join(format!("{PART}new-1-0/left"))).unwrap();
        fs::write(runs.join("old/deep/program"), "text").unwrap();
        fs::set_permissions(runs.join("old/deep/program"), fs::Permissions::from_mode(0o4751)).unwrap();
        fs::write(place.path().join("secret"), "not to be copied").unwrap();
        symlink(runs.join("old/deep"), runs.join("old/inside")).unwrap();
        symlink("../../secret", runs.join("old/out")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, runs.join("old/pipe"), Mode::from_raw_mode(0o600)).unwrap();

        let folder = Folder::open(place.path(), None).unwrap().unwrap();
        folder.copy_folder("runs/old", "runs/new", place.path()).unwrap();
        let found = fs::metadata(runs.join("new/deep/program")).unwrap();
        let old = fs::metadata(runs.join("old/deep/program")).unwrap();
        assert_eq!((found.mode() & 0o7777, found.mtime()), (0o751, old.mtime()));
        assert_ne!(found.ino(), old.ino());
        assert_eq!(fs::read_link(runs.join("new/inside")).unwrap(), runs.join("new/deep"));
        assert_eq!(fs::read_link(runs.join("new/out")).unwrap(), Path::new("../../secret"));
        let names: Vec<_> = fs::read_dir(&runs).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "the earlier try is gone: {names:?}");
        assert!(!runs.join("new/pipe").exists());

        fs::write(runs.join("new/mark"), "").unwrap();
        folder.copy_folder("runs/old", "runs/new", place.path()).unwrap();
        assert!(runs.join("new/mark").exists(), "what is there is left alone");
        let missing = folder.copy_folder("runs/none", "runs/other", place.path());
        assert!(matches!(missing, Err(BrowseError::NotFound(_))));
    }
}
