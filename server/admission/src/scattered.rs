//! Jobs with enough capacity in total, but on no nodes with room for their workers. Capacity for the first of
//! each pool is reserved in total, so that some node becomes free enough.
//!
//! Nodes may never become free, because the jobs on them may never end. So the reservation alternates, with
//! each phase as long as the job has waited by then. It is on for the first hour
//! ([`Settings::aging`](crate::Settings::aging)), off for the next two, on for the next four, and so on. Long
//! jobs are outlasted at some time, and others wait a bounded time for it. With known run times, reserved
//! capacity goes to jobs that end before this job finds nodes (EASY back-fill, as behind a
//! [`Head`](crate::head::Head)). That holds in the first hour only, because run times are only likely.

use std::time::Duration;

use cubeloom_domain::Timestamp;

use crate::amounts::Vector;
use crate::desk::{Desk, JobId};
use crate::fits::Block;
use crate::job::Known;
use crate::ledger::Ledger;
use crate::nodes::{Seat, add};
use crate::pass::Passing;

/// A job with reserved capacity until it finds nodes.
pub(crate) struct Scattered<'d> {
    pub(crate) job: JobId,
    known: &'d Known,
    /// Since when it is scattered.
    pub(crate) since: Timestamp,
    /// What is reserved of the free capacity.
    kept: Vector,
    /// When it finds nodes, if known. The outer `None` means not computed yet.
    finds: Option<Option<Timestamp>>,
}

/// Whether capacity is reserved for a job that has been scattered for this long, and when, counted from its
/// start, that changes next.
fn turn(waited: Duration, hour: Duration) -> (bool, Duration) {
    let hour = hour.max(Duration::from_secs(1));
    let number = u32::try_from(waited.as_micros() / hour.as_micros()).unwrap_or(u32::MAX).saturating_add(1);
    let turn = number.ilog2();
    (turn.is_multiple_of(2), hour.saturating_mul(u32::MAX >> (31 - turn)))
}

impl<'d> Passing<'d> {
    /// Whether capacity is reserved for a job that finds no nodes: it is the first of its pool, and its
    /// reservation is on.
    pub(crate) fn has_its_turn(&mut self, job: JobId, known: &Known) -> bool {
        if self.scattered.iter().any(|other| other.known.pool == known.pool) {
            return false;
        }
        let since = self.desk.scattered.get(&job).copied().unwrap_or(self.now);
        let (is_its_turn, until) = turn(self.now.since(since), self.desk.settings.aging);
        // A cycle runs within half a year in any case.
        if until < self.desk.settings.aging.saturating_mul(1 << 12) {
            self.look_again(since.plus(until));
        }
        is_its_turn
    }

    pub(crate) fn keep_until_it_finds_nodes(&mut self, job: JobId, known: &'d Known) {
        let since = self.desk.scattered.get(&job).copied().unwrap_or(self.now);
        let kept = self.claim(job, known);
        self.scattered.push(Scattered { job, known, since, kept, finds: None });
    }

    /// Accounts for a job if every rule about amounts allows it. It may use capacity that is reserved for
    /// jobs that find no nodes before it ends.
    pub(crate) fn take_in_future(&mut self, known: &Known) -> Result<(), Block> {
        let Err(block) = self.desk.take(&mut self.future, known, known.min()) else { return Ok(()) };
        let kept: Vec<_> =
            self.outlasting(known).into_iter().map(|(other, _)| (other, other.least())).collect();
        if self.desk.take_of(&mut self.future, &kept, known) { Ok(()) } else { Err(block) }
    }

    /// The same, in capacity that is free now and not reserved.
    pub(crate) fn take_unpromised(&mut self, known: &Known) -> bool {
        let kept = self.outlasting(known);
        let Some(promised) = &mut self.promised else { return true };
        self.desk.take(promised, known, known.min()).is_ok() || self.desk.take_of(promised, &kept, known)
    }

    /// Jobs that find nodes only after this one has ended, with their reservations.
    fn outlasting(&mut self, known: &Known) -> Vec<(&'d Known, Vector)> {
        let Some(length) = known.at_most() else { return Vec::new() };
        let (ends, aging) = (self.now.plus(length), self.desk.settings.aging);
        let mut all = std::mem::take(&mut self.scattered);
        let mut outlasts = |other: &mut Scattered<'d>| {
            let finds = *other.finds.get_or_insert_with(|| self.finds_nodes_by(other.known));
            self.now.since(other.since) < aging && finds.is_some_and(|finds| ends <= finds)
        };
        let outlasting =
            all.iter_mut().filter_map(|other| outlasts(other).then_some((other.known, other.kept))).collect();
        self.scattered = all;
        outlasting
    }

    /// When a job's workers find nodes, by known run times.
    fn finds_nodes_by(&mut self, known: &Known) -> Option<Timestamp> {
        let (desk, now) = (self.desk, self.now);
        let stay = desk.held.iter().filter(|job| !self.gone.contains(job));
        let end = |job: &JobId| {
            let entry = desk.entry(*job)?;
            Some((entry.ends_by(now, desk.settings.grace)?, entry.seats.as_slice()))
        };
        let mut ends: Vec<(Timestamp, &[Seat])> = stay.filter_map(end).collect();
        ends.sort_unstable_by_key(|(at, _)| *at);
        let free = self.free_nodes().clone();
        let finds = |ended: usize| {
            let mut free = free.clone();
            ends[..ended].iter().for_each(|(_, seats)| add(&mut free, seats));
            !desk.nodes.lack(&free, known.pool, known.shapes(known.min()))
        };
        // Enough is still enough after more ends: binary search finds the moment.
        let (mut few, mut enough) = (0, ends.len());
        if !finds(enough) {
            return None;
        }
        while few < enough {
            let middle = few + (enough - few) / 2;
            if finds(middle) { enough = middle } else { few = middle + 1 }
        }
        Some(enough.checked_sub(1).map_or(now, |last| ends[last].0))
    }
}

impl Desk {
    /// Takes the amount for a job as if these reservations did not exist.
    fn take_of(&self, ledger: &mut Ledger, kept: &[(&Known, Vector)], known: &Known) -> bool {
        if kept.is_empty() {
            return false;
        }
        kept.iter().for_each(|(other, amount)| ledger.remove(&self.tree, other, amount));
        let taken = self.take(ledger, known, known.min()).is_ok();
        kept.iter().for_each(|(other, amount)| ledger.add(&self.tree, other, amount));
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_as_long_as_all_before_it_and_one_hour() {
        let hours = |count: u64| Duration::from_secs(count * 3600);
        let all: Vec<(bool, Duration)> =
            [0, 1, 2, 3, 6, 7, 14, 15].map(|count| turn(hours(count), hours(1))).into();
        let turns = [(true, 1), (false, 3), (false, 3), (true, 7), (true, 7), (false, 15), (false, 15)];
        let turns: Vec<_> =
            turns.into_iter().chain([(true, 31)]).map(|(its, until)| (its, hours(until))).collect();
        assert_eq!(all, turns);
        turn(Duration::MAX, Duration::ZERO);
    }
}
