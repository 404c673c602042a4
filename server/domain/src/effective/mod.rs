//! Goodput: how the time from ready to end was spent, computed from the attempts' records without side
//! effects.
//!
//! The parts of an instance's time add up to the total. Useful time is the time of steps, as programs report
//! them. If an attempt reports none, its useful time is the busy time of its GPUs. With GPUs of unknown usage
//! it is unknown, and without GPUs it is the run time. Steps repeated after a failure do not count as useful
//! again.

mod cause;

use std::collections::BTreeMap;

use crate::clock::Timestamp;
use crate::executor::StopCause;
use crate::hang::Hang;
use crate::ids::{InstanceIx, TaskIx};
use crate::outcome::{FailureKind, Outcome};
use crate::pace::Pace;
use crate::state::AttemptState;

pub use cause::Cause;

/// The needed columns of an attempt, because a run may have thousands and their records are large.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// Index of the task in the plan.
    pub task: TaskIx,
    pub instance: InstanceIx,
    pub state: AttemptState,
    /// When it was stored.
    pub created_at: Timestamp,
    /// Step progress of its program.
    pub pace: Option<Pace>,
    /// A hang, past or present.
    pub hang: Option<Hang>,
    /// Its whole GPUs.
    pub gpus: u32,
    /// Busy time of its GPUs, in microseconds of one GPU. Set once it has ended, if reported.
    pub card_us: Option<u64>,
}

/// How time was spent, in microseconds. The parts add up to the time between ready and end, over all
/// instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effective {
    pub useful: u64,
    /// Pending, or waiting for a retry.
    pub waiting: u64,
    /// Images, environments, the start of all workers, and the program's own start up to its first step.
    pub starting: u64,
    pub saving: u64,
    /// Restoring a checkpoint.
    pub restoring: u64,
    /// Repeated steps, which an earlier attempt had already done.
    pub again: u64,
    /// Idle GPUs, in attempts without reported steps.
    pub idle: u64,
    /// Attempts with GPUs that reported no steps and whose GPU usage is unknown.
    pub unknown: u64,
    /// Lost by failures, after the last reported step.
    pub lost: BTreeMap<Cause, u64>,
    /// Number of attempts that ran.
    pub ran: u32,
    /// Number of those that reported steps.
    pub reported: u32,
}

impl Effective {
    /// The parts by name, in microseconds, in display order.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let lost = self.lost.iter().map(|(cause, micros)| (cause.as_str(), *micros));
        [
            ("useful", self.useful),
            ("unknown", self.unknown),
            ("idle", self.idle),
            ("again", self.again),
            ("saving", self.saving),
            ("restoring", self.restoring),
            ("starting", self.starting),
            ("waiting", self.waiting),
        ]
        .into_iter()
        .chain(lost)
    }

    /// Total, in microseconds.
    #[must_use]
    pub fn whole(&self) -> u64 {
        self.parts().map(|(_, micros)| micros).sum()
    }

    /// Useful share of the time with known usage. `None` if there was no such time, or nothing ran in it.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        let known = self.whole() - self.unknown;
        let says_nothing = known == 0 || self.unknown > 0 && self.useful + self.idle + self.again == 0;
        (!says_nothing).then(|| self.useful as f64 / known as f64)
    }

    #[must_use]
    pub fn plus(mut self, other: &Self) -> Self {
        self.useful += other.useful;
        self.waiting += other.waiting;
        self.starting += other.starting;
        self.saving += other.saving;
        self.restoring += other.restoring;
        self.again += other.again;
        self.idle += other.idle;
        self.unknown += other.unknown;
        for (cause, micros) in &other.lost {
            *self.lost.entry(*cause).or_default() += micros;
        }
        self.ran += other.ran;
        self.reported += other.reported;
        self
    }
}

/// Accumulates an instance's time, attempt by attempt, so that they need not be in memory together. Attempts
/// from before it was last ready do not count.
#[derive(Clone, Debug)]
pub struct Telling {
    ready_at: Timestamp,
    until: Timestamp,
    sum: Effective,
    /// Time is accounted up to here.
    told: Timestamp,
    /// The furthest step so far.
    reached: Option<f64>,
}

impl Telling {
    /// For an instance, from ready until its end or now.
    #[must_use]
    pub fn new(ready_at: Timestamp, until: Timestamp) -> Self {
        Self { ready_at, until, sum: Effective::default(), told: ready_at, reached: None }
    }

    /// Adds its next attempt, in order of number.
    pub fn add(&mut self, record: &Tried) {
        if record.created_at < self.ready_at {
            return;
        }
        let (told, until) = (self.told, self.until);
        let (created, end) =
            (record.created_at.clamp(told, until.max(told)), end_of(record, until).max(told));
        self.sum.waiting += micros(told, created);
        add_attempt(&mut self.sum, record, created, end.max(created), &mut self.reached);
        self.told = created.max(end);
    }

    /// The result.
    #[must_use]
    pub fn end(mut self) -> Effective {
        self.sum.waiting += micros(self.told, self.until);
        self.sum
    }
}

fn end_of(record: &Tried, until: Timestamp) -> Timestamp {
    match &record.state {
        AttemptState::Ended { ended_at, .. } => (*ended_at).min(until),
        _ => until,
    }
}

/// Adds an attempt's time, from `created` to `end`. `reached` is the furthest step of earlier attempts.
fn add_attempt(
    sum: &mut Effective,
    record: &Tried,
    created: Timestamp,
    end: Timestamp,
    reached: &mut Option<f64>,
) {
    let failure = failed_of(&record.state);
    let Some(started) = record.state.started_at() else {
        match failure {
            Some((cause, true)) => *sum.lost.entry(cause).or_default() += micros(created, end),
            _ => sum.starting += micros(created, end),
        }
        return;
    };
    sum.ran += 1;
    let started = started.clamp(created, end);
    sum.starting += micros(created, started);
    let Some(pace) = &record.pace else {
        match failure {
            Some((cause, _)) => *sum.lost.entry(cause).or_default() += micros(started, end),
            None => add_without_steps(sum, record, micros(started, end)),
        }
        return;
    };
    sum.reported += 1;
    let first = pace.first.at.clamp(started, end);
    let last = pace.last.at.clamp(first, end);
    // The first report also closes a step, assumed to be as long as those after it.
    let before = micros(started, first);
    let restoring = pace.restoring.min(before);
    let opening = mean_gap(pace, micros(first, last)).min(before - restoring);
    sum.restoring += restoring;
    sum.starting += before - restoring - opening;
    let stepping = opening + micros(first, last);
    let saving = pace.saving.min(stepping);
    let again = done_again(pace, *reached, stepping - saving);
    sum.saving += saving;
    sum.again += again;
    sum.useful += stepping - saving - again;
    // The time after the last report is work, too, if the attempt has neither failed nor hangs.
    match failure.map(|(cause, _)| cause).or_else(|| hangs(record).then_some(Cause::Hang)) {
        Some(cause) => *sum.lost.entry(cause).or_default() += micros(last, end),
        None => sum.useful += micros(last, end),
    }
    *reached = Some(reached.map_or(pace.last.step, |furthest| furthest.max(pace.last.step)));
}

/// The time of an attempt that has not failed and reported no steps, by its GPU usage.
fn add_without_steps(sum: &mut Effective, record: &Tried, ran: u64) {
    if record.gpus == 0 {
        sum.useful += ran;
        return;
    }
    match record.card_us {
        Some(worked) => {
            let useful = (worked / u64::from(record.gpus)).min(ran);
            sum.useful += useful;
            sum.idle += ran - useful;
        }
        None => sum.unknown += ran,
    }
}

/// An attempt's cause of failure, and whether that lies beyond a start that did not happen. A stop by a user
/// is no loss.
fn failed_of(state: &AttemptState) -> Option<(Cause, bool)> {
    match state {
        AttemptState::Ended { outcome: Outcome::Failed(failure), .. } => {
            Some((Cause::of(failure), failure.kind != FailureKind::CouldNotStart))
        }
        AttemptState::Stopping { cause: StopCause::Preempted, .. } => Some((Cause::Preempted, true)),
        AttemptState::Stopping { cause: StopCause::Hung, .. } => Some((Cause::Hang, true)),
        _ => None,
    }
}

fn hangs(record: &Tried) -> bool {
    record.state.is_live() && record.hang.as_ref().is_some_and(|hang| hang.is_present())
}

/// Average gap between reports, in microseconds, over the time with reports.
fn mean_gap(pace: &Pace, between: u64) -> u64 {
    between.checked_div(u64::from(pace.gaps)).unwrap_or(0)
}

/// How much of the step time was for repeated steps. Steps are assumed to be equally long.
fn done_again(pace: &Pace, reached: Option<f64>, stepping: u64) -> u64 {
    let Some(reached) = reached else { return 0 };
    let done = pace.last.step - pace.first.step;
    if done <= 0.0 {
        return if pace.last.step <= reached { stepping } else { 0 };
    }
    // The first report closes a step as long as those after it.
    let begun = pace.first.step - done / f64::from(pace.gaps.max(1));
    let share = (reached.min(pace.last.step) - begun) / (pace.last.step - begun);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of an amount")]
    let again = (stepping as f64 * share.clamp(0.0, 1.0)) as u64;
    again.min(stepping)
}

fn micros(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.0.saturating_sub(from.0)).unwrap_or(0)
}

#[cfg(test)]
mod tests;
