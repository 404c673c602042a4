//! Usage of a worker: dense samples in its first second, then one a second, thinned with age.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cubeloom_domain::usage::{CardsSample, MemorySpread, UsageSample, UsageSummary};
use cubeloom_domain::{Bytes, Cpu};
use cubeloom_files::own;

use super::cards::Cards;
use super::disk::Disk;
use super::now::now;
use super::tree;
use crate::spec::{ShimSpec, USAGE};
use crate::waits::Waits;

/// The first sample's age; the interval doubles the worker's age until it reaches one second.
const FIRST: Duration = Duration::from_millis(20);
const PERIOD: Duration = Duration::from_secs(1);
/// Maximum number of retained samples; then every second one is dropped and the step doubles.
const KEPT: usize = 720;

/// Takes samples and maintains the series.
pub(super) struct Sampler<'a> {
    order: &'a ShimSpec,
    began: Instant,
    next: Instant,
    peak: u64,
    series: Vec<UsageSample>,
    rates: Rates,
    /// Memory levels, each weighted by the milliseconds since the previous sample.
    levels: Counts,
    /// The worker's age at the last sample.
    seen: Duration,
    /// Every n-th second's sample enters the series.
    step: u32,
    ticks: u32,
    file: Option<File>,
    disk: Disk,
    waits: Waits,
    /// Opened with the first retained sample: a worker must not wait for its GPUs.
    cards: OnceCell<Option<Cards>>,
    worked: Worked,
}

impl<'a> Sampler<'a> {
    pub(super) fn new(order: &'a ShimSpec) -> Self {
        let began = Instant::now();
        Self {
            order,
            began,
            next: began + FIRST,
            peak: 0,
            series: Vec::new(),
            rates: Rates::default(),
            levels: Counts::default(),
            seen: Duration::ZERO,
            step: 1,
            ticks: 0,
            file: None,
            disk: Disk::default(),
            waits: Waits::of(order.cgroup.as_ref()),
            cards: OnceCell::new(),
            worked: Worked::default(),
        }
    }

    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Takes a sample; returns whether memory has run out.
    pub(super) fn sample(&mut self) -> bool {
        let present = Instant::now();
        let age = present.duration_since(self.began);
        self.next = present + age.clamp(FIRST, PERIOD);
        let memory = self.memory();
        self.peak = self.peak.max(memory);
        self.levels.add(level(memory), millis(age.saturating_sub(self.seen)));
        self.seen = age;
        if age >= PERIOD {
            let sample = self.now(Bytes(memory));
            self.rates.add(age, sample.cpu_us);
            self.worked.add(age, sample.cards);
            self.keep(sample);
        }
        match &self.order.cgroup {
            Some(cgroup) => cgroup.oom_kills() > 0,
            None => self.order.limits.memory > 0 && memory > self.order.limits.memory,
        }
    }

    fn now(&mut self, memory: Bytes) -> UsageSample {
        let group = self.order.cgroup.as_ref();
        let moved = group.and_then(|group| group.disk());
        let moved = moved.or_else(|| self.disk.of(tree::descendants().into_iter()));
        UsageSample {
            at: now(),
            cpu_us: self.cpu_us(),
            memory,
            // Without a limit there is no throttling, except by a parent group.
            throttled_us: group.filter(|_| self.is_limited()).and_then(|group| group.throttled_us()),
            cpu_wait_us: group.and_then(|group| group.cpu_wait_us()),
            disk_read: moved.map(|moved| Bytes(moved.0)),
            disk_written: moved.map(|moved| Bytes(moved.1)),
            io_wait_us: self.waits.so_far(group),
            cards: self.cards.get_or_init(|| Cards::of(self.order)).as_ref().and_then(Cards::sample),
        }
    }

    fn is_limited(&self) -> bool {
        self.order.limits.cpu_most_millis > 0
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

    /// Adds every `step`-th second's sample to the series.
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

    /// A write error of the series must not harm the worker.
    fn append(&mut self, sample: &UsageSample) {
        if self.file.is_none() {
            self.file = own::open_with(OpenOptions::new().create(true).append(true), self.path()).ok();
        }
        if let (Some(file), Ok(line)) = (&mut self.file, line(sample)) {
            let _ = file.write_all(&line);
        }
    }

    fn rewrite(&mut self) {
        let lines: Vec<u8> = self.series.iter().filter_map(|sample| line(sample).ok()).flatten().collect();
        let fresh = self.path().with_extension("tmp");
        if own::write(&fresh, lines).and_then(|()| own::rename(&fresh, self.path())).is_ok() {
            self.file = None;
        }
    }

    /// Adds the last sample of a worker that ran for a second or more.
    pub(super) fn finish(&mut self) {
        if let Some(last) = self.series.last().copied() {
            let sample = self.now(last.memory);
            self.append(&UsageSample { cards: last.cards, ..sample });
        }
    }

    /// The distribution of its memory over time, capped at its peak.
    fn memory_spread(&self, peak: u64) -> Option<MemorySpread> {
        let not_beyond = |part| self.levels.not_beyond(part).map(|level| Bytes(level.min(peak)));
        Some(MemorySpread { middle: not_beyond(2)?, high: not_beyond(20)? })
    }

    /// The total usage, once nothing of it runs any more.
    pub(super) fn summary(&self) -> UsageSummary {
        let group = self.order.cgroup.as_ref();
        let kernel_peak = group.and_then(|group| group.kernel_peak());
        let (reaped_cpu, largest) = reaped();
        // A worker too brief for a sample: use its largest process, which includes shared pages, capped at
        // what the kernel charged.
        let peak = if self.peak > 0 { self.peak } else { largest.min(kernel_peak.unwrap_or(u64::MAX)) };
        UsageSummary {
            cpu_us: group.and_then(|group| group.cpu_us()).unwrap_or(reaped_cpu),
            peak_memory: Bytes(peak),
            kernel_peak_memory: kernel_peak.map(Bytes),
            memory: self.memory_spread(peak),
            cpu_high: self.rates.high(),
            card_us: self.worked.at(self.began.elapsed()),
            throttled: group
                .filter(|_| self.is_limited())
                .and_then(|group| group.periods())
                .filter(|(all, _)| *all > 0)
                .map(thousandths),
            cpu_waited: group.and_then(|group| group.cpu_wait_us()).map(|waited| {
                let ran = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
                thousandths((ran.max(1), waited))
            }),
        }
    }
}

/// A memory amount, rounded up by at most 1/32.
fn level(bytes: u64) -> u64 {
    let step = (bytes.checked_ilog2().unwrap_or(0)).saturating_sub(5);
    bytes.div_ceil(1 << step) << step
}

/// GPU busy time of a worker: each sample holds until the next one, and the first one from the start.
#[derive(Default)]
struct Worked {
    /// Time of the last sample, total GPU utilization then in hundredths of a GPU, and the sum up to then in
    /// microseconds of one GPU. `None` before the first sample.
    last: Option<(Duration, u64, u64)>,
}

impl Worked {
    /// Adds a sample at this age of the worker.
    fn add(&mut self, age: Duration, cards: Option<CardsSample>) {
        let Some(cards) = cards else { return };
        let at_work = u64::from(cards.cards) * u64::from(cards.use_percent.min(100));
        let before = self.at(age).unwrap_or_else(|| share(age, at_work));
        self.last = Some((age, at_work, before));
    }

    /// The sum at this age.
    fn at(&self, age: Duration) -> Option<u64> {
        let (then, at_work, sum) = self.last?;
        Some(sum.saturating_add(share(age.saturating_sub(then), at_work)))
    }
}

/// Busy time of one GPU that equals this utilization, in hundredths of GPUs.
fn share(time: Duration, hundredths: u64) -> u64 {
    u64::try_from(time.as_micros() * u128::from(hundredths) / 100).unwrap_or(u64::MAX)
}

/// Throttled periods, or time, in thousandths.
fn thousandths((all, held_back): (u64, u64)) -> u32 {
    u32::try_from(held_back.saturating_mul(1000) / all).unwrap_or(1000).min(1000)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A histogram weighted by samples or time. Its size stays bounded however long a worker runs.
#[derive(Default)]
struct Counts(BTreeMap<u64, u64>);

impl Counts {
    fn add(&mut self, amount: u64, much: u64) {
        *self.0.entry(amount).or_default() += much;
    }

    /// The quantile that one in `part` exceeds.
    fn not_beyond(&self, part: u64) -> Option<u64> {
        let all: u64 = self.0.values().sum();
        let mut beyond = all / part;
        for (amount, count) in self.0.iter().rev() {
            match beyond.checked_sub(*count) {
                Some(rest) => beyond = rest,
                None => return Some(*amount),
            }
        }
        None
    }
}

/// CPU rates between samples: a histogram in eighths of a core.
#[derive(Default)]
struct Rates {
    last: Option<(Duration, u64)>,
    counts: Counts,
}

/// The step of rates, in millicores.
const STEP: u64 = 125;

impl Rates {
    /// Adds the CPU time so far, in microseconds, at this age of the worker.
    fn add(&mut self, age: Duration, cpu_us: u64) {
        if let Some((before, used)) = self.last.replace((age, cpu_us)) {
            let micros = u64::try_from(age.saturating_sub(before).as_micros()).unwrap_or(u64::MAX).max(1);
            let millis = cpu_us.saturating_sub(used).saturating_mul(1000) / micros;
            self.counts.add(millis.div_ceil(STEP) * STEP, 1);
        }
    }

    /// The 95th percentile.
    fn high(&self) -> Option<Cpu> {
        self.counts.not_beyond(20).map(Cpu)
    }
}

fn line(sample: &UsageSample) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(sample)?;
    line.push(b'\n');
    Ok(line)
}

/// CPU time in microseconds of all reaped processes, and the largest one's memory.
fn reaped() -> (u64, u64) {
    // SAFETY: the structure is plain numbers, which the call fills in.
    #[allow(unsafe_code)]
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let micros = |time: libc::timeval| time.tv_sec.unsigned_abs() * 1_000_000 + time.tv_usec.unsigned_abs();
    (micros(usage.ru_utime) + micros(usage.ru_stime), usage.ru_maxrss.unsigned_abs() * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_work_for_as_long_as_each_sample_tells_until_the_next() {
        let cards =
            |cards: u32, use_percent: u32| Some(CardsSample { cards, use_percent, ..CardsSample::default() });
        let mut worked = Worked::default();
        let at = Duration::from_secs;
        assert_eq!(worked.at(at(9)), None, "it has no GPUs, or nobody tells");
        worked.add(at(1), cards(2, 50));
        worked.add(at(2), None);
        worked.add(at(5), cards(2, 0));
        assert_eq!(worked.at(at(60)), Some(5_000_000), "two GPUs by half for five seconds, and idle then");
        let mut idle = Worked::default();
        idle.add(at(1), cards(1, 0));
        assert_eq!(idle.at(at(7)), Some(0), "idle is measured");
    }

    #[test]
    fn a_spike_of_memory_is_told_from_what_is_held_all_along() {
        const MIB: u64 = 1 << 20;
        let mut levels = Counts::default();
        assert_eq!(levels.not_beyond(2), None, "nobody has looked yet");
        for second in 0..100 {
            let held = match second {
                50..54 => 900,
                20.. => 300,
                _ => 100,
            };
            levels.add(level(held * MIB), 1000);
        }
        let near = |part, mib: u64| {
            let found = levels.not_beyond(part).unwrap();
            assert!((mib * MIB..=mib * MIB * 33 / 32).contains(&found), "{found} is not {mib} MiB");
        };
        near(2, 300);
        near(20, 300);
        near(50, 900);
        assert_eq!([0, 1, 31, 64, 65].map(level), [0, 1, 31, 64, 66]);
    }

    #[test]
    fn short_bursts_do_not_count_and_long_ones_do() {
        let mut rates = Rates::default();
        let mut used = 0;
        for second in 0..=40 {
            rates.add(Duration::from_secs(second), used);
            used += if second == 7 { 8_000_000 } else { 450_000 };
        }
        assert_eq!(rates.high(), Some(Cpu(500)));
        for second in 41..=50 {
            rates.add(Duration::from_secs(second), used);
            used += 3_000_000;
        }
        assert_eq!(rates.high(), Some(Cpu(3000)));
        assert_eq!(Rates::default().high(), None);
    }
}
