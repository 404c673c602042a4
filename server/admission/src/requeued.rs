//! The impact of another queue tree: cycles run on two copies of the scheduler.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use cubeloom_domain::Timestamp;
use cubeloom_domain::quota::QueueRecord;

use crate::amounts::RUNS;
use crate::desk::{Desk, JobId};

/// Maximum number of cycles.
const PASSES: usize = 32;

/// The difference between two trees, as jobs' keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requeued {
    /// Running jobs above their queue's limit. They keep running, but nothing more of the queue starts.
    pub over: BTreeSet<String>,
    /// Running jobs whose borrowed resources would be reclaimed, all or some of their workers.
    pub give_back: BTreeSet<String>,
    /// Pending jobs that would start.
    pub start: BTreeSet<String>,
    /// Pending jobs that would start with the current tree, but not with the new one.
    pub wait: BTreeSet<String>,
}

/// Outcome for the current jobs.
struct Settled {
    over: BTreeSet<String>,
    given_back: BTreeSet<String>,
    started: BTreeSet<String>,
}

impl Desk {
    /// The outcome for running and pending jobs under another queue tree, as a difference to `before`. It
    /// does not predict job ends: preempted jobs end within the grace period, and no others do.
    #[must_use]
    pub fn requeued(
        &self,
        before: &Arc<Vec<QueueRecord>>,
        after: &Arc<Vec<QueueRecord>>,
        now: Timestamp,
    ) -> Requeued {
        let (is, would_be) =
            (self.leading_all().settled(before, now), self.leading_all().settled(after, now));
        let more = |one: &BTreeSet<String>, than: &BTreeSet<String>| one.difference(than).cloned().collect();
        Requeued {
            over: more(&would_be.over, &is.over),
            give_back: more(&would_be.given_back, &is.given_back),
            start: more(&would_be.started, &is.started),
            wait: more(&is.started, &would_be.started),
        }
    }

    /// Runs cycles until nothing starts and nothing is preempted.
    fn settled(mut self, queues: &Arc<Vec<QueueRecord>>, now: Timestamp) -> Settled {
        self.set_queues(queues);
        let mut found = Settled { over: self.over(), given_back: BTreeSet::new(), started: BTreeSet::new() };
        let mut now = now;
        for _ in 0..PASSES {
            let pass = self.pass(now, usize::MAX);
            found.started.extend(pass.starts.iter().filter_map(|start| self.key(start.job)));
            found.given_back.extend(pass.victims.iter().filter_map(|victim| self.key(victim.job())));
            if pass.more {
                continue;
            }
            now = now.plus(self.settings.grace);
            if !self.given_back(now) {
                break;
            }
        }
        found
    }

    fn key(&self, job: JobId) -> Option<String> {
        self.spec(job).map(|spec| spec.key.clone())
    }

    /// Removes what was preempted. Returns false when nothing was.
    fn given_back(&mut self, now: Timestamp) -> bool {
        let kept = |job: &JobId| {
            let held = self.entry(*job)?.held()?;
            let keeps = if held.leaving.is_some() { None } else { Some(held.keeps) };
            (keeps != Some(held.workers)).then_some((*job, keeps))
        };
        let going: Vec<_> = self.held.iter().filter_map(kept).collect();
        for (job, keeps) in &going {
            match keeps {
                Some(keeps) => self.resized(*job, *keeps, now),
                None => self.remove(*job, now),
            }
        }
        !going.is_empty()
    }

    /// The newest jobs of each queue above its limit.
    fn over(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for node in 0..self.tree.len() as u32 {
            for pool in 0..self.tree.pools() as u32 {
                let (held, bound) =
                    (&self.ledger.held[self.tree.at(node, pool)], self.tree.quota(node, pool).bound);
                for kind in self.kinds.indices().filter(|kind| held[*kind] > bound[*kind]) {
                    self.newest(node, pool, kind, held[kind] - bound[kind], &mut found);
                }
            }
        }
        found
    }

    /// Adds a queue's newest jobs that together use this much of a pool.
    fn newest(&self, node: u32, pool: u32, kind: usize, mut much: u64, found: &mut BTreeSet<String>) {
        let is_of = |leaf: u32| self.tree.path(leaf).any(|one| one == node);
        let mut holding: Vec<_> = self
            .held
            .iter()
            .filter_map(|job| Some((*job, self.entry(*job)?)))
            .filter(|(_, entry)| entry.known.pool == pool && is_of(entry.known.leaf))
            .filter_map(|(job, entry)| {
                let held = entry.held()?;
                // A run counts once, however many jobs it has.
                let amount = if kind == RUNS { 1 } else { entry.known.with(held.workers)[kind] };
                (amount > 0).then_some((Reverse((held.since, entry.seq)), job, amount))
            })
            .collect();
        holding.sort_unstable();
        for (_, job, amount) in holding {
            if much == 0 {
                break;
            }
            much = much.saturating_sub(amount);
            found.extend(self.key(job));
        }
    }
}
