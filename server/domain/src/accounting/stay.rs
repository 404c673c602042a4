//! When an attempt used what, split into days.
//!
//! Everything is rounded once: down, as counted from the attempt's beginning. The part between two moments is
//! the difference of both, so that the parts of any split add up to the total exactly.

use super::{Cost, Day, Figures, Money, Period, Rates};
use crate::clock::Timestamp;
use crate::outcome::{FailureKind, Outcome};
use crate::record::{AttemptRecord, Stretch};
use crate::state::AttemptState;

/// Maximum run time in days. An earlier start comes from a wrong clock and is not counted.
const LONGEST: i64 = 1000;

/// Maximum amount that an attempt counts with: a million CPUs or GPUs, a PiB.
const MOST: u64 = 1 << 30;

const MICROS: i128 = 1_000_000;
const MIB: u64 = 1 << 20;

/// What an attempt used, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stay {
    from: Timestamp,
    /// Consecutive parts, up to the end of the last: the allocation of an elastic job changes over time.
    parts: Vec<Part>,
    /// Total CPU time, in microseconds.
    used_cpu: u64,
    /// Total busy time of its GPUs, if measured.
    used_card: Option<u64>,
    /// How it ended. `None` while it runs.
    ended: Option<Ended>,
}

/// What was allocated for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    until: Timestamp,
    /// In millicores.
    cpu: u64,
    /// In MiB.
    memory: u64,
    /// In thousandths of a GPU.
    gpu: u64,
    /// Peak, in MiB.
    used_memory: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Well,
    Failed,
}

impl Stay {
    /// The usage of an attempt. One that has not ended counts until `now`.
    #[must_use]
    pub fn of(attempt: &AttemptRecord, now: Timestamp) -> Self {
        let (until, ended) = match &attempt.state {
            AttemptState::Ended { ended_at, outcome, .. } => (*ended_at, Some(ended(outcome))),
            _ => (now, None),
        };
        // An attempt that has not begun uses nothing, and a clock that went backwards must not give usage
        // back.
        let from = attempt.state.started_at().unwrap_or(until).min(until);
        let from = if from < Day::of(until).plus(-LONGEST).start() { until } else { from };
        let now = Stretch {
            until,
            amount: attempt.amount,
            card_parts: attempt.account.card_parts,
            workers: attempt.workers,
        };
        // The peak is that of the largest worker.
        let peak = attempt.usage.peak_memory.0 / MIB;
        let parts = attempt.earlier.iter().chain([&now]).map(|stretch| part_of(stretch, peak, until));
        Self {
            from,
            parts: parts.collect(),
            used_cpu: attempt.usage.cpu_us,
            used_card: attempt.usage.card_us,
            ended,
        }
    }

    /// The usage of an attempt that has ended.
    #[must_use]
    pub fn ended(attempt: &AttemptRecord) -> Self {
        Self::of(attempt, attempt.created_at)
    }

    /// Usage between two moments, at one price.
    #[must_use]
    pub fn between(&self, from: Timestamp, until: Timestamp, rates: &Rates) -> Figures {
        let held = |amount: fn(&Part) -> u64, unit: i128| {
            bounded(self.held(amount, until) / unit - self.held(amount, from) / unit)
        };
        let cost = |amount: fn(&Part) -> u64, unit: i128, rate: Money| {
            let paid = |at: Timestamp| self.held(amount, at) * i128::from(rate.0) / (unit * 3600 * MICROS);
            Money(bounded(paid(until) - paid(from)))
        };
        let end = self.until();
        let counts = self.ended.is_some() && from <= end && end < until;
        let whole = self.since(end).max(1);
        // A microsecond of CPU time is 10^-6 CPU-seconds.
        let used = |at: Timestamp| i128::from(self.used_cpu) * self.since(at) / (whole * 1000);
        let gpu = held(|part| part.gpu, MICROS);
        // A GPU cannot be busy for longer than it is allocated.
        let most = self.held(|part| part.gpu, end) / 1000;
        let worked = i128::from(self.used_card.unwrap_or_default()).min(most);
        let used_card = |at: Timestamp| worked * self.since(at) / (whole * 1000);
        Figures {
            cpu: held(|part| part.cpu, MICROS),
            memory: held(|part| part.memory, MICROS),
            gpu,
            used_cpu: bounded(used(until) - used(from)),
            used_memory: held(|part| part.used_memory, MICROS),
            used_gpu: bounded(used_card(until) - used_card(from)),
            measured_gpu: self.used_card.map_or(0, |_| gpu),
            attempts: i64::from(counts),
            failed: i64::from(counts && self.ended == Some(Ended::Failed)),
            cost: Cost {
                cpu: cost(|part| part.cpu, 1000, rates.cpu),
                memory: cost(|part| part.memory, 1024, rates.memory),
                gpu: cost(|part| part.gpu, 1000, rates.gpu),
            },
        }
    }

    /// Usage on each of its days within a period, at each day's price. The day on which it ended is always
    /// included: it counts there.
    #[must_use]
    pub fn by_day(&self, period: Period, rates: impl Fn(Day) -> Rates) -> Vec<(Day, Figures)> {
        let first = Day::of(self.from).max(period.first);
        let last = Day::of(self.until()).min(period.last);
        let of_day = |day: Day| (day, self.between(day.start(), day.next().start(), &rates(day)));
        Period { first, last }.each().map(of_day).collect()
    }

    #[must_use]
    pub fn days(&self) -> Period {
        Period { first: Day::of(self.from), last: Day::of(self.until()) }
    }

    fn until(&self) -> Timestamp {
        self.parts.last().map_or(self.from, |part| part.until)
    }

    /// Run time until a moment, in microseconds.
    fn since(&self, at: Timestamp) -> i128 {
        i128::from(at.clamp(self.from, self.until()).0) - i128::from(self.from.0)
    }

    /// Allocation until a moment, since its start: an amount times microseconds.
    fn held(&self, amount: impl Fn(&Part) -> u64, at: Timestamp) -> i128 {
        let mut begin = self.from;
        self.parts.iter().fold(0, |sum, part| {
            let end = at.min(part.until).max(begin);
            let length = i128::from(end.0) - i128::from(begin.0);
            begin = end;
            sum + i128::from(amount(part)) * length
        })
    }
}

/// What was allocated in a stretch, for an attempt that ended at `last`.
fn part_of(stretch: &Stretch, peak: u64, last: Timestamp) -> Part {
    let memory = (stretch.amount.memory.0 / MIB).min(MOST);
    Part {
        until: stretch.until.min(last),
        cpu: stretch.amount.cpu.0.min(MOST),
        memory,
        gpu: (u64::from(stretch.amount.gpus) * 1000).saturating_add(stretch.card_parts).min(MOST),
        // With different workers, the total was less.
        used_memory: peak.saturating_mul(u64::from(stretch.workers)).min(memory),
    }
}

fn ended(outcome: &Outcome) -> Ended {
    match outcome {
        Outcome::Failed(failure) if failure.kind != FailureKind::Preempted => Ended::Failed,
        _ => Ended::Well,
    }
}

fn bounded(sum: i128) -> i64 {
    i64::try_from(sum).unwrap_or(i64::MAX)
}
