//! GPUs of a cluster over time, as they are stored. All values are sums over minutes, so that a longer row is
//! exactly the sum of shorter ones.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;

const MICROS: i64 = 60_000_000;

/// Maximum number of tasks per row. Beyond it, those with the fewest GPUs are summed up by project and user.
pub const MAX_TASKS: usize = 500;

/// The minute of a moment, as the number of minutes since 1970-01-01.
#[must_use]
pub fn minute_of(at: Timestamp) -> i64 {
    at.0.div_euclid(MICROS)
}

/// The first moment of a minute.
#[must_use]
pub fn moment_of(minute: i64) -> Timestamp {
    Timestamp(minute.saturating_mul(MICROS))
}

/// The length of a stored row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GpuTier {
    Minute,
    /// 15 minutes.
    Quarter,
    TwoHours,
}

impl GpuTier {
    /// From the shortest to the longest. Each is a multiple of the one before.
    pub const ALL: [Self; 3] = [Self::Minute, Self::Quarter, Self::TwoHours];

    /// Length in minutes.
    #[must_use]
    pub fn minutes(self) -> i64 {
        match self {
            Self::Minute => 1,
            Self::Quarter => 15,
            Self::TwoHours => 120,
        }
    }

    /// For how many minutes its rows are stored: 26 hours, 8 days, 100 days.
    #[must_use]
    pub fn retention(self) -> i64 {
        match self {
            Self::Minute => 26 * 60,
            Self::Quarter => 8 * 24 * 60,
            Self::TwoHours => 100 * 24 * 60,
        }
    }

    /// The tier whose rows are summed up to rows of this one. `None` for samples.
    #[must_use]
    pub fn source(self) -> Option<Self> {
        match self {
            Self::Minute => None,
            Self::Quarter => Some(Self::Minute),
            Self::TwoHours => Some(Self::Quarter),
        }
    }

    /// Start of the row that contains a minute.
    #[must_use]
    pub fn start(self, minute: i64) -> i64 {
        minute.div_euclid(self.minutes()) * self.minutes()
    }
}

/// GPUs over some minutes, in thousandths of a GPU times minutes. Stored as a list of four numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[i64; 4]", into = "[i64; 4]")]
pub struct GpuUse {
    /// Capacity. Zero for tasks.
    pub total: i64,
    pub allocated: i64,
    /// The part whose utilization is known; for tasks, of the allocated GPUs.
    pub measured: i64,
    /// The used part of the measured GPUs.
    pub used: i64,
}

impl GpuUse {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            total: self.total.saturating_add(other.total),
            allocated: self.allocated.saturating_add(other.allocated),
            measured: self.measured.saturating_add(other.measured),
            used: self.used.saturating_add(other.used),
        }
    }

    /// The part that is known to be idle.
    #[must_use]
    pub fn idle(self) -> i64 {
        self.measured.saturating_sub(self.used).max(0)
    }
}

impl From<[i64; 4]> for GpuUse {
    fn from([total, allocated, measured, used]: [i64; 4]) -> Self {
        Self { total, allocated, measured, used }
    }
}

impl From<GpuUse> for [i64; 4] {
    fn from(of: GpuUse) -> Self {
        [of.total, of.allocated, of.measured, of.used]
    }
}

/// What GPUs are allocated to. Stored as a list of five texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "[String; 5]", into = "[String; 5]")]
pub struct GpuAllocation {
    pub project: String,
    /// The user that it runs as.
    pub user: String,
    /// Empty for the sum of tasks beyond [`MAX_TASKS`], as is the task.
    pub pipeline: String,
    pub task: String,
    /// Empty for nodes without a group.
    pub node_group: String,
}

impl From<[String; 5]> for GpuAllocation {
    fn from([project, user, pipeline, task, node_group]: [String; 5]) -> Self {
        Self { project, user, pipeline, task, node_group }
    }
}

impl From<GpuAllocation> for [String; 5] {
    fn from(of: GpuAllocation) -> Self {
        [of.project, of.user, of.pipeline, of.task, of.node_group]
    }
}

/// A cluster's GPUs, power and queue over some minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GpuTotals {
    /// Number of samples: at most one a minute.
    pub minutes: i64,
    pub gpus: GpuUse,
    /// Power of the GPUs that report it, in watts times minutes.
    pub power: i64,
    /// The GPUs that report their power, in thousandths of a GPU times minutes.
    pub powered: i64,
    /// Number of samples with a known queue.
    pub queue_minutes: i64,
    /// Pending jobs that request GPUs, times minutes.
    pub pending: i64,
    /// The GPUs that they request, times minutes.
    pub requested: i64,
    /// The longest that one of them has been pending, in seconds.
    pub oldest_wait: i64,
}

impl GpuTotals {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            minutes: self.minutes.saturating_add(other.minutes),
            gpus: self.gpus.plus(other.gpus),
            power: self.power.saturating_add(other.power),
            powered: self.powered.saturating_add(other.powered),
            queue_minutes: self.queue_minutes.saturating_add(other.queue_minutes),
            pending: self.pending.saturating_add(other.pending),
            requested: self.requested.saturating_add(other.requested),
            oldest_wait: self.oldest_wait.max(other.oldest_wait),
        }
    }
}

/// A cluster's GPUs over a stretch of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GpuRow {
    /// The first minute, see [`minute_of`].
    pub minute: i64,
    pub totals: GpuTotals,
    pub allocations: BTreeMap<GpuAllocation, GpuUse>,
    /// By product name. It is empty if unknown.
    pub models: BTreeMap<String, GpuUse>,
    /// By name.
    pub nodes: BTreeMap<String, GpuUse>,
}

impl GpuRow {
    /// Adds another row, of another time.
    pub fn add(&mut self, other: Self) {
        self.totals = self.totals.plus(other.totals);
        merge(&mut self.allocations, other.allocations);
        merge(&mut self.models, other.models);
        merge(&mut self.nodes, other.nodes);
    }

    /// The row with at most [`MAX_TASKS`] tasks.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let excess = self.allocations.len().saturating_sub(MAX_TASKS);
        if excess == 0 {
            return self;
        }
        let mut fewest: Vec<(i64, GpuAllocation)> =
            self.allocations.iter().map(|(of, amount)| (amount.allocated, of.clone())).collect();
        fewest.sort();
        for (_, of) in fewest.into_iter().take(excess) {
            if let Some(amount) = self.allocations.remove(&of) {
                let rest = GpuAllocation { pipeline: String::new(), task: String::new(), ..of };
                merge(&mut self.allocations, BTreeMap::from([(rest, amount)]));
            }
        }
        self
    }
}

fn merge<K: Ord>(into: &mut BTreeMap<K, GpuUse>, from: BTreeMap<K, GpuUse>) {
    for (key, amount) in from {
        let sum = into.entry(key).or_default();
        *sum = sum.plus(amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(project: &str, task: usize) -> GpuAllocation {
        let task = format!("task-{task}");
        GpuAllocation {
            project: project.into(),
            user: "ada".into(),
            pipeline: "p".into(),
            task,
            ..Default::default()
        }
    }

    #[test]
    fn tiers_are_multiples_and_are_kept_until_the_next_one_has_them() {
        for tier in GpuTier::ALL {
            let Some(source) = tier.source() else { continue };
            assert_eq!(tier.minutes() % source.minutes(), 0);
            assert!(source.retention() > 2 * tier.minutes() && tier.retention() > source.retention());
        }
        assert_eq!((GpuTier::Quarter.start(29), GpuTier::Quarter.start(-1)), (15, -15));
        // No row lies in two days, because prices are by day.
        assert!(GpuTier::ALL.iter().all(|tier| 24 * 60 % tier.minutes() == 0));
    }

    #[test]
    fn a_row_is_the_sum_of_its_parts_and_the_longest_wait() {
        let part = |used: i64, wait: i64| GpuRow {
            totals: GpuTotals {
                minutes: 1,
                gpus: GpuUse { total: 8000, allocated: 4000, measured: 4000, used },
                oldest_wait: wait,
                ..GpuTotals::default()
            },
            nodes: BTreeMap::from([("n1".into(), GpuUse { total: 8000, used, ..GpuUse::default() })]),
            ..GpuRow::default()
        };
        let mut row = part(1000, 60);
        row.add(part(3000, 30));
        assert_eq!((row.totals.minutes, row.totals.oldest_wait, row.nodes["n1"].total), (2, 60, 16_000));
        assert_eq!((row.totals.gpus.used, row.totals.gpus.idle()), (4000, 4000));
    }

    #[test]
    fn a_row_has_so_many_tasks_and_the_rest_by_project() {
        let amount = |allocated| GpuUse { allocated, ..GpuUse::default() };
        let many = (0..MAX_TASKS + 40).map(|n| (of(if n % 2 == 0 { "a" } else { "b" }, n), amount(n as i64)));
        let row = GpuRow { allocations: many.collect(), ..GpuRow::default() };
        let sum = |row: &GpuRow| row.allocations.values().map(|amount| amount.allocated).sum::<i64>();
        let bounded = row.clone().bounded();
        assert_eq!((bounded.allocations.len(), sum(&bounded)), (MAX_TASKS + 2, sum(&row)));
        let rest =
            |project: &str| GpuAllocation { pipeline: String::new(), task: String::new(), ..of(project, 0) };
        assert_eq!(bounded.allocations[&rest("a")], amount((0..40).filter(|n| n % 2 == 0).sum()));
        assert!(bounded.allocations.contains_key(&of("b", 41)));
    }
}
