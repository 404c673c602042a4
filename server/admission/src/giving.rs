//! Jobs that give up resources, each for another job.

use cubeloom_domain::Timestamp;

use crate::desk::{Desk, JobId};
use crate::job::{Entry, Spec, State, Taker};
use crate::pass::Preemption;

impl Desk {
    /// Shrinks a job to this many elastic workers. It gets no new ones during a cool-down.
    pub(crate) fn shrink(&mut self, job: JobId, keeps: u32, by: JobId, now: Timestamp) {
        let (cool_down, taker) = (self.settings.cool_down, self.taker(by, None));
        if let Some(Entry { state: State::Held(held), .. }) = self.entry_mut(job) {
            (held.keeps, held.grows_from, held.gives_to) = (keeps, now.plus(cool_down), taker);
        }
    }

    /// A job is preempted for another.
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

    /// Why a job is preempted, and by which job. `None` when either of them is gone.
    #[must_use]
    pub fn preempted(&self, job: JobId) -> Option<(Preemption, &Spec)> {
        let taker = self.entry(job)?.held()?.gives_to?;
        let entry = self.entry(taker.job).filter(|entry| entry.seq == taker.seq)?;
        Some((taker.why?, &entry.known.spec))
    }
}
