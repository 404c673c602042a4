//! Bytes that a worker reads from and writes to disks.

use std::collections::HashMap;

use cubeloom_files::own;

/// Sums bytes over processes, including ended ones. Without the cgroup's I/O controller, the kernel only
/// counts per process.
#[derive(Default)]
pub(super) struct Disk {
    /// Bytes of each process when last seen: read, written.
    live: HashMap<i32, (u64, u64)>,
    /// Bytes of ended processes.
    gone: (u64, u64),
}

impl Disk {
    /// Bytes read and written so far by these processes and ended ones; `None` if the kernel reports none.
    /// I/O between the last sample and the end of a process is missed.
    pub(super) fn of(&mut self, processes: impl Iterator<Item = i32>) -> Option<(u64, u64)> {
        self.look(processes.filter_map(|pid| Some((pid, moved(pid)?))).collect())
    }

    fn look(&mut self, now: HashMap<i32, (u64, u64)>) -> Option<(u64, u64)> {
        if now.is_empty() && self.live.is_empty() && self.gone == (0, 0) {
            return None;
        }
        for (pid, (read, written)) in std::mem::take(&mut self.live) {
            // A reused pid starts from zero.
            if now.get(&pid).is_none_or(|now| now.0 < read || now.1 < written) {
                self.gone = (self.gone.0 + read, self.gone.1 + written);
            }
        }
        self.live = now;
        let all = self.live.values().chain([&self.gone]);
        Some(all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1)))
    }
}

/// Bytes that a process has read and written, see proc(5). Page cache hits, and files removed before
/// writeback, do not count.
fn moved(pid: i32) -> Option<(u64, u64)> {
    let text = own::read_to_string(format!("/proc/{pid}/io")).ok()?;
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.trim().parse::<u64>().ok());
    Some((value("read_bytes:")?, value("write_bytes:")?.saturating_sub(value("cancelled_write_bytes:")?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_has_moved_stays_counted_when_it_is_gone() {
        let mut disk = Disk::default();
        assert_eq!(disk.look(HashMap::new()), None);
        assert_eq!(disk.look(HashMap::from([(1, (100, 10)), (2, (5, 0))])), Some((105, 10)));
        assert_eq!(disk.look(HashMap::from([(1, (150, 10))])), Some((155, 10)));
        assert_eq!(
            disk.look(HashMap::from([(1, (20, 0))])),
            Some((175, 10)),
            "another process has its number"
        );
        assert_eq!(disk.look(HashMap::new()), Some((175, 10)));
    }

    #[test]
    fn this_process_is_told_of() {
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        assert!(moved(pid).is_some());
    }
}
