//! What a worker reads from disks and writes to them.

use std::collections::HashMap;

use cubeloom_files::own;

/// Counts the bytes of processes, also of those that have ended since: the kernel counts where the cgroup's controller is
/// not to be had, one process at a time.
#[derive(Default)]
pub(super) struct Disk {
    /// What each process had moved when it was last seen: read, written.
    live: HashMap<i32, (u64, u64)>,
    /// What those had moved that are gone.
    gone: (u64, u64),
}

impl Disk {
    /// The bytes read and written so far by these processes, and by those of before; none where the kernel tells of none.
    /// What a process moves between the last look at it and its end is not seen.
    pub(super) fn of(&mut self, processes: impl Iterator<Item = i32>) -> Option<(u64, u64)> {
        self.look(processes.filter_map(|pid| Some((pid, moved(pid)?))).collect())
    }

    fn look(&mut self, now: HashMap<i32, (u64, u64)>) -> Option<(u64, u64)> {
        if now.is_empty() && self.live.is_empty() && self.gone == (0, 0) {
            return None;
        }
        for (pid, (read, written)) in std::mem::take(&mut self.live) {
            // A number may be given to another process, which begins anew.
            if now.get(&pid).is_none_or(|now| now.0 < read || now.1 < written) {
                self.gone = (self.gone.0 + read, self.gone.1 + written);
            }
        }
        self.live = now;
        let all = self.live.values().chain([&self.gone]);
        Some(all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1)))
    }
}

/// What a process has read and written, see proc(5). What is found in the page cache, or removed before it is written back, is
/// not counted.
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
