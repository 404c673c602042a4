//! The processes of one data folder on this machine, found through /proc and cgroups.

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use cubeloom_domain::AttemptKey;
use rustix::process::{Pid, Signal, kill_process};

/// The shims of a data folder: those with open files in it. An idle shim has none, unless failpoints are
/// logged in the folder.
pub fn shims(mark: &str) -> Vec<i32> {
    let is_shim = |pid: &i32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).nth(1) == Some(b"__shim")
    };
    let has_open = |pid: &i32| {
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        descriptors.filter_map(|entry| fs::read_link(entry.path()).ok()).any(|path| path.starts_with(mark))
    };
    all().filter(is_shim).filter(has_open).collect()
}

/// The workers of a data folder: processes whose outputs are in it.
pub fn workers(mark: &str) -> Vec<i32> {
    let start = format!("CUBELOOM_OUTPUTS={mark}/");
    let of_ours = |pid: &i32| {
        let variables = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        variables.split(|byte| *byte == 0).any(|entry| entry.starts_with(start.as_bytes()))
    };
    all().filter(of_ours).collect()
}

/// The processes with this environment variable: `NAME=value`.
pub fn with(entry: &str) -> Vec<i32> {
    let has = |pid: &i32| {
        let variables = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        variables.split(|byte| *byte == 0).any(|one| one == entry.as_bytes())
    };
    all().filter(has).collect()
}

/// The cgroups of attempts, wherever they are mounted.
pub fn cgroups<'a>(attempts: impl Iterator<Item = &'a AttemptKey>) -> Vec<PathBuf> {
    let names: Vec<String> = attempts.map(AttemptKey::object_name).collect();
    let controllers = fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten();
    let parents =
        controllers.map(|entry| entry.path().join("cubeloom")).chain(["/sys/fs/cgroup/cubeloom".into()]);
    let groups = parents.flat_map(|parent| fs::read_dir(parent).into_iter().flatten().flatten());
    let of_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        names.iter().any(|attempt| name.starts_with(attempt.as_str()))
    };
    groups.map(|entry| entry.path()).filter(of_ours).collect()
}

/// The CPU time of a process's threads so far.
pub fn processor_time(pid: u32) -> Duration {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("the process runs").flatten();
    let of_thread = |text: String| text.split_whitespace().next().and_then(|time| time.parse::<u64>().ok());
    let times = tasks.filter_map(|task| fs::read_to_string(task.path().join("schedstat")).ok());
    Duration::from_nanos(times.filter_map(of_thread).sum())
}

/// Ends the shims of a data folder with their workers: asks first, kills after a while.
pub fn end(mark: &str) {
    for signal in [Signal::TERM, Signal::KILL] {
        for shim in shims(mark).into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process(shim, signal);
        }
        let deadline = Instant::now() + Duration::from_secs(3);
        while !shims(mark).is_empty() && Instant::now() < deadline {
            sleep(Duration::from_millis(20));
        }
    }
}

fn all() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}
