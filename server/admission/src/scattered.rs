//! Jobs for which there is enough in all, but on no nodes with room for their workers: what the first of each pool needs is kept
//! free in all, so that some node becomes free enough.
//!
//! That nodes become free is not certain: who is on them may never end. So room is kept in turns, each as long as the job has
//! waited by then: for the first hour ([`Settings::aging`](crate::Settings::aging)), not for the two after it, for the next four,
//! and so on. What takes long is outwaited some day, and others wait a bounded time for it. Where run times are known, those start
//! in what is kept that have ended before the job finds nodes (EASY back-fill, as behind a [`Head`](crate::head::Head)); in the
//! first hour alone, as lengths are only likely.

use std::time::Duration;

use cubeloom_domain::Timestamp;

use crate::amounts::Vector;
use crate::desk::{Desk, JobId};
use crate::fits::Block;
use crate::job::Known;
use crate::ledger::Ledger;
use crate::nodes::{Seat, add};
use crate::pass::Passing;

/// A job for which room is kept until it finds nodes.
pub(crate) struct Scattered<'d> {
    pub(crate) job: JobId,
    known: &'d Known,
    /// Since when it is one.
    pub(crate) since: Timestamp,
    /// What is kept of what is free now.
    kept: Vector,
    /// When it finds nodes, as far as anybody knows; `None` until somebody wants to know.
    finds: Option<Option<Timestamp>>,
}

/// Whether room is kept for a job that has been scattered for so long, and for how long after it began this changes next.
fn turn(waited: Duration, hour: Duration) -> (bool, Duration) {
    let hour = hour.max(Duration::from_secs(1));
    let number = u32::try_from(waited.as_micros() / hour.as_micros()).unwrap_or(u32::MAX).saturating_add(1);
    let turn = number.ilog2();
    (turn.is_multiple_of(2), hour.saturating_mul(u32::MAX >> (31 - turn)))
}

impl<'d> Passing<'d> {
    /// Whether room is kept for a job that finds no nodes: it is the first of its pool, and its turn.
    pub(crate) fn has_its_turn(&mut self, job: JobId, known: &Known) -> bool {
        if self.scattered.iter().any(|other| other.known.pool == known.pool) {
            return false;
        }
        let since = self.desk.scattered.get(&job).copied().unwrap_or(self.now);
        let (is_its_turn, until) = turn(self.now.since(since), self.desk.settings.aging);
        // Somebody looks within half a year in any case.
        if until < self.desk.settings.aging.saturating_mul(1 << 12) {
            self.look_again(since.plus(until));
        }
        is_its_turn
    }

    /// Keeps room for it.
    pub(crate) fn keep_until_it_finds_nodes(&mut self, job: JobId, known: &'d Known) {
        let since = self.desk.scattered.get(&job).copied().unwrap_or(self.now);
        let kept = self.claim(job, known);
        self.scattered.push(Scattered { job, known, since, kept, finds: None });
    }

    /// Takes a job into account, where every rule about amounts allows it: also in what is kept for jobs that find no nodes
    /// before it has ended.
    pub(crate) fn take_in_future(&mut self, known: &Known) -> Result<(), Block> {
        let Err(block) = self.desk.take(&mut self.future, known, known.min()) else { return Ok(()) };
        let kept: Vec<_> =
            self.outlasting(known).into_iter().map(|(other, _)| (other, other.least())).collect();
        if self.desk.take_of(&mut self.future, &kept, known) { Ok(()) } else { Err(block) }
    }

    /// The same in what is free now and kept for nobody.
    pub(crate) fn take_unpromised(&mut self, known: &Known) -> bool {
        let kept = self.outlasting(known);
        let Some(promised) = &mut self.promised else { return true };
        self.desk.take(promised, known, known.min()).is_ok() || self.desk.take_of(promised, &kept, known)
    }

    /// Jobs that find nodes only when this one has ended, with what is kept for them.
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

    /// When a job's workers find nodes, going by the lengths that are known.
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
        // What is enough is enough also when more have ended: the moment is found by halving.
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
    /// Takes the amount for a job as if nothing were kept for some others.
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
