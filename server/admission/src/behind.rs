//! What a job may do while one before it has no room.

use crate::desk::JobId;
use crate::head::{Head, Held};
use crate::job::{Known, State};
use crate::pass::Passing;

/// A job without room that must not be delayed.
pub(crate) struct Ahead {
    pub(crate) job: JobId,
    /// Its priority with what waiting has added. Others go for its sake only if theirs was lower when they started.
    pub(crate) class: i64,
    /// The queue within which others may go for one behind it, if it has a right to what they hold.
    pub(crate) within: Option<u32>,
    /// Resources of which too little is free for both.
    pub(crate) short: Vec<usize>,
}

impl Passing<'_> {
    /// What a job may do though a head waits: `None` where that does not concern it, as a queue above it that is not above
    /// the head still has to get what it is guaranteed.
    fn ahead(&self, head: &Head, known: &Known, owed: &[u32]) -> Option<Ahead> {
        let apart = self.desk.tree.path(known.leaf).take_while(|node| !self.desk.is_below(head.job, *node));
        let apart: Vec<u32> = apart.collect();
        let branch = apart.last().copied();
        if branch.is_some_and(|branch| owed.contains(&branch)) {
            return None;
        }
        // Of two projects of a group that has more than its guarantee, one may still have less than its own: the other makes
        // room for it, and the head loses nothing.
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

    /// The head before a job for which others would have to go: what they give back is the head's first.
    pub(crate) fn head_before(&self, job: JobId, known: &Known) -> Option<Ahead> {
        let before = self.heads.iter().filter(|head| head.job != job && self.desk.is_in(known, head.scope));
        let owed = self.entitled(known);
        self.narrowest(before.filter_map(|head| self.ahead(head, known, &owed)))
    }

    /// The head that a job would delay.
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

    /// Of several heads, the one that leaves the least.
    fn narrowest(&self, all: impl Iterator<Item = Ahead>) -> Option<Ahead> {
        let above = |node: u32| self.desk.tree.path(node).count();
        all.max_by_key(|ahead| ahead.within.map_or(usize::MAX, above))
    }
}
