//! What a worker used: a thinned series while it runs, a summary when it has ended.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::executor::BoxFuture;
use crate::ids::AttemptKey;
use crate::outcome::WorkerName;
use crate::quantity::{Bytes, Cpu};

/// One sample of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageSample {
    /// When it was taken.
    pub at: Timestamp,
    /// CPU time used so far, in microseconds.
    pub cpu_us: u64,
    /// Anonymous plus shared memory; page cache excluded.
    pub memory: Bytes,
    /// For how long its threads were held back at its limit of CPU so far, in microseconds; where it has one and the kernel tells.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub throttled_us: Option<u64>,
    /// For how long one of its threads or more waited for a CPU so far, in microseconds; where the kernel tells.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_wait_us: Option<u64>,
    /// Read from disks so far; where the kernel tells.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub disk_read: Option<Bytes>,
    /// Written to disks so far; where the kernel tells.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub disk_written: Option<Bytes>,
    /// For how long one of its processes or more waited for storage so far, in microseconds; where the kernel does not tell, for
    /// how long anything on its machine did since it began.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub io_wait_us: Option<u64>,
    /// What its cards do; where it holds some.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cards: Option<CardsSample>,
}

/// What the cards of a worker do, all of them together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardsSample {
    /// Count.
    pub cards: u32,
    /// For how much of the time they worked, in percent, their mean.
    pub use_percent: u32,
    /// Their memory in use.
    pub memory: Bytes,
    /// What they draw, in thousandths of a watt; 0 where they do not tell.
    pub power_mw: u64,
}

/// What a worker used, over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerUsage {
    /// Worker.
    pub worker: WorkerName,
    /// In the order in which they were taken.
    pub samples: Vec<UsageSample>,
}

/// What can be told of a worker over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Processor time.
    Cpu,
    /// How long it was held back at its limit of CPU.
    Throttled,
    /// How long it waited for a CPU.
    CpuWait,
    /// Memory.
    Memory,
    /// What it read from disks and wrote to them.
    Disk,
    /// What it received and sent.
    Network,
    /// How long it waited for storage.
    Waiting,
    /// What its cards do.
    Cards,
}

impl Quantity {
    /// The word for it.
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

/// One thing that can be drawn of a worker over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// Cores at work.
    Cpu,
    /// Cores that its limit held back.
    Throttled,
    /// For how much of the time something of it waited for a CPU, in percent.
    CpuWait,
    /// Memory, in bytes.
    Memory,
    /// Bytes a second.
    DiskRead,
    /// Bytes a second.
    DiskWritten,
    /// Bytes a second.
    NetworkReceived,
    /// Bytes a second.
    NetworkSent,
    /// For how much of the time something of it, or else of its node, waited for storage, in percent.
    IoWait,
    /// For how much of the time its cards worked, in percent, their mean.
    CardUse,
    /// The memory in use of its cards together, in bytes.
    CardMemory,
    /// What its cards draw together, in watts.
    CardPower,
}

impl Measure {
    /// All of them, in the order in which they are shown.
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

    /// The word for it.
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

    /// The word for its unit.
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

    /// What it tells of.
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

/// A moment, in seconds since the epoch, and a value then.
pub type Point = [f64; 2];

/// What a worker used, as lines that can be drawn: what nobody tells has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerLines {
    /// The worker: `<role>-<index>`, or what is known of its name.
    pub worker: String,
    /// The points of each measure, in their order. A rate stands at the end of what it is the mean of.
    pub lines: BTreeMap<Measure, Vec<Point>>,
    /// Total memory of its GPUs, in bytes. Omitted when unknown.
    pub card_memory: Option<f64>,
}

/// Reads what workers use over time: an optional capability of executors.
pub trait UsageSeries: Send + Sync {
    /// What each worker of an attempt used so far, by role and index; none when no worker has begun, or when it is not kept
    /// any more.
    ///
    /// # Errors
    /// It cannot be read.
    fn series<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<WorkerUsage>>>;

    /// What this cluster never tells of a worker.
    fn never_told(&self) -> &'static [Quantity];
}

/// A program that is held back in this many of a thousand of the scheduler's periods, or in more, could use more; so could one that
/// waits for a CPU for as much of its time.
pub const THROTTLED: u32 = 250;

/// In how many of a thousand periods the worker was held back that was held back most, of two or of many. Where nobody tells it of
/// one of them, it is known of them all only if it comes to [`THROTTLED`]: what is below says nothing of the other, which may have
/// run at its limit all along.
#[must_use]
pub fn held_back_most(one: Option<u32>, other: Option<u32>) -> Option<u32> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other).filter(|known| *known >= THROTTLED),
    }
}

/// What a worker, or all workers of an attempt together, used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageSummary {
    /// CPU time, in microseconds; of an attempt, the sum.
    pub cpu_us: u64,
    /// Peak of anonymous plus shared memory; of an attempt, the largest worker's.
    pub peak_memory: Bytes,
    /// The kernel's own maximum, page cache included, where it keeps one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kernel_peak_memory: Option<Bytes>,
    /// How its memory was spread over its time, where samples were taken; of an attempt, the largest worker's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<MemorySpread>,
    /// The processing power that it did not go beyond in 19 of 20 seconds, where samples were taken; of an attempt, the busiest
    /// worker's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_high: Option<Cpu>,
    /// In how many of a thousand of the scheduler's periods it was held back by its limit, where the kernel tells; of an
    /// attempt, the worker's that was held back most ([`held_back_most`]).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub throttled: Option<u32>,
    /// In how many of a thousand microseconds of its time one of its threads or more waited for a CPU, where the kernel tells; of an
    /// attempt, the worker's that waited most ([`held_back_most`]).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_waited: Option<u32>,
    /// For how long its cards worked, in microseconds of one card, where somebody measured it; of an attempt, the sum.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub card_us: Option<u64>,
}

/// How the memory of a worker was spread over its time, beside its peak: whether that was held all along or for a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemorySpread {
    /// What it did not go beyond in half of its seconds.
    pub middle: Bytes,
    /// What it did not go beyond in 19 of 20 seconds.
    pub high: Bytes,
}

impl MemorySpread {
    /// The larger of both, in each.
    #[must_use]
    pub fn largest(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (Some(a), Some(b)) = (one, other) else { return one.or(other) };
        Some(Self { middle: a.middle.max(b.middle), high: a.high.max(b.high) })
    }
}

/// For how long the cards of a job worked, as somebody else measured it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CardTime {
    /// In microseconds of one card, all of them together.
    pub worked_us: u64,
    /// For how much of its workers' time anything was told, in microseconds of one worker.
    pub told_us: u64,
}

impl CardTime {
    /// A worker may be there for so long before the first is told of it, in microseconds.
    const FIRST: u64 = 60_000_000;

    /// For how long they worked, where that was told of the whole time that so many workers with cards ran for together, in
    /// microseconds: but for a tenth, and the minute before the first was told of each. Else `None`: nobody knows what they did
    /// in the rest.
    #[must_use]
    pub fn of_whole(self, ran_us: u64, workers: u64) -> Option<u64> {
        let may_lack = (ran_us / 10).max(workers.saturating_mul(Self::FIRST));
        (self.told_us.saturating_add(may_lack) >= ran_us).then_some(self.worked_us)
    }
}

/// What one container of a pod of a job used, as somebody else measured it, at moments that are at least fifteen seconds apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodUse {
    /// The pod's name.
    pub pod: String,
    /// The container's: the program's, or one beside it.
    pub container: String,
    /// The cores at work.
    pub cores: Vec<f64>,
    /// The memory, in bytes.
    pub memory: Vec<f64>,
    /// In which part of the scheduler's periods it was held back by its limit, from 0 to 1, where that is told.
    pub throttled: Option<f64>,
}

/// What the largest worker of a role used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleUsage {
    /// Role.
    pub role: String,
    /// The peak of anonymous plus shared memory.
    pub peak_memory: Bytes,
    /// How its memory was spread over its time, where that is told.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<MemorySpread>,
    /// The processing power, on average over its run time.
    pub cpu: Cpu,
    /// The processing power that it did not go beyond in 19 of 20 seconds.
    pub cpu_high: Cpu,
    /// In how many of a thousand of the scheduler's periods it was held back by its limit, where that is told. Servers that did not
    /// tell the two apart have written 0 where it was not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub throttled: Option<u32>,
    /// In how many of a thousand microseconds of its time it waited for a CPU, where that is told.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_waited: Option<u32>,
}

impl RoleUsage {
    /// Of one worker that ran for so many microseconds.
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

    /// The larger of both, in everything.
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

    /// Of the workers of all roles, each role once.
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
    /// Both together, as for an attempt.
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
