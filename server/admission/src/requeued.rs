//! What another tree of queues would change: the passes of this moment are made on two copies of the desk.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use cubeloom_domain::Timestamp;
use cubeloom_domain::quota::QueueRecord;

use crate::amounts::RUNS;
use crate::desk::{Desk, JobId};

/// How many passes are made at the most.
const PASSES: usize = 32;

/// What differs between two trees; jobs by their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requeued {
    /// What runs and is more than its queue may hold: it goes on, and nothing more of the queue starts.
    pub over: BTreeSet<String>,
    /// What runs and would have to give back what it has borrowed: as a whole, or some of its workers.
    pub give_back: BTreeSet<String>,
    /// What waits and would start.
    pub start: BTreeSet<String>,
    /// What waits, would start as it is, and would not any more.
    pub wait: BTreeSet<String>,
}

/// What becomes of the jobs of this moment.
struct Settled {
    over: BTreeSet<String>,
    given_back: BTreeSet<String>,
    started: BTreeSet<String>,
}

impl Desk {
    /// What would become of what runs and waits now under another tree of queues that does not under `before`. What jobs do
    /// later is not guessed: those that have to give back end within the grace period, and no other does.
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

    /// Makes passes until nothing starts and nothing gives back any more.
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

    /// What was told to go has gone. False where nothing was.
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

    /// The newest jobs of each queue beyond what it may hold.
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

    /// Adds the newest jobs of a queue that hold so much of a pool together.
    fn newest(&self, node: u32, pool: u32, kind: usize, mut much: u64, found: &mut BTreeSet<String>) {
        let is_of = |leaf: u32| self.tree.path(leaf).any(|one| one == node);
        let mut holding: Vec<_> = self
            .held
            .iter()
            .filter_map(|job| Some((*job, self.entry(*job)?)))
            .filter(|(_, entry)| entry.known.pool == pool && is_of(entry.known.leaf))
            .filter_map(|(job, entry)| {
                let held = entry.held()?;
                // A run holds one, however many jobs of it there are.
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
