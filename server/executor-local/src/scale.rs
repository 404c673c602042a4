//! Adds workers to a running attempt, and releases workers: those with the highest ranks come last and go
//! first.
//!
//! A released worker has a stop request in its own folder. A shim that is only just starting finds it, and so
//! does the next server. A worker that returns has the same folder: its earlier record is renamed, and its
//! output is appended.

use std::sync::Arc;

use cubeloom_domain::executor::Event;
use cubeloom_domain::failpoint::hit;
use cubeloom_domain::lowered::LocalJob;

use crate::attempt::{Attempt, Worker, write_wish};
use crate::earlier;
use crate::folders::{ENTERED, make_all};
use crate::spec::{self, StopWhy, StopWish};

/// The wanted workers of an attempt.
pub(crate) struct Wanted {
    /// The job with all of them.
    pub(crate) job: Arc<LocalJob>,
    /// The user who owns the run.
    pub(crate) person: String,
    /// Time between TERM and KILL for released workers.
    pub(crate) grace_ms: u64,
}

impl Attempt {
    /// Changes the attempt to these workers.
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

    /// Stops one worker.
    fn give_back(&mut self, rank: usize, grace_ms: u64) {
        let folder = self.workers[rank].folder.clone();
        let wish = StopWish { why: StopWhy::GivenBack, grace_ms };
        // Its folder may not exist yet: its shim then finds the request there.
        let written = make_all(&folder, ENTERED).and_then(|_| write_wish(&folder, &wish));
        if let Err(error) = written {
            tracing::warn!(key = %self.key, %error, "the request to stop a worker could not be saved");
        }
        self.gang.give_back(rank);
        self.signal(rank);
    }

    /// Restarts wanted workers that were released before and are gone now.
    pub(crate) fn start_those_back(&mut self) {
        let count = self.wanted.as_ref().map_or(0, |wanted| wanted.job.workers.len());
        self.start_again((0..count).filter(|rank| self.gang.has_gone(*rank)).collect());
    }

    /// Restarts workers that have ended.
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
        // Report their last progress before they restart.
        self.look_for_news();
        for rank in &ranks {
            self.tails.began(*rank);
            self.gang.return_to(*rank);
            self.began[*rank] = None;
        }
        self.start(job, person, ranks);
    }

    /// Marks workers that an earlier server had released.
    pub(crate) fn take_up_given_back(&mut self) {
        for rank in 0..self.workers.len() {
            if spec::stop_file(&self.workers[rank].folder).exists() {
                self.gang.give_back(rank);
            }
        }
    }

    /// Reports the number of workers once the released ones are gone.
    pub(crate) fn tell_resized(&mut self) {
        let held = self.gang.held();
        if held < self.holds && !self.is_stopped() {
            self.holds = held;
            let workers = u32::try_from(held).unwrap_or(u32::MAX);
            self.machine.report(&self.key, Event::Resized { workers });
        }
    }
}
