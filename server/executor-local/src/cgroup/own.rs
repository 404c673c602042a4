//! The cgroup of this process, set by something else, such as Slurm: detects OOM kills in it.

use std::iter::once;
use std::path::{Path, PathBuf};

use cubeloom_files::own;

use super::group::value_of;

/// Mount point of cgroups.
const ROOT: &str = "/sys/fs/cgroup";

/// This process's own cgroup.
pub struct Own {
    /// The counter's file, if any.
    count: Option<PathBuf>,
    /// The count at the start.
    before: u64,
}

impl Own {
    /// Finds the cgroup, and records the count so far.
    pub fn find() -> Self {
        let told = own::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let count = files(&told).into_iter().find(|path| path.exists());
        let before = counted(count.as_deref());
        Self { count, before }
    }

    /// Whether the kernel has OOM killed a process since then.
    pub fn ran_out(&self) -> bool {
        counted(self.count.as_deref()) > self.before
    }
}

fn counted(file: Option<&Path>) -> u64 {
    let text = file.and_then(|path| own::read_to_string(path).ok()).unwrap_or_default();
    value_of(&text, "oom_kill").unwrap_or(0)
}

/// Candidate counter files, from `/proc/self/cgroup`: the memory controller's cgroup, or in version 2 the
/// nearest ancestor with the controller. Ancestors of a job contain other jobs' processes, and
/// `memory.events` includes descendants. So only the job's own cgroups are read, and of each only its local
/// events.
fn files(told: &str) -> Vec<PathBuf> {
    let lines = || {
        told.lines().filter_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            Some((controllers, path.trim_start_matches('/')))
        })
    };
    let first = lines().filter(|(controllers, _)| controllers.split(',').any(|name| name == "memory"));
    let first = first.map(|(_, path)| Path::new(ROOT).join("memory").join(path).join("memory.oom_control"));
    let second = lines().filter(|(controllers, _)| controllers.is_empty());
    let second = second.flat_map(|(_, path)| {
        let path = Path::new(path);
        let above = path.ancestors().skip(1).take_while(|path| of_job(path));
        let files =
            once(path).chain(above).map(|path| Path::new(ROOT).join(path).join("memory.events.local"));
        files.collect::<Vec<_>>()
    });
    first.chain(second).collect()
}

/// Whether a cgroup belongs to a Slurm job: `job_7/step_0/user`.
fn of_job(path: &Path) -> bool {
    let job = |name: &str| name.starts_with("job_") || name.starts_with("step_");
    path.components().any(|part| part.as_os_str().to_str().is_some_and(job))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_count_is_looked_for_in_both_versions() {
        let shown = |told| files(told).iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        assert_eq!(
            shown("4:memory:/slurm/uid_1/task_0\n1:cpu,cpuacct:/\n"),
            ["/sys/fs/cgroup/memory/slurm/uid_1/task_0/memory.oom_control"]
        );
        assert_eq!(
            shown("0::/system.slice/job_1/step_0/user\n"),
            [
                "/sys/fs/cgroup/system.slice/job_1/step_0/user/memory.events.local",
                "/sys/fs/cgroup/system.slice/job_1/step_0/memory.events.local",
                "/sys/fs/cgroup/system.slice/job_1/memory.events.local"
            ],
            "what others do above the job is not its own"
        );
        assert_eq!(
            shown("0::/system.slice/slurmd.service\n"),
            ["/sys/fs/cgroup/system.slice/slurmd.service/memory.events.local"]
        );
        assert!(shown("nonsense\n").is_empty());
    }
}
