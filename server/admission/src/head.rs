//! Back-fill: which jobs may start before a head of line without capacity, without delaying it.
//!
//! The first job that does not fit into a pool, or whose queue is at its bound, is the head there. From known
//! run times follows its *shadow*, the moment at which it can start (EASY back-fill, Lifka 1995). A job does
//! not delay it if it ends earlier, or if it takes only what is left over at that moment. A job of unknown
//! run time may never end in time: it takes nothing that the head lacks.

use std::collections::HashSet;

use cubeloom_domain::Timestamp;

use crate::amounts::{KINDS, Vector, minus, plus};
use crate::desk::{Desk, JobId};
use crate::job::Known;
use crate::ledger::Ledger;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scope {
    /// In a pool.
    Pool(u32),
    /// At the bound of a queue, in a pool.
    Node(u32, u32),
}

/// The first job without capacity.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) job: JobId,
    pub(crate) scope: Scope,
    pub(crate) asked: Vector,
    /// Since when it is the head.
    pub(crate) first: Timestamp,
    /// When it can start, and what is left over then. `None` until it is computed.
    shadow: Option<Option<(Timestamp, Vector)>>,
}

impl Head {
    pub(crate) fn new(job: JobId, scope: Scope, asked: Vector, first: Timestamp) -> Self {
        Self { job, scope, asked, first, shadow: None }
    }

    /// The resources that are too scarce for the head plus this amount.
    pub(crate) fn short(
        &self,
        desk: &Desk,
        ledger: &Ledger,
        amount: &Vector,
    ) -> impl Iterator<Item = usize> + use<> {
        let (free, asked, amount) = (desk.free_in(ledger, self.scope), self.asked, *amount);
        let both = move |kind: &usize| amount[*kind] > 0 && asked[*kind] > 0;
        (0..KINDS).filter(both).filter(move |kind| free[*kind] < asked[*kind].saturating_add(amount[*kind]))
    }

    /// Whether a job that fits may start before this one.
    pub(crate) fn lets(&mut self, desk: &Desk, job: &Known, held: &Held<'_>, now: Timestamp) -> bool {
        let amount = job.least();
        // The head's requirement is still free afterwards.
        if self.short(desk, held.ledger, &amount).next().is_none() {
            return true;
        }
        // Run times are only likely. If jobs that overrun were let in again and again, the head would starve.
        if now.since(self.first) >= desk.settings.aging {
            return false;
        }
        let Some(ends) = job.at_most().map(|length| now.plus(length)) else { return false };
        let shadow = *self.shadow.get_or_insert_with(|| desk.shadow(self.scope, &self.asked, held, now));
        shadow.is_some_and(|(shadow, over)| ends <= shadow || (0..KINDS).all(|at| amount[at] <= over[at]))
    }

    /// A job was let in ahead: if it outlasts the shadow, it takes from what is left over.
    pub(crate) fn passed(&mut self, job: &Known, now: Timestamp) {
        let Some(Some((shadow, over))) = &mut self.shadow else { return };
        if job.at_most().is_none_or(|length| now.plus(length) > *shadow) {
            *over = minus(over, &job.least());
        }
    }
}

/// What is in use, for look-ahead.
pub(crate) struct Held<'p> {
    pub(crate) ledger: &'p Ledger,
    /// Jobs treated as ended.
    pub(crate) gone: &'p HashSet<JobId>,
    /// Jobs that this cycle starts, with their workers.
    pub(crate) started: &'p [(JobId, u32)],
}

impl Desk {
    /// What is free in a scope.
    pub(crate) fn free_in(&self, ledger: &Ledger, scope: Scope) -> Vector {
        match scope {
            Scope::Pool(pool) => {
                let taken = plus(&ledger.in_pool[pool as usize], &ledger.kept_in(pool));
                minus(&self.pools[pool as usize].capacity, &taken)
            }
            Scope::Node(node, pool) => {
                minus(&self.tree.quota(node, pool).bound, &ledger.held[self.tree.at(node, pool)])
            }
        }
    }

    /// Whether a job belongs to a queue or one of its descendants.
    pub(crate) fn is_below(&self, job: JobId, node: u32) -> bool {
        self.entry(job).is_some_and(|entry| self.tree.path(entry.known.leaf).any(|above| above == node))
    }

    /// Whether a job counts against a scope.
    pub(crate) fn is_in(&self, job: &Known, scope: Scope) -> bool {
        match scope {
            Scope::Pool(pool) => pool == 0 || job.pool == pool,
            Scope::Node(node, pool) => {
                job.pool == pool && self.tree.path(job.leaf).any(|above| above == node)
            }
        }
    }

    /// When a head fits, by known run times, and what is left over then.
    fn shadow(
        &self,
        scope: Scope,
        asked: &Vector,
        held: &Held<'_>,
        now: Timestamp,
    ) -> Option<(Timestamp, Vector)> {
        let grace = self.settings.grace;
        let running = self.held.iter().filter(|job| !held.gone.contains(job)).filter_map(|job| {
            let entry = self.entry(*job)?;
            let amount = entry.known.with(entry.held()?.keeps);
            // A leaving job is already subtracted from the sums.
            let stays = entry.held()?.leaving.is_none();
            (stays && self.is_in(&entry.known, scope)).then_some((entry.ends_by(now, grace)?, amount))
        });
        let begun = held.started.iter().filter_map(|(job, workers)| {
            let entry = self.entry(*job)?;
            let ends = now.plus(entry.known.at_most()?);
            self.is_in(&entry.known, scope).then_some((ends, entry.known.with(*workers)))
        });
        let mut ends: Vec<(Timestamp, Vector)> = running.chain(begun).collect();
        ends.sort_unstable_by_key(|(at, _)| *at);
        let mut free = self.free_in(held.ledger, scope);
        for (at, amount) in ends {
            free = plus(&free, &amount);
            if (0..KINDS).all(|kind| asked[kind] <= free[kind]) {
                return Some((at, minus(&free, asked)));
            }
        }
        None
    }
}
