//! Usage of workers: a thinned series while they run, and a summary at the end.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::executor::BoxFuture;
use crate::ids::AttemptKey;
use crate::outcome::WorkerName;
use crate::quantity::{Bytes, Cpu};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageSample {
    pub at: Timestamp,
    /// CPU time used so far, in microseconds.
    pub cpu_us: u64,
    /// Anonymous plus shared memory; page cache excluded.
    pub memory: Bytes,
    /// Total time for which its threads were throttled at its CPU limit, in microseconds. `None` without a
    /// limit, or if the kernel does not report it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub throttled_us: Option<u64>,
    /// Total time for which at least one of its threads waited for a CPU, in microseconds. `None` if the
    /// kernel does not report it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_wait_us: Option<u64>,
    /// Total read from disks. `None` if the kernel does not report it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub disk_read: Option<Bytes>,
    /// Total written to disks. `None` if the kernel does not report it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub disk_written: Option<Bytes>,
    /// Total time for which at least one of its processes waited for storage, in microseconds. If the kernel
    /// does not report it: for which anything on its node did, since the worker began.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub io_wait_us: Option<u64>,
    /// Usage of its GPUs. `None` without any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cards: Option<CardsSample>,
}

/// Usage of a worker's GPUs, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardsSample {
    pub cards: u32,
    /// Mean utilization, in percent.
    pub use_percent: u32,
    /// Memory in use.
    pub memory: Bytes,
    /// Power draw in milliwatts; 0 if not reported.
    pub power_mw: u64,
}

/// Usage of a worker over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerUsage {
    pub worker: WorkerName,
    /// In order of time.
    pub samples: Vec<UsageSample>,
}

/// A group of metrics of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// CPU time.
    Cpu,
    /// Time throttled at its CPU limit.
    Throttled,
    /// Time waiting for a CPU.
    CpuWait,
    Memory,
    /// Bytes read from and written to disks.
    Disk,
    /// Bytes received and sent.
    Network,
    /// Time waiting for storage.
    Waiting,
    /// GPU usage.
    Cards,
}

impl Quantity {
    /// The public name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Throttled => "throttled",
            Self::CpuWait => "cpu_wait",
            Self::Memory => "memory",
            Self::Disk => "disk",
            Self::Network => "network",
            Self::Waiting => "io_wait",
            Self::Cards => "cards",
        }
    }
}

/// A metric of a worker over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// CPU usage, in cores.
    Cpu,
    /// CPU throttled by its limit, in cores.
    Throttled,
    /// Share of time in which any of its threads waited for a CPU, in percent.
    CpuWait,
    /// Memory, in bytes.
    Memory,
    /// Bytes per second.
    DiskRead,
    /// Bytes per second.
    DiskWritten,
    /// Bytes per second.
    NetworkReceived,
    /// Bytes per second.
    NetworkSent,
    /// Share of time in which any of its processes, or else of its node's, waited for storage, in percent.
    IoWait,
    /// Mean GPU utilization, in percent.
    CardUse,
    /// Memory in use on its GPUs, in bytes.
    CardMemory,
    /// Power draw of its GPUs, in watts.
    CardPower,
}

impl Measure {
    /// All metrics, in display order.
    pub const ALL: [Self; 12] = [
        Self::Cpu,
        Self::Throttled,
        Self::CpuWait,
        Self::Memory,
        Self::DiskRead,
        Self::DiskWritten,
        Self::NetworkReceived,
        Self::NetworkSent,
        Self::IoWait,
        Self::CardUse,
        Self::CardMemory,
        Self::CardPower,
    ];

    /// The public name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Throttled => "throttled",
            Self::CpuWait => "cpu_wait",
            Self::Memory => "memory",
            Self::DiskRead => "disk_read",
            Self::DiskWritten => "disk_written",
            Self::NetworkReceived => "network_received",
            Self::NetworkSent => "network_sent",
            Self::IoWait => "io_wait",
            Self::CardUse => "card_use",
            Self::CardMemory => "card_memory",
            Self::CardPower => "card_power",
        }
    }

    /// The name of its unit.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Cpu | Self::Throttled => "cores",
            Self::Memory | Self::CardMemory => "bytes",
            Self::DiskRead | Self::DiskWritten | Self::NetworkReceived | Self::NetworkSent => {
                "bytes_per_second"
            }
            Self::CpuWait | Self::IoWait | Self::CardUse => "percent",
            Self::CardPower => "watts",
        }
    }

    /// Its group.
    #[must_use]
    pub fn quantity(self) -> Quantity {
        match self {
            Self::Cpu => Quantity::Cpu,
            Self::Throttled => Quantity::Throttled,
            Self::CpuWait => Quantity::CpuWait,
            Self::Memory => Quantity::Memory,
            Self::DiskRead | Self::DiskWritten => Quantity::Disk,
            Self::NetworkReceived | Self::NetworkSent => Quantity::Network,
            Self::IoWait => Quantity::Waiting,
            Self::CardUse | Self::CardMemory | Self::CardPower => Quantity::Cards,
        }
    }
}

/// A timestamp, in seconds since the epoch, and a value.
pub type Point = [f64; 2];

/// Usage of a worker as series for charts. Unreported metrics have none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerLines {
    /// The worker: `<role>-<index>`, or as much as is known of its name.
    pub worker: String,
    /// The points of each metric, in order. A rate is placed at the end of its averaging interval.
    pub lines: BTreeMap<Measure, Vec<Point>>,
    /// Total memory of its GPUs, in bytes. Omitted when unknown.
    pub card_memory: Option<f64>,
}

/// Reads usage of workers over time: an optional capability of executors.
pub trait UsageSeries: Send + Sync {
    /// Usage of each worker of an attempt so far, by role and index. Empty if no worker has begun, or if it
    /// is no longer retained.
    fn series<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<WorkerUsage>>>;

    /// Metrics that this cluster never reports.
    fn never_told(&self) -> &'static [Quantity];
}

/// A program that is throttled in this many of a thousand CFS periods, or more, could use more CPU. The same
/// holds for this share of time spent waiting for a CPU.
pub const THROTTLED: u32 = 250;

/// The maximum of two workers' throttled periods, per thousand. If one of them is unknown, the maximum is
/// only known if it reaches [`THROTTLED`]. A lower value says nothing about the other worker, which may
/// have been throttled all along.
#[must_use]
pub fn held_back_most(one: Option<u32>, other: Option<u32>) -> Option<u32> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other).filter(|known| *known >= THROTTLED),
    }
}

/// Usage of a worker, or of all workers of an attempt together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageSummary {
    pub cpu_us: u64,
    /// Peak of anonymous plus shared memory; of an attempt, the largest worker's.
    pub peak_memory: Bytes,
    /// The kernel's own maximum, including page cache, if it keeps one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kernel_peak_memory: Option<Bytes>,
    /// Distribution of its memory over time, if sampled; of an attempt, the largest worker's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<MemorySpread>,
    /// The CPU that it did not exceed in 95 % of its seconds, if sampled; of an attempt, the busiest
    /// worker's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_high: Option<Cpu>,
    /// Throttled CFS periods per thousand, if the kernel reports them; of an attempt, the most throttled
    /// worker's ([`held_back_most`]).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub throttled: Option<u32>,
    /// Share of time in which at least one of its threads waited for a CPU, per thousand. `None` if the
    /// kernel does not report it. Of an attempt, that of the worker that waited most ([`held_back_most`]).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_waited: Option<u32>,
    /// Busy time of its GPUs, in microseconds of one GPU, if measured; of an attempt, the sum.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub card_us: Option<u64>,
}

/// Distribution of a worker's memory over time, in addition to its peak: whether the peak was constant or
/// momentary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemorySpread {
    /// The value not exceeded in 50 % of its seconds.
    pub middle: Bytes,
    /// The value not exceeded in 95 % of its seconds.
    pub high: Bytes,
}

impl MemorySpread {
    /// The larger value of each field.
    #[must_use]
    pub fn largest(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (Some(a), Some(b)) = (one, other) else { return one.or(other) };
        Some(Self { middle: a.middle.max(b.middle), high: a.high.max(b.high) })
    }
}

/// Busy time of a job's GPUs, as measured by another system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CardTime {
    /// In microseconds of one GPU, summed over all of them.
    pub worked_us: u64,
    /// How much of its workers' time is covered by measurements, in microseconds of one worker.
    pub told_us: u64,
}

impl CardTime {
    /// Maximum time before the first measurement of a worker, in microseconds.
    const FIRST: u64 = 60_000_000;

    /// Busy time, if the measurements cover the total run time of this many workers with GPUs, in
    /// microseconds. A tenth, and the minute before each worker's first measurement, may be missing.
    /// Otherwise `None`: the usage in the rest is unknown.
    #[must_use]
    pub fn of_whole(self, ran_us: u64, workers: u64) -> Option<u64> {
        let may_lack = (ran_us / 10).max(workers.saturating_mul(Self::FIRST));
        (self.told_us.saturating_add(may_lack) >= ran_us).then_some(self.worked_us)
    }
}

/// Usage of one container of a job's pod, as measured by another system, at least fifteen seconds apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodUse {
    pub pod: String,
    /// The container: the program's, or a sidecar.
    pub container: String,
    /// CPU usage, in cores.
    pub cores: Vec<f64>,
    /// Memory, in bytes.
    pub memory: Vec<f64>,
    /// Share of throttled CFS periods, from 0 to 1, if reported.
    pub throttled: Option<f64>,
}

/// Usage of the largest worker of a role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleUsage {
    pub role: String,
    /// Peak of anonymous plus shared memory.
    pub peak_memory: Bytes,
    /// Distribution of its memory over time, if reported.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<MemorySpread>,
    /// Average CPU over its run time.
    pub cpu: Cpu,
    /// The CPU that it did not exceed in 95 % of its seconds.
    pub cpu_high: Cpu,
    /// Throttled CFS periods per thousand, if reported. Servers that did not distinguish the two have stored
    /// 0 for unreported.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub throttled: Option<u32>,
    /// Share of time spent waiting for a CPU, per thousand, if reported.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_waited: Option<u32>,
}

impl RoleUsage {
    /// Usage of one worker with this run time, in microseconds.
    #[must_use]
    pub fn of_worker(role: &str, usage: &UsageSummary, micros: u64) -> Self {
        let mean = Cpu(usage.cpu_us.saturating_mul(1000) / micros.max(1));
        Self {
            role: role.to_owned(),
            peak_memory: usage.peak_memory,
            memory: usage.memory,
            cpu: mean,
            cpu_high: usage.cpu_high.unwrap_or_default().max(mean),
            throttled: usage.throttled,
            cpu_waited: usage.cpu_waited,
        }
    }

    /// The larger value of each field.
    #[must_use]
    pub fn largest(self, other: &Self) -> Self {
        Self {
            role: self.role,
            peak_memory: self.peak_memory.max(other.peak_memory),
            memory: MemorySpread::largest(self.memory, other.memory),
            cpu: self.cpu.max(other.cpu),
            cpu_high: self.cpu_high.max(other.cpu_high),
            throttled: held_back_most(self.throttled, other.throttled),
            cpu_waited: held_back_most(self.cpu_waited, other.cpu_waited),
        }
    }

    /// Combines workers of all roles, with each role once.
    #[must_use]
    pub fn by_role(workers: impl Iterator<Item = Self>) -> Vec<Self> {
        let mut roles: Vec<Self> = Vec::new();
        for worker in workers {
            match roles.iter_mut().find(|known| known.role == worker.role) {
                Some(known) => *known = worker.largest(known),
                None => roles.push(worker),
            }
        }
        roles
    }
}

impl UsageSummary {
    /// Combines two workers' usage into an attempt's.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self {
            cpu_us: self.cpu_us.saturating_add(other.cpu_us),
            peak_memory: self.peak_memory.max(other.peak_memory),
            kernel_peak_memory: self.kernel_peak_memory.max(other.kernel_peak_memory),
            memory: MemorySpread::largest(self.memory, other.memory),
            cpu_high: self.cpu_high.max(other.cpu_high),
            throttled: held_back_most(self.throttled, other.throttled),
            cpu_waited: held_back_most(self.cpu_waited, other.cpu_waited),
            card_us: match (self.card_us, other.card_us) {
                (Some(one), Some(two)) => Some(one.saturating_add(two)),
                (one, two) => one.or(two),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_have_been_held_back_is_not_lost_among_those_who_were_not() {
        let just_below = Some(THROTTLED - 1);
        for (workers, expected) in [
            (&[Some(0), Some(10), Some(3)][..], Some(10)),
            (&[Some(0), None], None),
            (&[just_below, None], None),
            (&[Some(THROTTLED), None], Some(THROTTLED)),
            (&[Some(0), None, Some(600)], Some(600)),
            (&[None, None], None),
        ] {
            let role = |throttled: &Option<u32>| RoleUsage { throttled: *throttled, ..RoleUsage::default() };
            let sum =
                |throttled: &Option<u32>| UsageSummary { throttled: *throttled, ..UsageSummary::default() };
            let roles = RoleUsage::by_role(workers.iter().map(role));
            assert_eq!((roles.len(), roles[0].throttled), (1, expected), "{workers:?}");
            let turned = RoleUsage::by_role(workers.iter().rev().map(role));
            assert_eq!(turned, roles, "whoever comes first: {workers:?}");
            let joined = workers.iter().map(sum).reduce(UsageSummary::join).unwrap();
            assert_eq!(joined.throttled, expected, "{workers:?}");
        }
    }
}
