//! What a worker uses: dense samples in its first second, then one a second, thinned as they age.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cubeloom_domain::Bytes;
use cubeloom_domain::usage::{UsageSample, UsageSummary};

use super::now::now;
use super::tree;
use crate::spec::{ShimSpec, USAGE};

/// The first sample's age; each next one comes when the worker is twice as old, until they are a second apart.
const FIRST: Duration = Duration::from_millis(20);
const PERIOD: Duration = Duration::from_secs(1);
/// At most this many samples are kept; then every second one goes and the step doubles.
const KEPT: usize = 720;

/// Takes samples and keeps the series.
pub(super) struct Sampler<'a> {
    order: &'a ShimSpec,
    began: Instant,
    next: Instant,
    peak: u64,
    series: Vec<UsageSample>,
    /// A sample goes into the series every this many seconds.
    step: u32,
    ticks: u32,
    file: Option<File>,
}

impl<'a> Sampler<'a> {
    pub(super) fn new(order: &'a ShimSpec) -> Self {
        let began = Instant::now();
        Self { order, began, next: began + FIRST, peak: 0, series: Vec::new(), step: 1, ticks: 0, file: None }
    }

    /// When the next sample is due.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Takes one; says whether memory has run out.
    pub(super) fn sample(&mut self) -> bool {
        let present = Instant::now();
        let age = present.duration_since(self.began);
        self.next = present + age.clamp(FIRST, PERIOD);
        let memory = self.memory();
        self.peak = self.peak.max(memory);
        if age >= PERIOD {
            self.keep(UsageSample { at: now(), cpu_us: self.cpu_us(), memory: Bytes(memory) });
        }
        match &self.order.cgroup {
            Some(cgroup) => cgroup.oom_kills() > 0,
            None => self.order.limits.memory > 0 && memory > self.order.limits.memory,
        }
    }

    fn memory(&self) -> u64 {
        match &self.order.cgroup {
            Some(cgroup) => cgroup.memory().unwrap_or(0),
            None => tree::descendants().into_iter().filter_map(tree::memory).sum(),
        }
    }

    fn cpu_us(&self) -> u64 {
        let counted = self.order.cgroup.as_ref().and_then(|cgroup| cgroup.cpu_us());
        counted.unwrap_or_else(|| {
            let live: u64 = tree::descendants().into_iter().filter_map(tree::cpu_ticks).sum();
            live * (1_000_000 / rustix::param::clock_ticks_per_second().max(1)) + reaped().0
        })
    }

    /// Adds to the series every `step`-th second.
    fn keep(&mut self, sample: UsageSample) {
        self.ticks += 1;
        if !self.ticks.is_multiple_of(self.step) {
            return;
        }
        self.series.push(sample);
        if self.series.len() < KEPT {
            self.append(&sample);
            return;
        }
        let mut index = 0;
        self.series.retain(|_| {
            index += 1;
            index % 2 == 0
        });
        self.step *= 2;
        self.rewrite();
    }

    fn path(&self) -> PathBuf {
        self.order.folder.join(USAGE)
    }

    /// A series that cannot be written must not harm the worker.
    fn append(&mut self, sample: &UsageSample) {
        if self.file.is_none() {
            self.file = OpenOptions::new().create(true).append(true).open(self.path()).ok();
        }
        if let (Some(file), Ok(line)) = (&mut self.file, line(sample)) {
            let _ = file.write_all(&line);
        }
    }

    fn rewrite(&mut self) {
        let lines: Vec<u8> = self.series.iter().filter_map(|sample| line(sample).ok()).flatten().collect();
        let fresh = self.path().with_extension("tmp");
        if fs::write(&fresh, lines).and_then(|()| fs::rename(&fresh, self.path())).is_ok() {
            self.file = None;
        }
    }

    /// The last sample of a worker that ran for a second or more.
    pub(super) fn finish(&mut self) {
        if let Some(last) = self.series.last().copied() {
            self.append(&UsageSample { at: now(), cpu_us: self.cpu_us(), memory: last.memory });
        }
    }

    /// What it used, once nothing of it runs any more.
    pub(super) fn summary(&self) -> UsageSummary {
        let group = self.order.cgroup.as_ref();
        let kernel_peak = group.and_then(|group| group.kernel_peak());
        let (reaped_cpu, largest) = reaped();
        // A worker too short for a sample: its largest process, which counts shared pages too, but never more
        // than the kernel charged.
        let peak = if self.peak > 0 { self.peak } else { largest.min(kernel_peak.unwrap_or(u64::MAX)) };
        UsageSummary {
            cpu_us: group.and_then(|group| group.cpu_us()).unwrap_or(reaped_cpu),
            peak_memory: Bytes(peak),
            kernel_peak_memory: kernel_peak.map(Bytes),
        }
    }
}

fn line(sample: &UsageSample) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(sample)?;
    line.push(b'\n');
    Ok(line)
}

/// CPU time in microseconds of all processes that this one has taken the exit of, and the largest's memory.
fn reaped() -> (u64, u64) {
    // SAFETY: the structure is plain numbers, filled in by the call.
    #[allow(unsafe_code)]
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let micros = |time: libc::timeval| time.tv_sec.unsigned_abs() * 1_000_000 + time.tv_usec.unsigned_abs();
    (micros(usage.ru_utime) + micros(usage.ru_stime), usage.ru_maxrss.unsigned_abs() * 1024)
}
