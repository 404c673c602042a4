//! Workers that come to an attempt that runs, and workers that it gives back: those with the highest ranks come last and go
//! first.
//!
//! A worker that is given back has a wish to stop in its own folder, so that also a shim that only just starts, and the next
//! server, find it. One that comes again has the same folder: how it ended before is put aside, and what it writes follows
//! what it had written.

use std::sync::Arc;

use cubeloom_domain::executor::Event;
use cubeloom_domain::failpoint::hit;
use cubeloom_domain::lowered::LocalJob;

use crate::attempt::{Attempt, Worker, write_wish};
use crate::earlier;
use crate::folders::{ENTERED, make_all};
use crate::spec::{self, StopWhy, StopWish};

/// The workers that an attempt is to have.
pub(crate) struct Wanted {
    /// All items.
    pub(crate) job: Arc<LocalJob>,
    /// User who owns the run.
    pub(crate) person: String,
    /// How long those that go have between TERM and KILL.
    pub(crate) grace_ms: u64,
}

impl Attempt {
    /// Makes it have these workers.
    pub(crate) fn scale(&mut self, wanted: Wanted) {
        if self.is_stopped() {
            return;
        }
        hit("local.scale.before");
        let count = wanted.job.workers.len();
        for rank in (count..self.workers.len()).rev() {
            self.give_back(rank, wanted.grace_ms);
        }
        let known = self.workers.len();
        for worker in wanted.job.workers.iter().skip(known) {
            self.workers.push(Worker::of(worker));
            self.gang.add(worker.name.clone());
            self.shims.push(None);
            self.began.push(None);
        }
        self.holds = self.holds.max(count);
        if known < count {
            self.start(Arc::clone(&wanted.job), wanted.person.clone(), (known..count).collect());
        }
        let lost = (0..count.min(known)).filter(|rank| self.gang.is_lost(*rank)).collect();
        self.wanted = Some(wanted);
        self.start_again(lost);
        hit("local.scale.after");
    }

    /// Tells one worker to stop.
    fn give_back(&mut self, rank: usize, grace_ms: u64) {
        let folder = self.workers[rank].folder.clone();
        let wish = StopWish { why: StopWhy::GivenBack, grace_ms };
        // Its folder may not be there yet: then its shim finds the wish in it.
        let written = make_all(&folder, ENTERED).and_then(|_| write_wish(&folder, &wish));
        if let Err(error) = written {
            tracing::warn!(key = %self.key, %error, "the wish to stop a worker could not be written down");
        }
        self.gang.give_back(rank);
        self.signal(rank);
    }

    /// Starts those again that are wanted, and were given back before: now that they are gone.
    pub(crate) fn start_those_back(&mut self) {
        let count = self.wanted.as_ref().map_or(0, |wanted| wanted.job.workers.len());
        self.start_again((0..count).filter(|rank| self.gang.has_gone(*rank)).collect());
    }

    /// Starts workers again that have ended.
    fn start_again(&mut self, mut ranks: Vec<usize>) {
        let Some(wanted) = self.wanted.as_ref().filter(|_| !self.is_stopped() && !ranks.is_empty()) else {
            return;
        };
        let (job, person) = (Arc::clone(&wanted.job), wanted.person.clone());
        ranks.retain(|rank| match earlier::put_aside(&self.workers[*rank].folder) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(key = %self.key, %error, "a worker cannot be started again");
                false
            }
        });
        // What they said last was said before.
        self.look_for_news();
        for rank in &ranks {
            self.tails.began(*rank);
            self.gang.return_to(*rank);
            self.began[*rank] = None;
        }
        self.start(job, person, ranks);
    }

    /// Marks the workers that an earlier server had told to stop alone.
    pub(crate) fn take_up_given_back(&mut self) {
        for rank in 0..self.workers.len() {
            if spec::stop_file(&self.workers[rank].folder).exists() {
                self.gang.give_back(rank);
            }
        }
    }

    /// Says how many workers are left, once those are gone that were given back.
    pub(crate) fn tell_resized(&mut self) {
        let held = self.gang.held();
        if held < self.holds && !self.is_stopped() {
            self.holds = held;
            let workers = u32::try_from(held).unwrap_or(u32::MAX);
            self.machine.report(&self.key, Event::Resized { workers });
        }
    }
}
