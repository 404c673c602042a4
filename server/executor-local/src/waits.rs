//! Storage wait time of a worker; of its machine, if the kernel does not account its group's.

use cubeloom_files::own;

use crate::cgroup::{Cgroup, waited};

/// The source of one worker's figures. It is chosen at the worker's start: the two must not be mixed.
pub(crate) enum Waits {
    /// Its group.
    Group,
    /// The machine, with its wait time in microseconds at the worker's start.
    Machine {
        /// `None` if the kernel accounts nothing at all.
        before: Option<u64>,
    },
}

impl Waits {
    /// For a worker that starts now.
    pub(crate) fn of(group: Option<&Cgroup>) -> Self {
        match group.and_then(Cgroup::io_wait_us) {
            Some(_) => Self::Group,
            None => Self::Machine { before: by_machine() },
        }
    }

    /// Wait time of the worker, or of its machine, since its start, in microseconds; `None` if unknown.
    pub(crate) fn so_far(&self, group: Option<&Cgroup>) -> Option<u64> {
        match self {
            Self::Group => group.and_then(Cgroup::io_wait_us),
            Self::Machine { before } => Some(by_machine()?.saturating_sub((*before)?)),
        }
    }
}

/// Storage wait time of this machine, in microseconds. Without pressure accounting, it is the iowait time
/// summed over all cores.
pub(crate) fn by_machine() -> Option<u64> {
    let pressure = own::read_to_string("/proc/pressure/io").ok();
    pressure.as_deref().and_then(waited).or_else(|| idle_for_it(&own::read_to_string("/proc/stat").ok()?))
}

/// The fifth counter of the first line of `/proc/stat`, in clock ticks.
fn idle_for_it(stat: &str) -> Option<u64> {
    let ticks: u64 = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace().nth(4)?.parse().ok()?;
    Some(ticks.saturating_mul(1_000_000) / rustix::param::clock_ticks_per_second().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn where_its_group_does_not_tell_the_machine_does_from_when_the_worker_began() {
        let folder = tempfile::tempdir().unwrap();
        let first =
            Cgroup::V1 { memory: folder.path().into(), cpu: None, pids: None, cpuset: None, sockets: None };
        let second = Cgroup::V2 { path: folder.path().into() };
        // The wait time since boot exceeds that of these few moments.
        for group in [None, Some(&first), Some(&second)] {
            let before = by_machine().expect("any kernel counts one of both");
            let told = Waits::of(group).so_far(group).expect("the machine tells");
            assert!(told <= by_machine().unwrap().saturating_sub(before), "{group:?}: {told}");
        }
    }

    #[test]
    fn a_group_that_tells_is_believed_and_no_other_count_follows() {
        let folder = tempfile::tempdir().unwrap();
        let group = Cgroup::V2 { path: folder.path().into() };
        let file = folder.path().join("io.pressure");
        fs::write(&file, "some avg10=0.00 avg60=0.00 avg300=0.00 total=42\n").unwrap();
        let waits = Waits::of(Some(&group));
        assert_eq!(waits.so_far(Some(&group)), Some(42));
        fs::remove_file(file).unwrap();
        assert_eq!(waits.so_far(Some(&group)), None, "it has ended");
    }

    #[test]
    fn ticks_without_work_for_storage_are_counted() {
        let second = rustix::param::clock_ticks_per_second();
        let stat = format!("cpu  100 5 45 800 {second} 0 0 0 90 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
        assert_eq!(idle_for_it(&stat), Some(1_000_000));
        assert_eq!(idle_for_it("cpu  100 5 45 800\n"), None);
        assert_eq!(idle_for_it(""), None);
    }
}
