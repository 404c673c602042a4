//! Detects the control groups that this process may create.

use std::path::{Path, PathBuf};

use cubeloom_files::own;

use super::cpuset;
use super::group::{shares, weight};
use super::{Cgroup, OPEN_PARENT, PARENT};

/// The parent of the workers' groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hierarchy {
    /// Version 1: the parent folder in each controller's hierarchy.
    V1 {
        memory: PathBuf,
        cpu: Option<PathBuf>,
        pids: Option<PathBuf>,
        /// Dedicated CPUs.
        cpuset: Option<PathBuf>,
        /// Sockets: version 2's parent folder, on a hybrid machine.
        sockets: Option<PathBuf>,
    },
    /// Version 2: the parent folder.
    V2(PathBuf),
    /// None, for this reason.
    None(String),
}

impl Hierarchy {
    /// The group of the worker `name`; not created yet.
    #[must_use]
    pub fn group(&self, name: &str) -> Option<Cgroup> {
        let below = |parent: &Option<PathBuf>| parent.as_ref().map(|parent| parent.join(name));
        match self {
            Self::V1 { memory, cpu, pids, sockets, .. } => Some(Cgroup::V1 {
                memory: memory.join(name),
                cpu: below(cpu),
                pids: below(pids),
                cpuset: None,
                sockets: below(sockets),
            }),
            Self::V2(parent) => Some(Cgroup::V2 { path: parent.join(name) }),
            Self::None(_) => None,
        }
    }

    /// The version 2 folder that contains all workers' sockets.
    pub(super) fn sockets(&self) -> Option<&Path> {
        match self {
            Self::V1 { sockets, .. } => sockets.as_deref(),
            Self::V2(parent) => Some(parent),
            Self::None(_) => None,
        }
    }
}

/// Finds the mounted hierarchies and creates our parent folder in them. `apart` selects the parent with
/// isolated connections.
#[must_use]
pub fn detect(apart: bool) -> Hierarchy {
    let mounts = own::read_to_string("/proc/self/mounts").unwrap_or_default();
    if let Some(parent) = version2(&mounts, if apart { PARENT } else { OPEN_PARENT }) {
        return Hierarchy::V2(parent);
    }
    let parent = |controller: &str| v1_mount(&mounts, controller).and_then(|root| make_parent(&root, PARENT));
    match parent("memory") {
        Some(memory) => Hierarchy::V1 {
            memory,
            cpu: parent("cpu").inspect(|cpu| stand_for_all_cores(&cpu.join("cpu.shares"), shares)),
            pids: parent("pids"),
            cpuset: parent("cpuset").filter(|folder| cpuset::inherit(folder).is_ok()),
            sockets: v2_mount(&mounts).filter(|_| apart).and_then(|root| make_parent(&root, PARENT)),
        },
        None if !mounts.contains(" cgroup") => Hierarchy::None("no cgroup file system is mounted".into()),
        None => Hierarchy::None("the cgroup file system is not writable for this user".into()),
    }
}

/// Mount point of a version 1 `controller`.
fn v1_mount(mounts: &str, controller: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        let (_, path, kind, options) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        (kind == "cgroup" && options.split(',').any(|option| option == controller)).then(|| path.into())
    })
}

/// Mount point of version 2.
fn v2_mount(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        let (_, path, kind) = (fields.next()?, fields.next()?, fields.next()?);
        (kind == "cgroup2").then(|| PathBuf::from(path))
    })
}

/// Creates our folder below `root`, if permitted.
fn make_parent(root: &Path, name: &str) -> Option<PathBuf> {
    let parent = root.join(name);
    match own::create_dir(&parent) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(_) => return None,
    }
    rustix::fs::access(&parent, rustix::fs::Access::WRITE_OK).ok().map(|()| parent)
}

/// Version 2's parent folder, if memory, cpu and pids are available in it.
fn version2(mounts: &str, name: &str) -> Option<PathBuf> {
    let root = v2_mount(mounts)?;
    let offered = own::read_to_string(root.join("cgroup.controllers")).ok()?;
    if !["memory", "cpu", "pids"].iter().all(|name| offered.split_whitespace().any(|has| has == *name)) {
        return None;
    }
    let wanted = "+memory +cpu +pids";
    let _ = own::write(root.join("cgroup.subtree_control"), wanted);
    let _ = own::write(root.join("cgroup.subtree_control"), "+cpuset");
    let parent = make_parent(&root, name)?;
    own::write(parent.join("cgroup.subtree_control"), wanted).ok()?;
    let _ = own::write(parent.join("cgroup.subtree_control"), "+cpuset");
    stand_for_all_cores(&parent.join("cpu.weight"), weight);
    Some(parent)
}

/// Gives all workers together the CPU share of all cores. So their guarantees hold against the machine's
/// other programs too, which have the share of one core each.
fn stand_for_all_cores(file: &Path, share: fn(u64) -> u64) {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let _ = own::write(file, share(cores * 1000).to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controllers_are_found_by_their_mount_options() {
        let mounts = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n\
                      cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0\n\
                      cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0\n";
        assert_eq!(v1_mount(mounts, "cpuacct"), Some("/sys/fs/cgroup/cpu,cpuacct".into()));
        assert_eq!(v1_mount(mounts, "memory"), Some("/sys/fs/cgroup/memory".into()));
        assert_eq!(v1_mount(mounts, "pids"), None);
        assert_eq!(version2(mounts, PARENT), None);
    }
}
