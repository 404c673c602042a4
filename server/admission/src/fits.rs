//! Whether a job fits, and which rule forbids it.

use cubeloom_domain::sizing::Size;
use cubeloom_domain::waiting::WaitRule;
use cubeloom_domain::{Bytes, Cpu, Timestamp};

use crate::amounts::{Ask, BOUNDLESS, KINDS, PODS, RUNS, Vector, beyond, plus, times};
use crate::desk::{Desk, JobId};
use crate::job::Known;
use crate::ledger::{Ledger, pools_of};

/// What keeps a job pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub rule: WaitRule,
    /// The pool without capacity.
    pub(crate) pool: u32,
    /// The queue whose limit applies.
    pub(crate) node: Option<u32>,
    /// The scarce resource.
    pub(crate) kind: usize,
    /// The concurrency limit.
    pub(crate) named: Option<u32>,
    /// The job that must not be delayed.
    pub behind: Option<JobId>,
    /// When the rule stops blocking, if known.
    pub(crate) until: Option<Timestamp>,
}

impl Block {
    pub(crate) fn new(rule: WaitRule, pool: u32) -> Self {
        Self { rule, pool, node: None, kind: 0, named: None, behind: None, until: None }
    }

    pub(crate) fn of(self, kind: usize) -> Self {
        Self { kind, ..self }
    }

    fn at(self, node: u32) -> Self {
        Self { node: Some(node), ..self }
    }
}

impl Desk {
    /// The most that a project's jobs can hold together in a node group, or on nodes of none. The bounds are
    /// the capacity, the project's quota, its groups' quotas and the cap per person.
    #[must_use]
    pub fn most(&self, project: &str, node_group: Option<&str>) -> Size {
        let pool =
            self.pools.iter().position(|pool| pool.node_group.as_deref() == node_group).unwrap_or(0) as u32;
        let capacities = pools_of(pool).map(|pool| &self.pools[pool as usize].capacity);
        let leaf = self.tree.find(project);
        let bounds = leaf.into_iter().flat_map(|leaf| {
            let own = &self.tree.quota(leaf, pool).per_person;
            self.tree.path(leaf).map(move |node| &self.tree.quota(node, pool).bound).chain([own])
        });
        let most = capacities
            .chain(bounds)
            .fold(BOUNDLESS, |most, bound| std::array::from_fn(|at| most[at].min(bound[at])));
        Size { cpu: Cpu(most[0]), memory: Bytes(most[1]) }
    }

    /// Why a job can never start, even if all others end.
    pub(crate) fn never(&self, job: &Known) -> Option<Block> {
        let least = job.least();
        let block = |pool| Block::new(WaitRule::NeverFits, pool);
        for pool in pools_of(job.pool) {
            let capacity = &self.pools[pool as usize].capacity;
            if let Some(kind) = beyond(&least, &[0; KINDS], capacity) {
                return Some(block(pool).of(kind));
            }
        }
        for node in self.tree.path(job.leaf) {
            let bound = &self.tree.quota(node, job.pool).bound;
            if let Some(kind) = beyond(&least, &[0; KINDS], bound) {
                return Some(block(job.pool).of(kind).at(node));
            }
        }
        let cap = &self.tree.quota(job.leaf, job.pool).per_person;
        let own = beyond(&least, &[0; KINDS], cap).map(|kind| block(job.pool).of(kind).at(job.leaf));
        own.or_else(|| self.never_placed(job))
    }

    /// Whether concurrency limits allow a start. `before` has the use of each limit before this cycle.
    pub(crate) fn named_block(
        &self,
        ledger: &Ledger,
        before: &[u32],
        job: &Known,
        now: Timestamp,
    ) -> Option<Block> {
        let block = |name: u32| Block { named: Some(name), ..Block::new(WaitRule::NamedLimit, job.pool) };
        job.named.iter().find_map(|name| {
            if self.is_held(ledger, *name) {
                return Some(block(*name));
            }
            let named = &self.named[*name as usize];
            let held = ledger.named[*name as usize];
            // Starts of this cycle count as in use, but not among the starts of the last minute yet.
            let fresh = held.saturating_sub(before[*name as usize]);
            let lately = named.lately(now).saturating_add(fresh);
            let full = named.limit.a_minute.is_some_and(|limit| lately >= limit);
            full.then(|| Block { until: named.opens_at(now), ..block(*name) })
        })
    }

    /// Whether a concurrency limit is exhausted.
    pub(crate) fn is_held(&self, ledger: &Ledger, name: u32) -> bool {
        self.named[name as usize].limit.at_once.is_some_and(|limit| ledger.named[name as usize] >= limit)
    }

    /// The bound of a queue or a person that a job would exceed.
    pub(crate) fn bound_block(&self, ledger: &Ledger, job: &Known, amount: &Vector) -> Option<Block> {
        let asked = ledger.asked(job, amount);
        for node in self.tree.path(job.leaf) {
            let quota = self.tree.quota(node, job.pool);
            let held = &ledger.held[self.tree.at(node, job.pool)];
            if let Some(kind) = beyond(&asked, held, &quota.bound) {
                let own = !quota.borrows && quota.bound[kind] <= quota.guarantee[kind];
                let rule = if own { WaitRule::NoBorrowing } else { WaitRule::Limit };
                return Some(Block::new(rule, job.pool).of(kind).at(node));
            }
        }
        let cap = &self.tree.quota(job.leaf, job.pool).per_person;
        if *cap == BOUNDLESS {
            return None;
        }
        let own = ledger.asked_of_person(job, amount);
        let kind = beyond(&own, &ledger.of_person(job), cap)?;
        Some(Block::new(WaitRule::PersonsCap, job.pool).of(kind).at(job.leaf))
    }

    /// The pool that has too little free for a job.
    pub(crate) fn pool_block(&self, ledger: &Ledger, job: &Known, amount: &Vector) -> Option<Block> {
        pools_of(job.pool).find_map(|pool| {
            let capacity = &self.pools[pool as usize].capacity;
            let kind = beyond(amount, &ledger.in_pool[pool as usize], capacity)?;
            Some(Block::new(WaitRule::Capacity, pool).of(kind))
        })
    }

    /// Takes the amount for a job if every rule about amounts allows it.
    ///
    /// # Errors
    /// The block.
    pub(crate) fn take(&self, ledger: &mut Ledger, job: &Known, workers: u32) -> Result<(), Block> {
        let amount = job.with(workers);
        if let Some(block) =
            self.bound_block(ledger, job, &amount).or_else(|| self.pool_block(ledger, job, &amount))
        {
            return Err(block);
        }
        let before = self.keeps_anything.then(|| self.kept_beyond(ledger, job));
        ledger.add(&self.tree, job, &amount);
        match before.and_then(|before| self.keeps_block(ledger, job, &amount, &before)) {
            Some(block) => {
                ledger.remove(&self.tree, job, &amount);
                Err(block)
            }
            None => Ok(()),
        }
    }

    /// The same for one more worker of a running job.
    pub(crate) fn take_worker(&self, ledger: &mut Ledger, job: &Known) -> Result<(), Block> {
        let each = &job.each;
        if let Some(block) =
            self.bound_block(ledger, job, each).or_else(|| self.pool_block(ledger, job, each))
        {
            return Err(block);
        }
        let before = self.keeps_anything.then(|| self.kept_beyond(ledger, job));
        ledger.grow(&self.tree, job, each);
        match before.and_then(|before| self.keeps_block(ledger, job, each, &before)) {
            Some(block) => {
                ledger.shrink(&self.tree, job, each);
                Err(block)
            }
            None => Ok(()),
        }
    }

    /// How many of `most` workers a running job could have beyond what it holds, by the total capacity and
    /// the bounds of its queues and its person. This is for a scheduler that knows none of these bounds. It
    /// ignores what is free now, because other jobs may be preempted.
    #[must_use]
    pub fn may_have(&self, job: JobId, each: &Ask, most: u32) -> u32 {
        let Some(entry) = self.entry(job) else { return 0 };
        let known = &entry.known;
        let each = self.asked(each, known.pool);
        let least = known.least();
        let fits = |workers: u32| {
            let more = times(&each, workers);
            let all = plus(&least, &more);
            let is_there =
                |pool: u32| beyond(&all, &[0; KINDS], &self.pools[pool as usize].capacity).is_none();
            self.bound_block(&self.ledger, known, &more).is_none() && pools_of(known.pool).all(is_there)
        };
        // If a number fits, every smaller one does: binary search finds the bound.
        let (mut fit, mut over) = (0, most + 1);
        while over - fit > 1 {
            let middle = fit + (over - fit) / 2;
            if fits(middle) { fit = middle } else { over = middle }
        }
        fit
    }

    /// What is in use plus what is reserved, in a job's pools.
    fn kept_beyond(&self, ledger: &Ledger, job: &Known) -> Vec<Vector> {
        let sum = |pool: u32| plus(&ledger.in_pool[pool as usize], &ledger.kept_in(pool));
        pools_of(job.pool).map(sum).collect()
    }

    /// Usage plus the guarantees that are not lent must not exceed the capacity. The exception: it exceeded
    /// before, and the job takes only what was reserved for it.
    fn keeps_block(&self, ledger: &Ledger, job: &Known, amount: &Vector, before: &[Vector]) -> Option<Block> {
        let after = self.kept_beyond(ledger, job);
        pools_of(job.pool).zip(after.iter().zip(before)).find_map(|(pool, (after, before))| {
            let capacity = &self.pools[pool as usize].capacity;
            let is_over = |kind: &usize| {
                amount[*kind] > 0 && after[*kind] > capacity[*kind] && after[*kind] > before[*kind]
            };
            let kind = (0..KINDS).filter(|kind| !matches!(*kind, PODS | RUNS)).find(is_over)?;
            Some(Block::new(WaitRule::NotLent, pool).of(kind))
        })
    }
}
