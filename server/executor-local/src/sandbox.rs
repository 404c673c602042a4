//! Isolation of projects' workers beyond uids: see docs/decisions/0038-what-a-local-worker-sees.md.

use std::ffi::CString;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use cubeloom_domain::lowered::{LocalJob, LocalWorker};
use cubeloom_files::own;
use rustix::mount::{MountFlags, UnmountFlags};

use crate::cgroup::{Hierarchy, network};
use crate::config::{Sandbox, SecretSource};
use crate::folders::{PASSABLE, PRIVATE, make};
use crate::machine::Machine;
use crate::shim::{has_landlock, hides_processes, try_it};
use crate::spec::{Fence, View};

/// The folder in an attempt's own that its workers see as `/tmp`.
const TMP: &str = "tmp";
/// The parent of folders that workers see as `/dev/shm`: shared memory is charged to the writer's control
/// group, wherever it is. Owned by the server, so that no other user creates one first.
const SHM: &str = "/dev/shm/cubeloom";

/// Variables with this prefix, and the following ones, name folders that a worker reads. The compiler sets
/// them; documents cannot.
const VOLUMES: &str = "CUBELOOM_VOLUME_";
const READ: [&str; 2] = ["CUBELOOM_CODE", "CUBELOOM_TEMPLATE_DIR"];

/// The isolation that this machine supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walls {
    /// These parts, with root's rights: mount namespaces, and a filter of connections.
    Parts(Sandbox),
    /// Landlock, for a server that is not root.
    Landlock,
    None,
}

/// The view of one attempt's workers, in mount namespaces.
pub(crate) struct Sight {
    parts: Sandbox,
    hidden: PathBuf,
    shown: Vec<PathBuf>,
    tmp: PathBuf,
    shm: PathBuf,
    /// Total memory that its workers request, in bytes; `None`: as much as the machine has.
    shared_memory: Option<u64>,
}

impl Walls {
    /// The wanted settings that this machine supports, and a sentence if any is unsupported.
    pub(crate) fn of(wanted: Sandbox, hierarchy: &Hierarchy) -> (Self, Option<String>) {
        if !rustix::process::geteuid().is_root() {
            return match (wanted.files, has_landlock()) {
                (false, _) => (Self::None, None),
                (true, true) => (Self::Landlock, None),
                (true, false) => (Self::None, Some("the kernel has no Landlock".into())),
            };
        }
        let mut parts = wanted;
        let mut lacking = Vec::new();
        if wanted.has_view()
            && let Err(why) = try_it()
        {
            parts = Sandbox { files: false, processes: false, tmp: false, ..parts };
            lacking.push(why);
        }
        if parts.processes && !hides_processes() {
            parts.processes = false;
            let why = "the kernel is older than Linux 5.8, and cannot hide processes from workers only";
            lacking.push(why.into());
        }
        if parts.network
            && let Err(why) = network::try_it(hierarchy)
        {
            parts.network = false;
            lacking.push(why);
        }
        let walls = if parts.has_view() || parts.network { Self::Parts(parts) } else { Self::None };
        (walls, (!lacking.is_empty()).then(|| lacking.join("; ")))
    }

    /// Whether workers cannot connect to those of other projects.
    pub(crate) fn keeps_connections_apart(self) -> bool {
        matches!(self, Self::Parts(Sandbox { network: true, .. }))
    }
}

impl Sandbox {
    /// Whether a part of it needs a mount namespace.
    fn has_view(self) -> bool {
        self.files || self.processes || self.tmp
    }
}

/// The view of a job's workers, with its folders in `dir` and shared memory of this name; `None` without
/// mount namespaces.
pub(crate) fn sight(machine: &Machine, job: &LocalJob, dir: &Path, name: &str) -> Option<Sight> {
    let Walls::Parts(parts) = machine.walls else { return None };
    if !parts.has_view() {
        return None;
    }
    let storage = workspace(machine, job);
    let mut shown = read(machine, job.workers.iter()).collect::<Vec<_>>();
    // A volume in the project's storage is visible with the storage. A separate mount could follow a symlink
    // that a task put there, to another project's files or the server's keys.
    shown.extend(volumes(job.workers.iter()).filter(|path| !path.starts_with(&storage)));
    // The binary, too, may be in a `/tmp` that workers do not see.
    shown.extend([dir.to_owned(), storage, machine.config.bin.clone()]);
    shown.sort();
    shown.dedup();
    let hidden = machine.config.data.clone();
    let asked = job.workers.iter().filter_map(|worker| Some(worker.shm?.0));
    let shared_memory = Some(asked.sum()).filter(|size| *size > 0);
    Some(Sight { parts, hidden, shown, tmp: dir.join(TMP), shm: Path::new(SHM).join(name), shared_memory })
}

/// The Landlock rules for a worker of a job with its folders in `dir`; `None` without Landlock.
pub(crate) fn fence(machine: &Machine, project: &str, worker: &LocalWorker, dir: &Path) -> Option<Fence> {
    if machine.walls != Walls::Landlock {
        return None;
    }
    let folder = Path::new(&worker.folder);
    let named = ["HOME", "TMPDIR"].iter().filter_map(|name| worker.env.get(*name)).map(PathBuf::from);
    let mut write: Vec<PathBuf> = named.filter(|path| path.starts_with(folder) && path != folder).collect();
    write.extend([
        PathBuf::from(&worker.cwd),
        PathBuf::from(&worker.outputs_file),
        machine.layout.top("workspace").join(project),
    ]);
    write.extend(volumes(std::iter::once(worker)));
    // A path from a document could contain `..`.
    write.retain(|path| path.components().all(|part| part != Component::ParentDir));
    let secrets = machine.config.secrets.values().filter_map(|secret| match secret {
        SecretSource::File(path) => Some(path),
        SecretSource::Value(_) => None,
    });
    let hidden = std::iter::once(&machine.config.data).chain(&machine.config.private).chain(secrets);
    let hidden = hidden.filter_map(|path| own::canonicalize(path).ok()).collect();
    let mut read: Vec<PathBuf> = read(machine, std::iter::once(worker)).collect();
    read.push(dir.to_owned());
    // Canonical, like the hidden paths: below them, the shim follows no symlink.
    let data = &machine.config.data;
    let real = own::canonicalize(data).unwrap_or_else(|_| data.clone());
    for path in write.iter_mut().chain(&mut read) {
        if let Ok(inside) = path.strip_prefix(data) {
            *path = real.join(inside);
        }
    }
    Some(Fence { hidden, write, read })
}

fn workspace(machine: &Machine, job: &LocalJob) -> PathBuf {
    machine.layout.top("workspace").join(&job.project)
}

/// Paths in the server's folder that workers read. Environments are accessible by name only, and one task may
/// pass a path to another.
fn read<'a>(
    machine: &'a Machine,
    workers: impl Iterator<Item = &'a LocalWorker>,
) -> impl Iterator<Item = PathBuf> {
    let named = workers.flat_map(|worker| READ.iter().filter_map(|name| worker.env.get(*name)));
    let named = named.filter(|path| !path.is_empty()).map(PathBuf::from);
    named.chain(["tools", "venvs"].map(|name| machine.layout.top(name)))
}

/// The folders of their volumes.
fn volumes<'a>(workers: impl Iterator<Item = &'a LocalWorker>) -> impl Iterator<Item = PathBuf> {
    let variables = workers.flat_map(|worker| &worker.env);
    variables.filter(|(name, _)| name.starts_with(VOLUMES)).map(|(_, path)| PathBuf::from(path))
}

impl Sight {
    /// Creates its folders. Blocking.
    pub(crate) fn prepare(&self, user: Option<u32>) -> io::Result<()> {
        if !self.parts.tmp {
            return Ok(());
        }
        make(Path::new(SHM), PASSABLE)?;
        let above = own::symlink_metadata(SHM)?;
        if !above.is_dir() || above.uid() != 0 {
            return Err(io::Error::other(format!("{SHM} belongs to another user")));
        }
        let mut shm_is_new = make(&self.shm, PRIVATE)?;
        if let Some(size) = self.shared_memory {
            shm_is_new |= self.bound(size)?;
        }
        for (folder, is_new) in [(&self.shm, shm_is_new), (&self.tmp, make(&self.tmp, PRIVATE)?)] {
            if is_new {
                own::chown(folder, user, user)?;
            }
        }
        Ok(())
    }

    /// Mounts a separate file system for shared memory, since a folder has no size limit. Returns `false` if
    /// it existed, as for a job that gains workers and memory.
    fn bound(&self, size: u64) -> io::Result<bool> {
        let (flags, options) = (MountFlags::NOSUID | MountFlags::NODEV, format!("size={size},mode=0700"));
        let options = CString::new(options).map_err(io::Error::other)?;
        if rustix::mount::mount_remount(&self.shm, flags, options.as_c_str()).is_ok() {
            return Ok(false);
        }
        rustix::mount::mount("shm", &self.shm, "tmpfs", flags, Some(options.as_c_str()))?;
        Ok(true)
    }

    /// The view for a shim.
    pub(crate) fn view(&self) -> View {
        let Sandbox { files, processes, tmp, network: _ } = self.parts;
        View {
            hidden: files.then(|| self.hidden.clone()),
            shown: self.shown.clone(),
            tmp: tmp.then(|| self.tmp.clone()),
            shm: tmp.then(|| self.shm.clone()),
            processes,
        }
    }
}

/// Removes what workers left in the `/tmp` in `dir`, and in the shared memory of this name.
pub(crate) fn remove(dir: &Path, name: &str) {
    let shm = Path::new(SHM).join(name);
    // Most have none.
    let _ = rustix::mount::unmount(&shm, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
    for folder in [dir.join(TMP), shm] {
        let _ = own::remove_dir_all(folder);
    }
}
