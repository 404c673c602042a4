//! Statistics of this process, from the kernel.

use std::fs;
use std::time::Duration;

use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::{Resource, getrlimit};

pub(super) struct Process {
    /// CPU time of all threads of this process alone.
    pub cpu: Duration,
    /// Resident memory, in bytes.
    pub resident: u64,
    pub threads: u64,
    pub open_files: u64,
    /// The limit of open files; `None` without a limit.
    pub most_files: Option<u64>,
    /// Start time, in seconds since the epoch.
    pub started: f64,
}

impl Process {
    /// The current values. `None` if `/proc` is not as expected.
    pub fn read() -> Option<Self> {
        let (stat, machine) =
            (fs::read_to_string("/proc/self/stat").ok()?, fs::read_to_string("/proc/stat").ok()?);
        // One of them is the directory being read.
        let open_files = (fs::read_dir("/proc/self/fd").ok()?.count() as u64).saturating_sub(1);
        let most_files = getrlimit(Resource::Nofile).current;
        let (ticks, page) = (clock_ticks_per_second(), page_size() as u64);
        Self::of(&stat, &machine, ticks, page).map(|process| Self { open_files, most_files, ..process })
    }

    /// From `/proc/self/stat` and `/proc/stat`, see proc(5), without open files.
    fn of(stat: &str, machine: &str, ticks: u64, page: u64) -> Option<Self> {
        // The program's name comes second, in parentheses, and may contain anything.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        let boot = machine.lines().find_map(|line| line.strip_prefix("btime "))?;
        let seconds =
            |count: u64| Duration::from_secs(count).div_f64(Duration::from_secs(ticks).as_secs_f64());
        Some(Self {
            cpu: seconds(field(14)? + field(15)?),
            threads: field(20)?,
            started: boot.trim().parse::<f64>().ok()? + seconds(field(22)?).as_secs_f64(),
            resident: field(24)? * page,
            open_files: 0,
            most_files: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_line_is_read_whatever_the_programs_name_is() {
        let stat = "7 (a) b 1 2) S 1 7 7 0 -1 4194560 900 0 0 0 250 50 9 9 20 0 12 0 4200 99999 300 1 1";
        let process = Process::of(stat, "cpu 1 2\nbtime 1700000000\n", 100, 4096).unwrap();
        assert_eq!(process.cpu, Duration::from_secs(3));
        assert_eq!((process.threads, process.resident), (12, 300 * 4096));
        assert!((process.started - 1_700_000_042.0).abs() < 1e-6, "{}", process.started);
        assert!(Process::of("7 (a", "btime 1\n", 100, 4096).is_none());
    }

    #[test]
    fn this_process_is_told_of() {
        let process = Process::read().unwrap();
        assert!(process.resident > 1 << 20 && process.threads >= 1 && process.open_files >= 3);
    }
}
