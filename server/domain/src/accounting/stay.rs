//! From when to when an attempt held what, cut into days.
//!
//! Everything is rounded once: down, as counted from the attempt's beginning. The part between two moments is the
//! difference of both, so that the parts of any split add up to the whole exactly.

use super::{Account, Cost, Day, Figures, Money, Period, Rates};
use crate::clock::Timestamp;
use crate::outcome::{FailureKind, Outcome};
use crate::record::AttemptRecord;
use crate::state::AttemptState;

/// The most days that an attempt runs: what is said to have begun earlier comes from a clock that is wrong, and is not
/// counted.
const LONGEST: i64 = 1000;

/// The most of anything that an attempt is counted with: a million of cores or cards, a PiB.
const MOST: u64 = 1 << 30;

const MICROS: i128 = 1_000_000;
const MIB: u64 = 1 << 20;

/// What an attempt held, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stay {
    from: Timestamp,
    until: Timestamp,
    /// Thousandths of a core.
    cpu: u64,
    /// MiB.
    memory: u64,
    /// Thousandths of a card.
    gpu: u64,
    /// CPU time that was used in all of it, in microseconds.
    used_cpu: u64,
    /// MiB at the peak.
    used_memory: u64,
    /// Whether it has ended, and how.
    ended: Option<Ended>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Well,
    Failed,
}

impl Stay {
    /// Of an attempt; one that has not ended holds what it holds until `now`.
    #[must_use]
    pub fn of(attempt: &AttemptRecord, now: Timestamp) -> Self {
        let (until, ended) = match &attempt.state {
            AttemptState::Ended { ended_at, outcome, .. } => (*ended_at, Some(ended(outcome))),
            _ => (now, None),
        };
        // What has not begun holds nothing; a clock that went backwards gives nothing back.
        let from = attempt.state.started_at().unwrap_or(until).min(until);
        let from = if from < Day::of(until).plus(-LONGEST).start() { until } else { from };
        let memory = (attempt.amount.memory.0 / MIB).min(MOST);
        let peak = (attempt.usage.peak_memory.0 / MIB).saturating_mul(u64::from(attempt.workers));
        Self {
            from,
            until,
            cpu: attempt.amount.cpu.0.min(MOST),
            memory,
            gpu: parts(attempt.amount.gpus, &attempt.account).min(MOST),
            used_cpu: attempt.usage.cpu_us,
            // The peak is the largest worker's: of workers that differ, all together had less.
            used_memory: peak.min(memory),
            ended,
        }
    }

    /// Of an attempt that has ended.
    #[must_use]
    pub fn ended(attempt: &AttemptRecord) -> Self {
        Self::of(attempt, attempt.created_at)
    }

    /// What it held between two moments, at one price.
    #[must_use]
    pub fn between(&self, from: Timestamp, until: Timestamp, rates: &Rates) -> Figures {
        let (begin, end) = (self.since(from), self.since(until));
        let held = |amount: u64| part(amount, begin, end, MICROS);
        let whole = self.since(self.until).max(1);
        let cost = |amount: u64, unit: i128, rate: Money| {
            let paid = |at: i128| i128::from(amount) * i128::from(rate.0) * at / (unit * 3600 * MICROS);
            Money(i64::try_from(paid(end) - paid(begin)).unwrap_or(i64::MAX))
        };
        let counts = self.ended.is_some() && from <= self.until && self.until < until;
        Figures {
            cpu: held(self.cpu),
            memory: held(self.memory),
            gpu: held(self.gpu),
            // A microsecond of CPU time is a thousandth of a thousandth of a core's second.
            used_cpu: part(self.used_cpu, begin, end, whole * 1000),
            used_memory: held(self.used_memory),
            attempts: i64::from(counts),
            failed: i64::from(counts && self.ended == Some(Ended::Failed)),
            cost: Cost {
                cpu: cost(self.cpu, 1000, rates.cpu),
                memory: cost(self.memory, 1024, rates.memory),
                gpu: cost(self.gpu, 1000, rates.gpu),
            },
        }
    }

    /// What it held on each of its days within a period, at each day's price. The day on which it ended is always among
    /// them: it counts there.
    #[must_use]
    pub fn by_day(&self, period: Period, rates: impl Fn(Day) -> Rates) -> Vec<(Day, Figures)> {
        let first = Day::of(self.from).max(period.first);
        let last = Day::of(self.until).min(period.last);
        let of_day = |day: Day| (day, self.between(day.start(), day.next().start(), &rates(day)));
        Period { first, last }.each().map(of_day).collect()
    }

    /// All of its days.
    #[must_use]
    pub fn days(&self) -> Period {
        Period { first: Day::of(self.from), last: Day::of(self.until) }
    }

    /// How long it had held what it held at a moment, in microseconds.
    fn since(&self, at: Timestamp) -> i128 {
        i128::from(at.clamp(self.from, self.until).0) - i128::from(self.from.0)
    }
}

fn ended(outcome: &Outcome) -> Ended {
    match outcome {
        Outcome::Failed(failure) if failure.kind != FailureKind::Preempted => Ended::Failed,
        _ => Ended::Well,
    }
}

fn parts(cards: u32, account: &Account) -> u64 {
    (u64::from(cards) * 1000).saturating_add(account.card_parts)
}

/// `amount` times the time from `begin` to `end`, in units of `unit`.
fn part(amount: u64, begin: i128, end: i128, unit: i128) -> i64 {
    let until = |at: i128| i128::from(amount) * at / unit;
    i64::try_from(until(end) - until(begin)).unwrap_or(i64::MAX)
}
