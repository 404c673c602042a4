//! Jobs that wait on other replicas. They take part in the order, and capacity is reserved for them, but this
//! scheduler never starts them.
//!
//! Replicas see the same jobs, allocations and quotas, and use the same order. Their view of each other lags
//! by a moment, though. A replica may also be cut off from the cluster or remember a different usage history.
//! So no wait for another replica is unbounded. A job that fits and does not start for
//! [`Settings::elsewhere`](crate::Settings::elsewhere) loses its reservation. If one of a replica's jobs has
//! fitted for that long and none of them started, all its jobs lose theirs until one starts.
//!
//! A start does not prove that the replicas agree again. Two that order two projects differently both wait
//! for the timeout, and then both start. If reservations resumed at once, they would pay that timeout for
//! each start. So a replica for which the timeout has expired gets no reservations for [`TRUST_AGAIN`] times
//! as long: the loss is at most one part in that many. Until then both replicas take free capacity as they
//! find it.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::waiting::WaitRule;

use crate::amounts::{KINDS, NOTHING, minus, plus};
use crate::desk::{Desk, JobId};
use crate::fits::Block;
use crate::job::{Known, State};
use crate::ledger::pools_of;
use crate::pass::Passing;

/// After a reservation expired unused, its replica gets none for this many times as long.
const TRUST_AGAIN: u32 = 10;

/// How long capacity has been reserved for other replicas.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elsewhere {
    /// By job: since when it has fitted.
    jobs: HashMap<JobId, Timestamp>,
    /// By replica: since when one of its jobs has fitted and none of them has left.
    servers: HashMap<String, Timestamp>,
    /// By replica whose reservation expired unused: until when it gets none.
    distrusted: HashMap<String, Timestamp>,
}

impl Elsewhere {
    /// A job is no longer pending: it has started, or its replica has withdrawn it. `lease` is how long
    /// capacity stays reserved.
    pub(crate) fn left(&mut self, job: JobId, known: &Known, lease: Duration, now: Timestamp) {
        if !known.spec.is_foreign {
            return;
        }
        let server = &known.spec.server;
        let kept_since = [self.jobs.remove(&job), self.servers.remove(server)];
        let in_vain = kept_since.into_iter().flatten().filter(|since| now.since(*since) >= lease).max();
        if let Some(since) = in_vain {
            let until = since.plus(lease.saturating_mul(1 + TRUST_AGAIN));
            self.distrusted.insert(server.clone(), until);
        }
        self.distrusted.retain(|_, until| *until > now);
    }
}

impl Desk {
    /// A copy that also schedules the jobs of the other replicas, because the outcome of one job depends on
    /// all.
    #[must_use]
    pub(crate) fn leading_all(&self) -> Self {
        let mut copy = self.clone();
        copy.leads_all = true;
        copy
    }

    /// Whether another replica schedules this job.
    pub(crate) fn is_anothers(&self, known: &Known) -> bool {
        known.spec.is_foreign && !self.leads_all
    }

    /// Whether the reservation of another replica's job has expired.
    pub(crate) fn has_lapsed(&self, job: JobId, known: &Known, now: Timestamp) -> bool {
        let is_over = |since: Option<&Timestamp>| since.is_some_and(|since| self.is_long_ago(*since, now));
        self.is_anothers(known)
            && (is_over(self.elsewhere.jobs.get(&job))
                || is_over(self.elsewhere.servers.get(&known.spec.server))
                || self.elsewhere.distrusted.get(&known.spec.server).is_some_and(|until| *until > now))
    }

    fn is_long_ago(&self, since: Timestamp, now: Timestamp) -> bool {
        now.since(since) >= self.settings.elsewhere
    }

    /// Records for which jobs of other replicas a cycle has reserved capacity. A cycle that was cut short
    /// says nothing about the jobs that it did not reach.
    pub(crate) fn note_kept(&mut self, kept_for: &[JobId], is_cut: bool, now: Timestamp) {
        let server = |job: &JobId| self.spec(*job).map(|spec| spec.server.clone());
        let servers: BTreeSet<String> = kept_for.iter().filter_map(server).collect();
        let mut known = std::mem::take(&mut self.elsewhere);
        if !is_cut {
            known.jobs.retain(|job, since| kept_for.contains(job) || self.is_long_ago(*since, now));
            known.servers.retain(|server, since| servers.contains(server) || self.is_long_ago(*since, now));
        }
        for job in kept_for {
            known.jobs.entry(*job).or_insert(now);
        }
        for server in servers {
            known.servers.entry(server).or_insert(now);
        }
        self.elsewhere = known;
    }
}

impl Passing<'_> {
    /// Records that a job of another replica fits.
    pub(crate) fn keep_for(&mut self, job: JobId, known: &Known) {
        let elsewhere = &self.desk.elsewhere;
        let since = [elsewhere.jobs.get(&job), elsewhere.servers.get(&known.spec.server)];
        let since = since.into_iter().flatten().min().copied().unwrap_or(self.now);
        self.look_again(since.plus(self.desk.settings.elsewhere));
        self.kept_for.push(job);
        self.out.waits.push((job, Block::new(WaitRule::Leaving, known.pool)));
    }

    /// The block to report for a pending job. If it would fit without the reservation for another replica's
    /// job, the block is that this job is ahead.
    pub(crate) fn told(&self, known: &Known, block: Block) -> Block {
        if block.rule != WaitRule::Capacity || self.kept_for.is_empty() {
            return block;
        }
        let takes = |job: &JobId| {
            let entry = self.desk.entry(*job)?;
            pools_of(entry.known.pool).any(|pool| pool == block.pool).then(|| (*job, entry.known.least()))
        };
        let kept: Vec<_> = self.kept_for.iter().filter_map(takes).collect();
        let Some((first, _)) = kept.first() else { return block };
        let kept = kept.iter().fold(NOTHING, |sum, (_, amount)| plus(&sum, amount));
        let pool = block.pool as usize;
        let others = minus(&self.future.in_pool[pool], &kept);
        let (free, least) = (minus(&self.desk.pools[pool].capacity, &others), known.least());
        if (0..KINDS).any(|kind| least[kind] > free[kind]) {
            return block;
        }
        Block { behind: Some(*first), ..Block::new(WaitRule::Behind, known.pool) }
    }

    /// Whether preemption for a job is still left to its own replica. That replica preempts its own jobs
    /// first; jobs of this one follow only if that did not help.
    pub(crate) fn waits_for_its_own_server(&mut self, job: JobId, known: &Known) -> bool {
        let Some(State::Waiting { since, .. }) = self.desk.entry(job).map(|entry| &entry.state) else {
            return false;
        };
        let from = since.plus(self.desk.settings.patience);
        let waits = self.desk.is_anothers(known) && from > self.now;
        if waits {
            self.look_again(from);
        }
        waits
    }
}
