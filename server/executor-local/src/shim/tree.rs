//! Process trees: a worker's processes without control groups.

use cubeloom_files::own;
use rustix::process::Pid;

/// The children of all threads of one process.
fn children_of(pid: i32) -> Vec<i32> {
    let Ok(tasks) = own::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    tasks
        .flatten()
        .filter_map(|task| own::read_to_string(task.path().join("children")).ok())
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<i32>>())
        .collect()
}

/// This process's own children.
pub(super) fn children() -> Vec<Pid> {
    children_of(rustix::process::getpid().as_raw_nonzero().get())
        .into_iter()
        .filter_map(Pid::from_raw)
        .collect()
}

/// All descendants of this process.
pub(super) fn descendants() -> Vec<i32> {
    let mut found = children_of(rustix::process::getpid().as_raw_nonzero().get());
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        found.extend(children_of(pid));
        next += 1;
    }
    found
}

/// Start time of a process, in clock ticks since boot.
pub(crate) fn start_ticks(pid: i32) -> Option<u64> {
    stat_field(pid, 19)?.parse().ok()
}

/// Whether a process has ended, or is irrevocably exiting: its descriptors may be closed already.
pub(super) fn is_ending(pid: Pid) -> bool {
    /// The kernel's `PF_EXITING`.
    const EXITING: u32 = 0x4;
    let pid = pid.as_raw_nonzero().get();
    let exiting = |flags: String| flags.parse::<u32>().is_ok_and(|flags| flags & EXITING != 0);
    stat_field(pid, 6).is_some_and(exiting)
}

/// CPU time of a process and its reaped children, in clock ticks.
pub(super) fn cpu_ticks(pid: i32) -> Option<u64> {
    let stat = own::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let after = stat.rsplit_once(')')?.1;
    after.split_whitespace().skip(11).take(4).map(|field| field.parse::<u64>().ok()).sum()
}

/// Field `index` of `/proc/<pid>/stat`, counted from 0 at the state, which follows the name.
fn stat_field(pid: i32, index: usize) -> Option<String> {
    let stat = own::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(index).map(Into::into)
}

/// Anonymous plus shared memory of a process, in bytes.
pub(super) fn memory(pid: i32) -> Option<u64> {
    let status = own::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kib = |key: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
    };
    Some((kib("RssAnon:") + kib("RssShmem:")) * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_was_killed_is_ending() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_child(&child);
        assert!(!is_ending(pid));
        child.kill().unwrap();
        // Dead but not reaped: still visible.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while !is_ending(pid) {
            assert!(std::time::Instant::now() < deadline, "it does not end");
            std::thread::yield_now();
        }
        child.wait().unwrap();
    }
}
