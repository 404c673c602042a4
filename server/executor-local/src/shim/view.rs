//! A worker's view of the machine: a separate mount namespace, entered between fork and exec by a shim that
//! is root.
//!
//! Projects' uids protect their files. This also hides the names of those files, other users' processes, and
//! files that programs leave in `/tmp` and `/dev/shm`. mount_namespaces(7), proc(5) on `hidepid`.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use cubeloom_files::{Dir, own};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::thread::UnshareFlags;

use crate::spec::View;

/// May be entered, but not listed.
const PASSABLE: u32 = 0o711;
/// Where programs leave files visible to all.
const TMP: &str = "/tmp";
const SHM: &str = "/dev/shm";

/// Sets up the view for this process and its children.
pub(super) fn enter(view: &View) -> io::Result<()> {
    leave_the_machines()?;
    // Open these before covering anything: they are below the covered paths.
    let shown = view
        .shown
        .iter()
        .filter(|path| path.exists())
        .map(|path| Ok((path.as_path(), open(path)?)))
        .collect::<io::Result<Vec<_>>>()?;
    for (own, place) in [(&view.tmp, TMP), (&view.shm, SHM)] {
        if let Some(own) = own {
            cover(open(own)?, Path::new(place))?;
        }
    }
    if let Some(hidden) = &view.hidden
        && let Some(place) = view.place(hidden, false)?
    {
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        rustix::mount::mount("none", by_descriptor(&place), "tmpfs", flags, Some(c"mode=0711,size=1m"))?;
    }
    for (path, what) in shown {
        let is_file = FileType::from_raw_mode(rustix::fs::fstat(&what)?.st_mode) != FileType::Directory;
        if let Some(place) = view.place(path, is_file)? {
            cover(what, &by_descriptor(&place))?;
        }
    }
    if view.processes {
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        rustix::mount::mount("proc", "/proc", "proc", flags, Some(c"hidepid=invisible"))?;
    }
    Ok(())
}

/// Enters a new mount namespace with private propagation.
fn leave_the_machines() -> Result<(), Errno> {
    // SAFETY: no other thread uses the table of file descriptors: this process has one thread.
    #[allow(unsafe_code)]
    unsafe {
        rustix::thread::unshare_unsafe(UnshareFlags::NEWNS)?;
    }
    rustix::mount::mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
}

fn open(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}

/// Makes `what`, and mounts inside it, visible at `place`.
fn cover(what: OwnedFd, place: &Path) -> io::Result<()> {
    Ok(rustix::mount::mount_bind_recursive(by_descriptor(&what), place)?)
}

/// A path to the open file, whatever is at its own path by now.
fn by_descriptor(what: &OwnedFd) -> PathBuf {
    format!("/proc/self/fd/{}", what.as_raw_fd()).into()
}

/// Whether this machine permits such a view, tested in a child that ends at once.
///
/// # Errors
/// A sentence: what the kernel refused.
pub(crate) fn try_it() -> Result<(), String> {
    use std::os::unix::process::CommandExt;
    let mut command = std::process::Command::new("/proc/self/exe");
    let sight = || {
        leave_the_machines()?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        rustix::mount::mount("proc", "/proc", "proc", flags, Some(c"hidepid=invisible"))?;
        // Enough for the test: execute nothing.
        Err(io::Error::from_raw_os_error(Errno::CANCELED.raw_os_error()))
    };
    // SAFETY: between fork and exec it only makes system calls.
    #[allow(unsafe_code)]
    let error = unsafe { command.pre_exec(sight).spawn() }.err();
    match error {
        Some(error) if error.raw_os_error() == Some(Errno::CANCELED.raw_os_error()) => Ok(()),
        Some(error) => Err(format!("the kernel refuses mount namespaces: {error}")),
        None => Err("a process with its own mount namespace could not be tested".into()),
    }
}

/// Whether a mount of `/proc` has its own options: before Linux 5.8 they apply to the whole machine.
pub(crate) fn hides_processes() -> bool {
    let release = own::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.trim().parse::<u32>().ok());
    numbers.next().zip(numbers.next()).is_some_and(|version| version >= (5, 8))
}

impl View {
    /// Creates a mount point at this path, if the path is covered: a file or a folder. Follows no symlinks,
    /// since other workers of the job share the `/tmp` and may have put some there.
    fn place(&self, path: &Path, is_file: bool) -> io::Result<Option<OwnedFd>> {
        let tmp = self.tmp.as_ref().map(|_| Path::new(TMP));
        let shm = self.shm.as_ref().map(|_| Path::new(SHM));
        // The outermost one: the hidden folder may itself be in `/tmp`.
        let mut covers = [tmp, shm, self.hidden.as_deref()].into_iter().flatten();
        let found = covers.find_map(|cover| Some((cover, path.strip_prefix(cover).ok()?)));
        let Some((cover, below)) = found else { return Ok(None) };
        let cover = Dir::open(cover)?;
        let keep = |_: BorrowedFd<'_>| Ok(());
        let (Some(above), Some(name), true) = (below.parent(), below.file_name(), is_file) else {
            return Ok(Some(cover.make(below, PASSABLE, keep)?.into()));
        };
        Ok(Some(cover.make(above, PASSABLE, keep)?.write(name, OFlags::empty(), 0o400)?.into()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn places_are_made_below_what_covers_them_and_follow_no_links() {
        let folder = tempfile::tempdir().unwrap();
        let (data, outside) = (folder.path().join("data"), folder.path().join("outside"));
        fs::create_dir_all(&data).unwrap();
        fs::create_dir_all(&outside).unwrap();
        let view =
            View { hidden: Some(data.clone()), shown: Vec::new(), tmp: None, shm: None, processes: false };
        for _ in 0..2 {
            assert!(view.place(&data.join("venvs/a"), false).unwrap().is_some());
            assert!(view.place(&data.join("bin/cubeloom"), true).unwrap().is_some());
        }
        assert!(data.join("venvs/a").is_dir() && data.join("bin/cubeloom").is_file());
        assert!(view.place(&outside.join("a"), false).unwrap().is_none(), "it is seen as it is");
        symlink(&outside, data.join("link")).unwrap();
        symlink(outside.join("file"), data.join("bin/link")).unwrap();
        for (path, is_file) in [("link/a", false), ("link/a", true), ("link", false), ("bin/link", true)] {
            assert!(view.place(&data.join(path), is_file).is_err(), "{path}");
        }
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    }
}
