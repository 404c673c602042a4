//! Effective training time: what the time from being ready to the end went to. Pure: from the attempts' records.
//!
//! The parts of an instance's time add up to all of it. Useful is the time of steps, as programs report them. Where an attempt
//! reports none, it is the time for which its GPUs worked; of one with GPUs of which nobody tells, nothing is known; of one without
//! GPUs it is the time that it ran. What is done again after a failure is not useful the second time.

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

/// What is asked of an attempt for this, and no more: a run may have thousands, and there is much else in their records.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The task's position in the plan.
    pub task: TaskIx,
    /// Instance.
    pub instance: InstanceIx,
    /// State.
    pub state: AttemptState,
    /// When it was written.
    pub created_at: Timestamp,
    /// At which pace its program reports steps.
    pub pace: Option<Pace>,
    /// That it hangs, or did.
    pub hang: Option<Hang>,
    /// The whole GPUs that it has.
    pub gpus: u32,
    /// For how long these worked, in microseconds of one GPU, once it has ended and where that was told.
    pub card_us: Option<u64>,
}

/// What time went to, in microseconds. All parts add up to the time between being ready and the end, of all instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effective {
    /// Steps.
    pub useful: u64,
    /// Waiting for a place, or for the next try.
    pub waiting: u64,
    /// Images, environments, the start of all workers, and the program's own up to its first step.
    pub starting: u64,
    /// Writing checkpoints.
    pub saving: u64,
    /// Taking up an earlier checkpoint.
    pub restoring: u64,
    /// Steps that an earlier attempt had done already.
    pub again: u64,
    /// GPUs that did nothing, of an attempt that reported no steps.
    pub idle: u64,
    /// Of attempts with GPUs that reported no steps: nobody tells what the GPUs did.
    pub unknown: u64,
    /// What attempts lost by failing, after the last step that they reported.
    pub lost: BTreeMap<Cause, u64>,
    /// Number of attempts that ran.
    pub ran: u32,
    /// How many of them reported steps.
    pub reported: u32,
}

impl Effective {
    /// The parts by their words, in microseconds, in the order in which they are shown.
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

    /// All parts together, in microseconds.
    #[must_use]
    pub fn whole(&self) -> u64 {
        self.parts().map(|(_, micros)| micros).sum()
    }

    /// Useful time of all time of which anything is known; none where there was no such time, or none in which anything ran that is
    /// known of.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        let known = self.whole() - self.unknown;
        let says_nothing = known == 0 || self.unknown > 0 && self.useful + self.idle + self.again == 0;
        (!says_nothing).then(|| self.useful as f64 / known as f64)
    }

    /// This and another together.
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

/// What an instance's time went to, told attempt by attempt: of many they need not be in memory together. Attempts of before it
/// was last ready are not its own any more.
#[derive(Clone, Debug)]
pub struct Telling {
    ready_at: Timestamp,
    until: Timestamp,
    sum: Effective,
    /// Up to where time has been told.
    told: Timestamp,
    /// How far steps have come.
    reached: Option<f64>,
}

impl Telling {
    /// Of an instance, from when it was ready until it ended, or until now.
    #[must_use]
    pub fn new(ready_at: Timestamp, until: Timestamp) -> Self {
        Self { ready_at, until, sum: Effective::default(), told: ready_at, reached: None }
    }

    /// The next attempt at it, by number.
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

    /// What its time went to.
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

/// Adds what an attempt's time went to, from `created` to `end`. `reached` is the furthest step of those before it.
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
    // The first report closes a step, too: one as long as those after it.
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
    // What comes after the last report of an attempt that has not failed is its work, too, unless it hangs.
    match failure.map(|(cause, _)| cause).or_else(|| hangs(record).then_some(Cause::Hang)) {
        Some(cause) => *sum.lost.entry(cause).or_default() += micros(last, end),
        None => sum.useful += micros(last, end),
    }
    *reached = Some(reached.map_or(pace.last.step, |furthest| furthest.max(pace.last.step)));
}

/// The time of an attempt that has not failed and reported no steps: what its GPUs did.
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

/// What an attempt failed of, and whether that has a cause beyond its start, which did not come about. A person's wish that
/// it stops is no loss.
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

/// Whether an attempt hangs now.
fn hangs(record: &Tried) -> bool {
    record.state.is_live() && record.hang.as_ref().is_some_and(|hang| hang.is_present())
}

/// How long a gap between reports is, in microseconds, of a time in which they came.
fn mean_gap(pace: &Pace, between: u64) -> u64 {
    between.checked_div(u64::from(pace.gaps)).unwrap_or(0)
}

/// How much of the time of steps went to those that an earlier attempt had done: steps are taken to be equally long.
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
