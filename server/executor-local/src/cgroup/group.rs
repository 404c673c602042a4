//! Operations on one worker's group: create, enter, read, empty, remove.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cubeloom_files::own;
use rustix::process::{Pid, Signal};

use super::Cgroup;
use super::entrance::Entrance;
use crate::spec::Limits;

/// The CFS quota period in microseconds: the kernel's default.
const PERIOD_US: u64 = 100_000;
/// How often, and at which interval, to check whether killed processes are gone: one that waits for its disk
/// ends late.
const ENDINGS: u32 = 500;
const ENDING: Duration = Duration::from_millis(10);

impl Cgroup {
    /// All its folders.
    fn folders(&self) -> Vec<&PathBuf> {
        match self {
            Self::V1 { memory, cpu, pids, cpuset, sockets } => {
                let others = [cpu, pids, cpuset, sockets].into_iter().filter_map(Option::as_ref);
                std::iter::once(memory).chain(others).collect()
            }
            Self::V2 { path } => vec![path],
        }
    }

    /// Version 2's folder, if any.
    fn unified(&self) -> Option<&PathBuf> {
        match self {
            Self::V1 { sockets, .. } => sockets.as_ref(),
            Self::V2 { path } => Some(path),
        }
    }

    /// The folder that lists its processes and accounts their memory.
    fn main(&self) -> &Path {
        match self {
            Self::V1 { memory, .. } => memory,
            Self::V2 { path } => path,
        }
    }

    /// Creates it and sets its limits.
    pub fn create(&self, limits: &Limits) -> io::Result<()> {
        for folder in self.folders() {
            match own::create_dir(folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        match self {
            Self::V1 { memory, cpu, pids, .. } => {
                if limits.memory > 0 {
                    own::write(memory.join("memory.limit_in_bytes"), limits.memory.to_string())?;
                }
                if let Some(cpu) = cpu.as_ref().filter(|_| limits.cpu_millis > 0) {
                    own::write(cpu.join("cpu.shares"), shares(limits.cpu_millis).to_string())?;
                }
                if let Some(cpu) = cpu.as_ref().filter(|_| limits.cpu_most_millis > 0) {
                    own::write(cpu.join("cpu.cfs_quota_us"), quota_us(limits).to_string())?;
                }
                pids.as_ref()
                    .map_or(Ok(()), |pids| own::write(pids.join("pids.max"), limits.pids.to_string()))
            }
            Self::V2 { path } => {
                if limits.memory > 0 {
                    own::write(path.join("memory.max"), limits.memory.to_string())?;
                }
                if limits.cpu_millis > 0 {
                    own::write(path.join("cpu.weight"), weight(limits.cpu_millis).to_string())?;
                }
                if limits.cpu_most_millis > 0 {
                    own::write(path.join("cpu.max"), format!("{} {PERIOD_US}", quota_us(limits)))?;
                }
                own::write(path.join("pids.max"), limits.pids.to_string())
            }
        }
    }

    /// Sets its memory limit, in bytes. Memory already in use beyond a smaller limit is not reclaimed.
    ///
    /// # Errors
    /// The kernel refused, or the group does not exist yet.
    pub fn set_memory(&self, bytes: u64) -> io::Result<()> {
        let file = match self {
            Self::V1 { .. } => "memory.limit_in_bytes",
            Self::V2 { .. } => "memory.max",
        };
        // Do not create it: that would be a regular file.
        own::open_with(OpenOptions::new().write(true), self.main().join(file))?
            .write_all(bytes.to_string().as_bytes())
    }

    /// The files that a process needs to enter it.
    pub(crate) fn entrance(&self) -> io::Result<Entrance> {
        let unified = self.unified();
        let written = |path: PathBuf| own::open_with(OpenOptions::new().write(true), path);
        let folders = self.folders().into_iter().filter(|folder| Some(*folder) != unified);
        Ok(Entrance {
            tasks: folders.map(|folder| written(folder.join("tasks"))).collect::<io::Result<_>>()?,
            unified: unified
                .map(|folder| Ok::<_, io::Error>((own::open(folder)?, written(folder.join("cgroup.procs"))?)))
                .transpose()?,
        })
    }

    /// Ids of its processes.
    #[must_use]
    pub fn processes(&self) -> Vec<i32> {
        let listed = own::read_to_string(self.main().join("cgroup.procs")).unwrap_or_default();
        listed.lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// Forbids new processes, so that killing the existing ones terminates.
    pub fn close(&self) {
        let folder = match self {
            Self::V1 { pids, .. } => pids.as_ref(),
            Self::V2 { path } => Some(path),
        };
        if let Some(folder) = folder {
            let _ = own::write(folder.join("pids.max"), "0");
        }
    }

    /// Anonymous plus shared memory now, in bytes.
    #[must_use]
    pub fn memory(&self) -> Option<u64> {
        let stat = own::read_to_string(self.main().join("memory.stat")).ok()?;
        let keys: [&str; 2] = match self {
            Self::V1 { .. } => ["total_rss", "total_shmem"],
            Self::V2 { .. } => ["anon", "shmem"],
        };
        keys.iter().map(|key| value_of(&stat, key)).sum()
    }

    /// The kernel's own maximum, including page cache, in bytes.
    #[must_use]
    pub fn kernel_peak(&self) -> Option<u64> {
        let file = match self {
            Self::V1 { .. } => "memory.max_usage_in_bytes",
            Self::V2 { .. } => "memory.peak",
        };
        own::read_to_string(self.main().join(file)).ok()?.trim().parse().ok()
    }

    /// CPU time so far, in microseconds. Version 1 accounts it in a separate controller. If that one is not
    /// mounted together with the CPU's, the sum over its processes is used, which costs a worker less.
    #[must_use]
    pub fn cpu_us(&self) -> Option<u64> {
        match self {
            Self::V1 { cpu, .. } => {
                let counter = cpu.as_ref()?.join("cpuacct.usage");
                let nanos: u64 = own::read_to_string(counter).ok()?.trim().parse().ok()?;
                Some(nanos / 1000)
            }
            Self::V2 { path } => value_of(&own::read_to_string(path.join("cpu.stat")).ok()?, "usage_usec"),
        }
    }

    /// How long its threads were throttled by the quota so far, in microseconds.
    #[must_use]
    pub fn throttled_us(&self) -> Option<u64> {
        match self {
            Self::V1 { cpu, .. } => {
                let stat = own::read_to_string(cpu.as_ref()?.join("cpu.stat")).ok()?;
                Some(value_of(&stat, "throttled_time")? / 1000)
            }
            Self::V2 { path } => {
                value_of(&own::read_to_string(path.join("cpu.stat")).ok()?, "throttled_usec")
            }
        }
    }

    /// How long at least one of its threads waited for storage so far, in microseconds; `None` if the kernel
    /// does not account pressure.
    #[must_use]
    pub fn io_wait_us(&self) -> Option<u64> {
        self.pressure("io.pressure")
    }

    /// The same for waiting for a CPU, including throttling.
    #[must_use]
    pub fn cpu_wait_us(&self) -> Option<u64> {
        self.pressure("cpu.pressure")
    }

    /// Version 2 accounts pressure, even if version 1 has the controllers: Documentation/accounting/psi.rst
    /// of Linux.
    fn pressure(&self, file: &str) -> Option<u64> {
        waited(&own::read_to_string(self.unified()?.join(file)).ok()?)
    }

    /// Bytes read from and written to disks so far; `None` without the I/O controller.
    #[must_use]
    pub fn disk(&self) -> Option<(u64, u64)> {
        match self {
            Self::V1 { .. } => None,
            Self::V2 { path } => Some(moved(&own::read_to_string(path.join("io.stat")).ok()?)),
        }
    }

    /// CFS periods in which its processes ran, and in which they were throttled.
    #[must_use]
    pub fn periods(&self) -> Option<(u64, u64)> {
        let folder = match self {
            Self::V1 { cpu, .. } => cpu.as_ref()?,
            Self::V2 { path } => path,
        };
        let stat = own::read_to_string(folder.join("cpu.stat")).ok()?;
        Some((value_of(&stat, "nr_periods")?, value_of(&stat, "nr_throttled")?))
    }

    /// Number of OOM kills.
    #[must_use]
    pub fn oom_kills(&self) -> u64 {
        let file = match self {
            Self::V1 { .. } => "memory.oom_control",
            Self::V2 { .. } => "memory.events",
        };
        let text = own::read_to_string(self.main().join(file)).unwrap_or_default();
        value_of(&text, "oom_kill").unwrap_or(0)
    }

    /// Kills everything in it and removes it, in the background.
    pub(crate) fn end(self) {
        std::thread::spawn(move || {
            self.close();
            for _ in 0..ENDINGS {
                let there = self.processes();
                for process in there.iter().filter_map(|id| Pid::from_raw(*id)) {
                    let _ = rustix::process::kill_process(process, Signal::KILL);
                }
                if there.is_empty() && self.folders().iter().all(|folder| own::remove_dir(folder).is_ok()) {
                    return;
                }
                std::thread::sleep(ENDING);
            }
        });
    }

    /// Removes it; it must be empty.
    pub fn remove(&self) {
        for folder in self.folders() {
            let _ = own::remove_dir(folder);
        }
    }
}

/// Version 1's CPU shares for this many millicores: 1024 is one core, and 2 the minimum.
pub(super) fn shares(millis: u64) -> u64 {
    (millis.saturating_mul(1024) / 1000).clamp(2, 262_144)
}

/// Version 2's CPU weight for this many millicores: 100 is one core.
pub(super) fn weight(millis: u64) -> u64 {
    (millis / 10).clamp(1, 10_000)
}

/// CPU time per period, in microseconds; the kernel's minimum is 1 ms.
fn quota_us(limits: &Limits) -> u64 {
    (limits.cpu_most_millis * PERIOD_US / 1000).max(1000)
}

/// The number after `key` in lines of `key number`.
pub(super) fn value_of(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

/// The bytes read and written in lines of `8:0 rbytes=1 wbytes=2 rios=3 ...`, summed over devices.
fn moved(text: &str) -> (u64, u64) {
    let sum = |key: &str| {
        let values = text.split_whitespace().filter_map(|word| word.strip_prefix(key)?.parse::<u64>().ok());
        values.sum()
    };
    (sum("rbytes="), sum("wbytes="))
}

/// The time with some tasks stalled, in microseconds, of a file like `io.pressure` or `/proc/pressure/io`.
pub(crate) fn waited(pressure: &str) -> Option<u64> {
    let some = pressure.lines().find(|line| line.starts_with("some "))?;
    some.split_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_in_which_some_waited_is_read() {
        let text = "some avg10=0.22 avg60=0.17 avg300=1.11 total=58761459\nfull avg10=0.00 total=7\n";
        assert_eq!(waited(text), Some(58_761_459));
        assert_eq!(waited("full avg10=0.00 avg60=0.13 avg300=0.96 total=57\n"), None);
        assert_eq!(waited(""), None);
    }

    #[test]
    fn the_bytes_of_all_devices_are_counted() {
        let text =
            "8:0 rbytes=100 wbytes=20 rios=1 wios=1 dbytes=7 dios=0\n8:16 rbytes=5 wbytes=2 rios=9 wios=9\n";
        assert_eq!(moved(text), (105, 22));
        assert_eq!(moved(""), (0, 0));
    }

    #[test]
    fn a_key_is_not_mistaken_for_its_prefix() {
        let text = "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n";
        assert_eq!(value_of(text, "oom_kill"), Some(3));
        assert_eq!(value_of(text, "absent"), None);
    }
}
