//! What a worker sees of the machine: a mount namespace of its own, entered between fork and exec by a shim that is root.
//!
//! The uids of projects keep them from each other's files; this keeps the names of those files, other people's processes, and
//! what programs leave in `/tmp` and `/dev/shm`, from them as well. mount_namespaces(7), proc(5) on `hidepid`.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use cubeloom_files::{Dir, own};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::thread::UnshareFlags;

use crate::spec::View;

/// Passable, not listable.
const PASSABLE: u32 = 0o711;
/// Where programs leave files that all see.
const TMP: &str = "/tmp";
const SHM: &str = "/dev/shm";

/// Gives this process, and those that it starts, such a view.
///
/// # Errors
/// The kernel refused.
pub(super) fn enter(view: &View) -> io::Result<()> {
    leave_the_machines()?;
    // Opened before anything is covered: what is shown again lies below it.
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

/// Enters a new mount namespace, of which no other hears.
fn leave_the_machines() -> Result<(), Errno> {
    // SAFETY: no table of file descriptors is left, which other threads might use: this process has one thread.
    #[allow(unsafe_code)]
    unsafe {
        rustix::thread::unshare_unsafe(UnshareFlags::NEWNS)?;
    }
    rustix::mount::mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
}

fn open(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}

/// Lets `what`, and what is mounted in it, be seen at `place`.
fn cover(what: OwnedFd, place: &Path) -> io::Result<()> {
    Ok(rustix::mount::mount_bind_recursive(by_descriptor(&what), place)?)
}

/// A path that leads to what is open, whatever lies at its own by now.
fn by_descriptor(what: &OwnedFd) -> PathBuf {
    format!("/proc/self/fd/{}", what.as_raw_fd()).into()
}

/// Whether this machine lets a process have such a view. It is tried, in a child that ends at once.
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
        // Enough was seen: nothing is executed.
        Err(io::Error::from_raw_os_error(Errno::CANCELED.raw_os_error()))
    };
    // SAFETY: it makes system calls only, between fork and exec.
    #[allow(unsafe_code)]
    let error = unsafe { command.pre_exec(sight).spawn() }.err();
    match error {
        Some(error) if error.raw_os_error() == Some(Errno::CANCELED.raw_os_error()) => Ok(()),
        Some(error) => Err(format!("the kernel refuses mount namespaces: {error}")),
        None => Err("a process with a view of its own could not be tried".into()),
    }
}

/// Whether a mount of `/proc` has options of its own: before Linux 5.8 they are those of the whole machine.
pub(crate) fn hides_processes() -> bool {
    let release = own::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.trim().parse::<u32>().ok());
    numbers.next().zip(numbers.next()).is_some_and(|version| version >= (5, 8))
}

impl View {
    /// Something to mount on at this path, where the path is covered: a file or a folder, made if it is missing. Other workers of
    /// the job may have put links there, as they have the same `/tmp`: none is followed.
    fn place(&self, path: &Path, is_file: bool) -> io::Result<Option<OwnedFd>> {
        let tmp = self.tmp.as_ref().map(|_| Path::new(TMP));
        let shm = self.shm.as_ref().map(|_| Path::new(SHM));
        // The outermost: what is hidden may itself lie in `/tmp`.
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
