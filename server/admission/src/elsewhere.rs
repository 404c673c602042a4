//! Jobs that wait on other servers: they stand in the order with those of this one, and room is kept for them; this desk
//! starts none of them.
//!
//! Servers see the same jobs, holders and quotas, and go by the same order; but what one of them sees is a moment old on the
//! others, and one may be cut off from the cluster or remember another past use. So nobody waits for another server for ever:
//! a job that fits, and does not start for [`Settings::elsewhere`](crate::Settings::elsewhere), keeps no room any more; nor do
//! the jobs of a server of which one has fitted for as long while none of them went, until one does.
//!
//! That one goes then is no sign that the servers agree again: two that order two projects differently both wait out the time,
//! and then both start. Were room kept again at once, they would pay that time for each start. So after it has passed in vain a
//! server is not waited for again for [`TRUST_AGAIN`] times as long: at the most one part in so many is lost. Until then both
//! take what is free as they find it.

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

/// A server for whose jobs room was kept in vain keeps none for so many times as long.
const TRUST_AGAIN: u32 = 10;

/// For how long room has been kept for others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elsewhere {
    /// By job: since when there has been room for it.
    jobs: HashMap<JobId, Timestamp>,
    /// By server: since when there has been room for one of its jobs and none of them has left.
    servers: HashMap<String, Timestamp>,
    /// By server for which room was kept in vain: until when it is not waited for again.
    distrusted: HashMap<String, Timestamp>,
}

impl Elsewhere {
    /// A job waits no longer: it has started, or its server has thought better of it. `lease` is for how long room is kept.
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
    /// A copy that leads the jobs of the other servers, too: what becomes of one depends on all.
    #[must_use]
    pub(crate) fn leading_all(&self) -> Self {
        let mut copy = self.clone();
        copy.leads_all = true;
        copy
    }

    /// Whether another server is to start a job.
    pub(crate) fn is_anothers(&self, known: &Known) -> bool {
        known.spec.is_foreign && !self.leads_all
    }

    /// Whether room has been kept for a job of another server for long enough.
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

    /// Notes for which jobs of other servers a pass has kept room. A pass that has not come to its end says nothing of those
    /// that it did not reach.
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
    /// Notes that there is room for a job that another server starts.
    pub(crate) fn keep_for(&mut self, job: JobId, known: &Known) {
        let elsewhere = &self.desk.elsewhere;
        let since = [elsewhere.jobs.get(&job), elsewhere.servers.get(&known.spec.server)];
        let since = since.into_iter().flatten().min().copied().unwrap_or(self.now);
        self.look_again(since.plus(self.desk.settings.elsewhere));
        self.kept_for.push(job);
        self.out.waits.push((job, Block::new(WaitRule::Leaving, known.pool)));
    }

    /// What is told of a job that waits: where there would be room for it, were it not kept for a job of another server, that
    /// this one is ahead.
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

    /// Whether others are not asked to give back for a job yet: its own server asks those that it leads at once, and those of
    /// this one go only where that did not help.
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
