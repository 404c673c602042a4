//! Jobs that give back something of what they hold, each for another job.

use cubeloom_domain::Timestamp;

use crate::desk::{Desk, JobId};
use crate::job::{Entry, Spec, State, Taker};
use crate::pass::Preemption;

impl Desk {
    /// A job gives some of its elastic workers back: it is to have so many, and gets none for a while.
    pub(crate) fn shrink(&mut self, job: JobId, keeps: u32, by: JobId, now: Timestamp) {
        let (cool_down, taker) = (self.settings.cool_down, self.taker(by, None));
        if let Some(Entry { state: State::Held(held), .. }) = self.entry_mut(job) {
            (held.keeps, held.grows_from, held.gives_to) = (keeps, now.plus(cool_down), taker);
        }
    }

    /// A job stops for another.
    pub(crate) fn give_way(&mut self, job: JobId, by: JobId, why: Preemption, now: Timestamp) {
        self.leave(job, now);
        let taker = self.taker(by, Some(why));
        if let Some(Entry { state: State::Held(held), .. }) = self.entry_mut(job) {
            held.gives_to = taker;
        }
    }

    fn taker(&self, job: JobId, why: Option<Preemption>) -> Option<Taker> {
        self.entry(job).map(|entry| Taker { job, seq: entry.seq, why })
    }

    /// Why a job is preempted, and for which one: as long as both are here.
    #[must_use]
    pub fn preempted(&self, job: JobId) -> Option<(Preemption, &Spec)> {
        let taker = self.entry(job)?.held()?.gives_to?;
        let entry = self.entry(taker.job).filter(|entry| entry.seq == taker.seq)?;
        Some((taker.why?, &entry.known.spec))
    }
}
