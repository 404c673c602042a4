//! Dedicated CPUs: a worker with `cpu_exclusive` runs on CPUs of its own, and all other workers run on the rest.
//!
//! The kernel's folders are the only record of which CPUs are dedicated. So it outlives the server, and holds for all
//! servers of a machine. cpusets(7), and "Cpuset" in Documentation/admin-guide/cgroup-v2.rst of Linux.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use cubeloom_files::own;
use rustix::fs::XattrFlags;

use super::{Cgroup, Hierarchy};

/// Version 1's group of all workers without dedicated CPUs. It exists only while some are dedicated.
const SHARED: &str = "shared";
/// The extended attribute of a version 2 group with dedicated CPUs (Linux 5.7).
const MARK: &str = "user.cubeloom.dedicated";
/// Processes fork while they are moved, so moving is repeated until none is left, at most this often.
const ROUNDS: usize = 20;

/// The cpusets of this machine's workers.
#[derive(Debug)]
pub(crate) struct Cpusets {
    /// Version 1: the controller's folder, with a group for each worker with dedicated CPUs.
    version1: Option<PathBuf>,
    /// The folder with the group of each worker.
    workers: PathBuf,
    /// Whether CPUs may be dedicated now. Only then the starts and ends of workers change anything.
    used: AtomicBool,
    turn: Mutex<()>,
}

impl Cpusets {
    /// `None` without the controller.
    pub(crate) fn of(hierarchy: &Hierarchy) -> Option<Self> {
        let (version1, workers) = match hierarchy {
            Hierarchy::V1 { cpuset, memory, .. } => (Some(cpuset.clone()?), memory.clone()),
            Hierarchy::V2(parent) => {
                let enabled = own::read_to_string(parent.join("cgroup.subtree_control")).ok()?;
                enabled.split_whitespace().find(|name| *name == "cpuset")?;
                (None, parent.clone())
            }
            Hierarchy::None(_) => return None,
        };
        // An earlier server may have dedicated some.
        Some(Self { version1, workers, used: AtomicBool::new(true), turn: Mutex::default() })
    }

    /// Dedicates `count` CPUs to a group, which is created. It has the CPUs until it is removed.
    ///
    /// # Errors
    /// A sentence: too few CPUs are free, or the kernel refused.
    pub(crate) fn dedicate(&self, group: Cgroup, name: &str, count: usize) -> Result<Cgroup, String> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.used.store(true, Ordering::Relaxed);
        let (all, taken) = (self.all(), self.dedicated_to_others(name));
        // From the end: interrupts are mostly handled by the first ones.
        let mut free: Vec<u32> = all.iter().copied().filter(|cpu| !taken.contains(cpu)).collect();
        free.sort_by_key(|cpu| (place(*cpu), *cpu));
        if free.len() < count {
            let (free, all) = (free.len(), all.len());
            return Err(format!(
                "{count} dedicated CPUs are requested; of the machine's {all}, {free} can be dedicated now"
            ));
        }
        let chosen: BTreeSet<u32> = free.split_off(free.len() - count).into_iter().collect();
        let (folder, group) = match (group, &self.version1) {
            (Cgroup::V1 { memory, cpu, pids, sockets, .. }, Some(parent)) => {
                let folder = parent.join(name);
                (folder.clone(), Cgroup::V1 { memory, cpu, pids, sockets, cpuset: Some(folder) })
            }
            (Cgroup::V2 { path }, None) => (path.clone(), Cgroup::V2 { path }),
            (group, _) => return Ok(group),
        };
        let refused = |error: io::Error| format!("CPUs cannot be dedicated in {}: {error}", folder.display());
        make(&folder).map_err(refused)?;
        if self.version1.is_none() {
            rustix::fs::setxattr(&folder, MARK, b"1", XattrFlags::empty())
                .map_err(|error| refused(error.into()))?;
        }
        self.confine(&folder, &chosen).map_err(refused)?;
        self.share();
        Ok(group)
    }

    /// A worker has ended or cannot start: others may use its CPUs, if it had dedicated ones.
    pub(crate) fn release(&self, name: &str) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        // Its shim has done so, unless it never ran.
        let _ = own::remove_dir(self.groups().join(name));
        self.share();
    }

    /// Whether CPUs may be dedicated now.
    pub(crate) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    /// Confines workers that have started since.
    pub(crate) fn refresh(&self) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.share();
    }

    /// Confines all other workers to the CPUs that are not dedicated. If all are, the others use any CPU: they are
    /// guaranteed none.
    fn share(&self) {
        let dedicated = self.dedicated();
        let all = self.all();
        let rest: BTreeSet<u32> = all.difference(&dedicated.cpus).copied().collect();
        let rest = if rest.is_empty() { all } else { rest };
        let none = dedicated.groups.is_empty();
        let result = match &self.version1 {
            Some(parent) if none => end_sharing(parent),
            Some(parent) => self.move_others(parent, &dedicated.groups, &rest),
            None => {
                let cpus = if none { BTreeSet::new() } else { rest };
                self.others(&dedicated.groups).for_each(|folder| {
                    // One that has ended meanwhile is gone.
                    let _ = own::write(folder.join("cpuset.cpus"), format!("{}\n", list(&cpus)));
                });
                Ok(())
            }
        };
        match result {
            Ok(()) => self.used.store(!none, Ordering::Relaxed),
            Err(error) => tracing::warn!(%error, "workers cannot be kept off dedicated CPUs"),
        }
    }

    fn move_others(
        &self,
        parent: &Path,
        dedicated: &HashSet<OsString>,
        rest: &BTreeSet<u32>,
    ) -> io::Result<()> {
        let shared = parent.join(SHARED);
        make(&shared)?;
        self.confine(&shared, rest)?;
        for _ in 0..ROUNDS {
            let inside: HashSet<String> = processes(&shared).into_iter().collect();
            let outside = self.others(dedicated).flat_map(|folder| processes(&folder));
            let outside: Vec<String> = outside.filter(|id| !inside.contains(id)).collect();
            if outside.is_empty() {
                break;
            }
            for id in outside {
                // One that has ended meanwhile is gone.
                let _ = own::write(shared.join("cgroup.procs"), id);
            }
        }
        Ok(())
    }

    fn confine(&self, folder: &Path, cpus: &BTreeSet<u32>) -> io::Result<()> {
        if self.version1.is_some() {
            inherit(folder)?;
        }
        own::write(folder.join("cpuset.cpus"), list(cpus))
    }

    /// The groups of workers without dedicated CPUs.
    fn others(&self, dedicated: &HashSet<OsString>) -> impl Iterator<Item = PathBuf> {
        let folders = own::read_dir(&self.workers).into_iter().flatten().flatten();
        let others = folders.filter(|entry| !dedicated.contains(&entry.file_name()));
        others.map(|entry| entry.path()).filter(|path| path.is_dir())
    }

    fn dedicated(&self) -> Dedicated {
        let (groups, cpus): (_, Vec<_>) = self.groups_with_cpus().unzip();
        Dedicated { groups, cpus: cpus.into_iter().flatten().collect() }
    }

    /// The folder with the groups that have dedicated CPUs.
    fn groups(&self) -> &Path {
        self.version1.as_ref().unwrap_or(&self.workers)
    }

    /// The groups with dedicated CPUs, by name, with their CPUs.
    fn groups_with_cpus(&self) -> impl Iterator<Item = (OsString, BTreeSet<u32>)> {
        let folders = own::read_dir(self.groups()).into_iter().flatten();
        let is_dedicated = |entry: &fs::DirEntry| match self.version1 {
            Some(_) => entry.path().is_dir() && entry.file_name() != SHARED,
            None => rustix::fs::getxattr(entry.path(), MARK, &mut [0u8; 8]).is_ok(),
        };
        let groups = folders.flatten().filter(is_dedicated);
        groups.map(|entry| (entry.file_name(), cpus_of(&entry.path().join("cpuset.cpus"))))
    }

    /// The CPUs dedicated to groups of other names: a worker that starts again may have its own again.
    fn dedicated_to_others(&self, name: &str) -> BTreeSet<u32> {
        self.groups_with_cpus().filter(|(group, _)| group != name).flat_map(|(_, cpus)| cpus).collect()
    }

    /// The CPUs that workers may have.
    fn all(&self) -> BTreeSet<u32> {
        match &self.version1 {
            Some(parent) => cpus_of(&parent.join("cpuset.cpus")),
            None => cpus_of(&self.workers.join("cpuset.cpus.effective")),
        }
    }
}

struct Dedicated {
    cpus: BTreeSet<u32>,
    groups: HashSet<OsString>,
}

/// Version 1: gives `folder`, which is new, the CPUs and memory nodes of the folder above it. Without them no process
/// can enter it.
pub(super) fn inherit(folder: &Path) -> io::Result<()> {
    let Some(above) = folder.parent() else { return Ok(()) };
    for name in ["cpuset.mems", "cpuset.cpus"] {
        if own::read_to_string(folder.join(name))?.trim().is_empty() {
            own::write(folder.join(name), own::read_to_string(above.join(name))?.trim())?;
        }
    }
    Ok(())
}

fn make(folder: &Path) -> io::Result<()> {
    match own::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Gives the processes that were confined all CPUs again.
fn end_sharing(parent: &Path) -> io::Result<()> {
    let shared = parent.join(SHARED);
    for _ in 0..ROUNDS {
        let left = processes(&shared);
        if left.is_empty() {
            break;
        }
        for id in left {
            let _ = own::write(parent.join("cgroup.procs"), id);
        }
    }
    match own::remove_dir(&shared) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn processes(folder: &Path) -> Vec<String> {
    let listed = own::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    listed.lines().map(str::to_owned).collect()
}

/// Package and core of a CPU, so that CPUs of one core are dedicated together.
fn place(cpu: u32) -> (u32, u32) {
    let number = |name: &str| {
        let file = format!("/sys/devices/system/cpu/cpu{cpu}/topology/{name}");
        own::read_to_string(file).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    };
    (number("physical_package_id"), number("core_id"))
}

fn cpus_of(file: &Path) -> BTreeSet<u32> {
    parse(&own::read_to_string(file).unwrap_or_default())
}

/// The numbers of a list like `0-3,8`: "List format" in cpuset(7).
fn parse(list: &str) -> BTreeSet<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    };
    list.trim().split(',').filter_map(range).flatten().collect()
}

fn list(cpus: &BTreeSet<u32>) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranges_are_read_as_the_kernel_writes_them() {
        assert_eq!(parse("0-2,7,9-10\n"), BTreeSet::from([0, 1, 2, 7, 9, 10]));
        assert_eq!(parse("\n"), BTreeSet::new());
    }

    proptest! {
        #[test]
        fn a_list_that_was_written_is_read_again(cpus in prop::collection::btree_set(0u32..4096, 0..64)) {
            prop_assert_eq!(parse(&list(&cpus)), cpus);
        }
    }
}
