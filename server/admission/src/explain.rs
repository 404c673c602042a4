//! Why a job is pending, as data.
//!
//! The holders to name are found by trial: a cycle runs without them, and they are named only if the job
//! starts in it. So the result also accounts for what jobs ahead would take of the capacity that becomes
//! free.

use cubeloom_domain::Timestamp;
use cubeloom_domain::quota::{Pool, Queue};
use cubeloom_domain::waiting::{Explanation, Head, Holder, Shortage, WaitRule};

use crate::amounts::{GPUS, KINDS, RUNS, Vector};
use crate::desk::{Desk, JobId};
use crate::fits::Block;
use crate::job::{Known, Spec, State};
use crate::ledger::pools_of;
use crate::order::Age;
use crate::pass::Passing;

/// Maximum number of holders named.
const NAMED: usize = 64;
/// Up to this many holders, each is tested for whether it is needed.
const TRIED: usize = 16;

impl Desk {
    /// Why a job is pending. `None` when it is not, or when it would start now.
    #[must_use]
    pub fn explain(&self, job: JobId, now: Timestamp) -> Option<Explanation> {
        let entry = self.entry(job)?;
        let State::Waiting { .. } = &entry.state else { return None };
        if entry.known.spec.is_foreign && !self.leads_all {
            return self.leading_all().explain(job, now);
        }
        let known = &entry.known;
        let passing = Passing::new(self, now, &[]).run(usize::MAX, Some(job));
        if passing.out.starts.iter().any(|start| start.job == job) {
            return None;
        }
        let block = self.block_of(&passing, job, known)?;
        let holders = if matches!(block.rule, WaitRule::Faulty | WaitRule::NeverFits) {
            Vec::new()
        } else {
            self.holders(job, known, &block, now)
        };
        let pool = &self.pools[block.pool as usize];
        let queue = |node: u32| self.tree.queues[node as usize].clone();
        let named = |at: u32| self.named[at as usize].limit.name.clone();
        let mut passing = passing;
        let shortages = self.shortages(&mut passing, known, &block);
        Some(Explanation {
            parallelism: None,
            active: None,
            rule: block.rule,
            pool: Pool { cluster: self.cluster.clone(), node_group: pool.node_group.clone() },
            queue: block.node.map(queue),
            named: block.named.map(named),
            faulty: self.faulty_for(&block, &shortages),
            shortages,
            misfit: self.misfit(known, &block),
            holders: holders.into_iter().filter_map(|holder| self.holder(holder)).collect(),
            ahead: self.before(&passing, job).unwrap_or_else(|| self.ahead(job, now)),
            head: block.behind.and_then(|ahead| Some(head(self.spec(ahead)?))),
            start: None,
        })
    }

    /// The block that a cycle found for a job. For a job that the cycle did not reach, the head of line that
    /// it must not overtake.
    fn block_of(&self, passing: &Passing<'_>, job: JobId, known: &Known) -> Option<Block> {
        if let Some((_, block)) = passing.out.waits.iter().rev().find(|(waits, _)| *waits == job) {
            return Some(*block);
        }
        let least = known.least();
        let own = self
            .never(known)
            .or_else(|| self.faulty_block(job, known))
            .or_else(|| self.named_block(&passing.future, &passing.named_before, known, passing.now))
            .or_else(|| self.bound_block(&passing.future, known, &least))
            .or_else(|| self.pool_block(&passing.future, known, &least));
        own.or_else(|| {
            let head = passing.heads.iter().find(|head| self.is_in(known, head.scope))?;
            Some(Block { behind: Some(head.job), ..Block::new(WaitRule::Behind, known.pool) })
        })
    }

    /// How many jobs of its pool a cycle left pending before it reached this job. Jobs that wait for
    /// something else than this job needs do not count.
    fn before(&self, passing: &Passing<'_>, job: JobId) -> Option<u32> {
        let at = passing.out.waits.iter().position(|(waits, _)| *waits == job)?;
        let pool = self.entry(job)?.known.pool;
        let counts = |(other, block): &&(JobId, Block)| {
            let alone = matches!(
                block.rule,
                WaitRule::Faulty
                    | WaitRule::NeverFits
                    | WaitRule::PersonsCap
                    | WaitRule::NamedLimit
                    | WaitRule::Apart
            );
            !alone && self.entry(*other).is_some_and(|entry| entry.known.pool == pool)
        };
        u32::try_from(passing.out.waits[..at].iter().filter(counts).count()).ok()
    }

    /// How many jobs pending for the same pool are ahead, by priority with aging, then by age.
    fn ahead(&self, job: JobId, now: Timestamp) -> u32 {
        let Some(entry) = self.entry(job) else { return 0 };
        let State::Waiting { since, .. } = entry.state else { return 0 };
        let place = (std::cmp::Reverse(self.class(entry.known.spec.priority, since, now)), entry.age(since));
        let lanes = self.lanes.iter().filter(|((_, pool), _)| *pool == entry.known.pool);
        let before = lanes.flat_map(|(_, lane)| lane).map(|(priority, jobs)| {
            let is_before = |(age, _): &&(Age, JobId)| {
                (std::cmp::Reverse(self.class(priority.0, age.0, now)), *age) < place
            };
            let counts = |(_, other): &&(Age, JobId)| {
                self.entry(*other).is_some_and(|entry| !self.has_lapsed(*other, &entry.known, now))
            };
            jobs.iter().take_while(is_before).filter(counts).count()
        });
        u32::try_from(before.sum::<usize>()).unwrap_or(u32::MAX)
    }

    /// Every resource that is too scarce by the rule.
    fn shortages(&self, passing: &mut Passing<'_>, known: &Known, block: &Block) -> Vec<Shortage> {
        let ledger = &passing.future;
        let mut asked = known.least();
        let (held, limit): (Vector, Vector) = match block.rule {
            WaitRule::Limit | WaitRule::NoBorrowing => {
                asked = ledger.asked(known, &asked);
                let node = block.node.unwrap_or(known.leaf);
                (ledger.held[self.tree.at(node, known.pool)], self.tree.quota(node, known.pool).bound)
            }
            WaitRule::PersonsCap => {
                asked = ledger.asked_of_person(known, &asked);
                (ledger.of_person(known), self.tree.quota(known.leaf, known.pool).per_person)
            }
            WaitRule::Capacity | WaitRule::Faulty | WaitRule::NotLent => {
                let pool = block.pool;
                (ledger.in_pool[pool as usize], self.pools[pool as usize].capacity)
            }
            WaitRule::NeverFits => match block.node {
                Some(node) => {
                    let quota = self.tree.quota(node, known.pool);
                    // The cap per person bounds each job of the project, too.
                    let most = |kind: usize| quota.bound[kind].min(quota.per_person[kind]);
                    let own = node == known.leaf;
                    ([0; KINDS], if own { std::array::from_fn(most) } else { quota.bound })
                }
                None => ([0; KINDS], self.pools[block.pool as usize].capacity),
            },
            WaitRule::NamedLimit
            | WaitRule::Behind
            | WaitRule::CoolDown
            | WaitRule::Leaving
            | WaitRule::Scattered
            | WaitRule::Apart
            | WaitRule::TaskParallelism
            | WaitRule::PipelineParallelism => return Vec::new(),
        };
        let kept = if block.rule == WaitRule::NotLent { ledger.kept_in(block.pool) } else { [0; KINDS] };
        let guarantee = &self.tree.quota(known.leaf, known.pool).guarantee;
        let own = &ledger.held[self.tree.at(known.leaf, known.pool)];
        let one = |kind: usize| {
            let free = limit[kind].saturating_sub(held[kind]).saturating_sub(kept[kind]);
            let is_short = asked[kind] > 0 && (asked[kind] > free || kind == block.kind);
            is_short.then(|| Shortage {
                resource: self.kinds.resource(kind),
                asked: asked[kind],
                free,
                guaranteed: Some(guarantee[kind]).filter(|amount| *amount > 0),
                borrowed: Some(own[kind].saturating_sub(guarantee[kind])).filter(|amount| *amount > 0),
                limit: Some(limit[kind]).filter(|amount| *amount < u64::MAX),
                held: held[kind],
            })
        };
        self.kinds.indices().filter_map(one).collect()
    }

    /// Jobs whose end would let this job start in the next cycle. The list is small but not minimal.
    fn holders(&self, job: JobId, known: &Known, block: &Block, now: Timestamp) -> Vec<JobId> {
        let candidates = self.candidates(known, block);
        let starts = |gone: &[JobId]| {
            let passing = Passing::new(self, now, gone).run(usize::MAX, Some(job));
            passing.out.starts.iter().any(|start| start.job == job)
        };
        let most = candidates.len().min(NAMED);
        let mut count = 1;
        while count <= most && !starts(&candidates[..count]) {
            count = if count < most { (count * 2).min(most) } else { most + 1 };
        }
        if count > most || most == 0 {
            return Vec::new();
        }
        let mut least = count / 2 + 1;
        while least < count {
            let middle = usize::midpoint(least, count);
            if starts(&candidates[..middle]) {
                count = middle;
            } else {
                least = middle + 1;
            }
        }
        let mut named = candidates[..count].to_vec();
        if named.len() <= TRIED {
            for at in (0..named.len()).rev() {
                let one = named.remove(at);
                if !starts(&named) {
                    named.insert(at, one);
                }
            }
        }
        // A job behind it may be owed the capacity: only a complete cycle shows that.
        let whole = Passing::new(self, now, &named).run(usize::MAX, None);
        if !whole.out.starts.iter().any(|start| start.job == job) {
            named.clear();
        }
        named
    }

    /// Jobs that hold what the job needs: first those that leave first, then the largest by the scarce
    /// resource.
    fn candidates(&self, known: &Known, block: &Block) -> Vec<JobId> {
        let is_in_the_way = |holder: &Known| match block.rule {
            WaitRule::PersonsCap => {
                (holder.leaf, holder.pool, holder.person) == (known.leaf, known.pool, known.person)
            }
            WaitRule::Apart => holder.spec.run == known.spec.run,
            WaitRule::NamedLimit => holder.named.iter().any(|name| block.named == Some(*name)),
            WaitRule::Limit | WaitRule::NoBorrowing => {
                holder.pool == known.pool && self.tree.path(holder.leaf).any(|node| block.node == Some(node))
            }
            _ => pools_of(known.pool).any(|pool| pool == 0 || holder.pool == pool),
        };
        let kind = self.short_kind(known, block);
        let mut found: Vec<_> = self
            .held
            .iter()
            .filter_map(|job| Some((*job, self.entry(*job)?)))
            .filter(|(_, entry)| is_in_the_way(&entry.known))
            .filter_map(|(job, entry)| {
                let held = entry.held()?;
                let amount = entry.known.with(held.workers)[kind];
                // Each job counts as one run, whatever else it holds.
                let amount = if kind == RUNS { 1 } else { amount };
                let counts = amount > 0 || matches!(block.rule, WaitRule::NamedLimit | WaitRule::Apart);
                counts.then_some((
                    held.leaving.is_none(),
                    std::cmp::Reverse(amount),
                    std::cmp::Reverse(held.since),
                    job,
                ))
            })
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(.., job)| job).collect()
    }

    /// The resource that decides which holders are named. For a job queued behind another, the resource that
    /// the other lacks.
    fn short_kind(&self, known: &Known, block: &Block) -> usize {
        let head = block.behind.and_then(|head| self.entry(head)).map_or(known, |entry| &entry.known);
        let own = || self.pool_block(&self.ledger, head, &head.least()).map(|block| block.kind);
        match block.rule {
            // GPUs are the scarcest resource.
            WaitRule::Scattered => {
                if known.least()[GPUS] > 0 {
                    GPUS
                } else {
                    0
                }
            }
            WaitRule::Behind
            | WaitRule::Leaving
            | WaitRule::CoolDown
            | WaitRule::NamedLimit
            | WaitRule::Apart => own().unwrap_or(0),
            _ => block.kind,
        }
    }

    fn holder(&self, job: JobId) -> Option<Holder> {
        let entry = self.entry(job)?;
        let spec = &entry.known.spec;
        let held = entry.known.with(entry.held()?.workers);
        Some(Holder {
            key: spec.key.clone(),
            project: spec.project.clone(),
            person: spec.person.clone(),
            amounts: self.kinds.amounts(&held),
        })
    }

    /// All queues, for tests and reports.
    #[must_use]
    pub fn queues(&self) -> Vec<Queue> {
        self.tree.queues.clone()
    }
}

fn head(spec: &Spec) -> Head {
    Head { key: spec.key.clone(), name: spec.name.clone(), project: spec.project.clone() }
}
