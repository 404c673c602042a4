//! What a job may do while a job ahead of it has no capacity.

use crate::desk::JobId;
use crate::head::{Head, Held};
use crate::job::{Known, State};
use crate::pass::Passing;

/// A pending job without capacity that must not be delayed.
pub(crate) struct Ahead {
    pub(crate) job: JobId,
    /// Its priority including aging. Jobs are preempted for it only if their priority at start was lower.
    pub(crate) class: i64,
    /// The queue within which jobs are preempted for a job behind this one, if that queue is entitled to what
    /// they hold.
    pub(crate) within: Option<u32>,
    /// Resources that are too scarce for both jobs.
    pub(crate) short: Vec<usize>,
}

impl Passing<'_> {
    /// What a job may do while a head of line waits. `None` if the head does not constrain it: a queue above
    /// the job, but not above the head, is still owed its guarantee.
    fn ahead(&self, head: &Head, known: &Known, owed: &[u32]) -> Option<Ahead> {
        let apart = self.desk.tree.path(known.leaf).take_while(|node| !self.desk.is_below(head.job, *node));
        let apart: Vec<u32> = apart.collect();
        let branch = apart.last().copied();
        if branch.is_some_and(|branch| owed.contains(&branch)) {
            return None;
        }
        // Within a group above its guarantee, one project may still be below its own. The other project
        // yields to it, and the head loses nothing.
        let within = branch.filter(|_| apart.iter().any(|node| owed.contains(node)));
        let short = head.short(self.desk, &self.future, &known.least()).collect();
        Some(Ahead { job: head.job, class: self.class_of(head.job), within, short })
    }

    pub(crate) fn class_of(&self, job: JobId) -> i64 {
        let Some(entry) = self.desk.entry(job) else { return i64::MIN };
        match &entry.state {
            State::Waiting { since, .. } => self.desk.class(entry.known.spec.priority, *since, self.now),
            State::Held(held) => held.class,
        }
    }

    /// The head of line ahead of a job that needs preemption: reclaimed capacity belongs to that head first.
    pub(crate) fn head_before(&self, job: JobId, known: &Known) -> Option<Ahead> {
        let before = self.heads.iter().filter(|head| head.job != job && self.desk.is_in(known, head.scope));
        let owed = self.entitled(known);
        self.narrowest(before.filter_map(|head| self.ahead(head, known, &owed)))
    }

    /// The head of line that a job would delay.
    pub(crate) fn held_back(&mut self, job: JobId, known: &Known) -> Option<Ahead> {
        if self.heads.is_empty() {
            return None;
        }
        let owed = self.entitled(known);
        let mut heads = std::mem::take(&mut self.heads);
        let held = Held { ledger: &self.future, gone: &self.gone, started: &self.begun };
        let (desk, now) = (self.desk, self.now);
        let before = heads.iter_mut().filter(|head| head.job != job && desk.is_in(known, head.scope));
        let delayed = before.filter_map(|head| {
            let ahead = self.ahead(head, known, &owed)?;
            (!head.lets(desk, known, &held, now)).then_some(ahead)
        });
        let delayed = self.narrowest(delayed);
        self.heads = heads;
        delayed
    }

    /// Of several heads, the most restrictive one.
    fn narrowest(&self, all: impl Iterator<Item = Ahead>) -> Option<Ahead> {
        let above = |node: u32| self.desk.tree.path(node).count();
        all.max_by_key(|ahead| ahead.within.map_or(usize::MAX, above))
    }
}
