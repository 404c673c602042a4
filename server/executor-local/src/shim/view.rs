//! What a worker sees of the machine: a mount namespace of its own, entered between fork and exec by a shim that is root.
//!
//! The uids of projects keep them from each other's files; this keeps the names of those files, other people's processes, and
//! what programs leave in `/tmp` and `/dev/shm`, from them as well. mount_namespaces(7), proc(5) on `hidepid`.

use std::fs::DirBuilder;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use cubeloom_files::own;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::thread::UnshareFlags;

use crate::spec::View;

/// Passable, not listable.
const PASSABLE: u32 = 0o711;
/// Where programs leave files that all see.
const TMP: &str = "/tmp";
const SHM: &str = "/dev/shm";

/// Whether each attempt may have a folder of its own in the place where this path is.
#[must_use]
pub fn is_covered(path: &Path) -> bool {
    [TMP, SHM].iter().any(|place| path.starts_with(place))
}

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
    if let Some(hidden) = &view.hidden {
        make(hidden)?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        rustix::mount::mount("none", hidden, "tmpfs", flags, Some(c"mode=0711,size=1m"))?;
    }
    for (path, folder) in shown {
        if view.is_covered(path) {
            make(path)?;
            cover(folder, path)?;
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

/// Lets `folder`, and what is mounted in it, be seen at `place`.
fn cover(folder: OwnedFd, place: &Path) -> io::Result<()> {
    let source = format!("/proc/self/fd/{}", folder.as_raw_fd());
    Ok(rustix::mount::mount_bind_recursive(source, place)?)
}

fn make(path: &Path) -> io::Result<()> {
    own::create_dir_with(DirBuilder::new().recursive(true).mode(PASSABLE), path)
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
    /// Whether a path lies where something else is mounted.
    fn is_covered(&self, path: &Path) -> bool {
        let covers = [
            self.hidden.as_deref(),
            self.tmp.as_ref().map(|_| Path::new(TMP)),
            self.shm.as_ref().map(|_| Path::new(SHM)),
        ];
        covers.into_iter().flatten().any(|cover| path.starts_with(cover))
    }
}
