//! Who would be affected by an edit: what stands and waits now, under the tree as it is and as it would be. Nothing of what
//! jobs will do later is guessed: it is exact for this moment.

use std::collections::{BTreeMap, BTreeSet};

use super::held::{self, Job};
use super::room::Rooms;
use super::tree::Tree;
use super::{Pool, Queue, QueueRecord, Resource};

/// What an edit would do; each a position in the list of jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// Running jobs that would be more than their queue may hold: they go on, and nothing more of it starts.
    pub over: BTreeSet<usize>,
    /// Running jobs that would have to give back what they have borrowed.
    pub give_back: BTreeSet<usize>,
    /// Waiting jobs that would start.
    pub start: BTreeSet<usize>,
    /// Waiting jobs that would start as it is, and not any more.
    pub wait: BTreeSet<usize>,
}

/// The jobs and the machines of this moment.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'s> {
    /// What the pools have.
    pub rooms: &'s Rooms,
    /// What runs.
    pub running: &'s [Job],
    /// What waits, those first that come first.
    pub waiting: &'s [Job],
}

/// What differs between two trees.
#[must_use]
pub fn effect(scene: Scene<'_>, before: &[QueueRecord], after: &[QueueRecord]) -> Effect {
    let (now, then) = (Foreseen::of(scene, before), Foreseen::of(scene, after));
    let difference =
        |one: &BTreeSet<usize>, other: &BTreeSet<usize>| one.difference(other).copied().collect();
    Effect {
        over: difference(&then.over, &now.over),
        give_back: difference(&then.given_back, &now.given_back),
        start: difference(&then.started, &now.started),
        wait: difference(&now.started, &then.started),
    }
}

/// What one pass over the waiting jobs would do.
#[derive(Debug, Default)]
struct Foreseen {
    over: BTreeSet<usize>,
    given_back: BTreeSet<usize>,
    started: BTreeSet<usize>,
}

impl Foreseen {
    fn of(scene: Scene<'_>, queues: &[QueueRecord]) -> Self {
        let mut pass = Pass::new(scene, queues);
        let mut foreseen = Self { over: pass.over(), ..Self::default() };
        for (at, job) in scene.waiting.iter().enumerate() {
            if !pass.is_allowed(job) {
                continue;
            }
            let Some(taken) = pass.take_back(job) else { continue };
            for one in taken {
                pass.running.remove(&one);
                foreseen.given_back.insert(one);
            }
            pass.started.push(job);
            foreseen.started.insert(at);
        }
        foreseen
    }
}

struct Pass<'p> {
    scene: Scene<'p>,
    tree: Tree<'p>,
    running: BTreeSet<usize>,
    started: Vec<&'p Job>,
    members: BTreeMap<&'p Queue, BTreeSet<&'p str>>,
}

impl<'p> Pass<'p> {
    fn new(scene: Scene<'p>, queues: &'p [QueueRecord]) -> Self {
        let tree = Tree::of(queues);
        let mut members: BTreeMap<&Queue, BTreeSet<&str>> = BTreeMap::new();
        for project in tree.projects() {
            for one in tree.path(project.name()) {
                members.entry(&one.queue).or_default().insert(project.name());
            }
        }
        Self { scene, tree, running: (0..scene.running.len()).collect(), started: Vec::new(), members }
    }

    /// What runs, and what this pass has started.
    fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.running.iter().map(|at| &self.scene.running[*at]).chain(self.started.iter().copied())
    }

    fn held(&self, queue: &QueueRecord, pool: &Pool, resource: &Resource) -> u64 {
        let members = self.members.get(&queue.queue);
        let of_queue = |job: &&Job| members.is_some_and(|members| members.contains(job.project.as_str()));
        held::sum(self.jobs().filter(of_queue), pool, resource)
    }

    /// The newest jobs of each queue beyond what it may hold.
    fn over(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for queue in self.tree.all() {
            for (pool, quota) in &queue.quotas {
                let bounds = quota.limit.0.keys().chain(quota.guarantee.0.keys());
                for resource in bounds.collect::<BTreeSet<_>>() {
                    let Some(most) = queue.most(pool, resource) else { continue };
                    let held = self.held(queue, pool, resource);
                    self.newest(queue, pool, resource, held.saturating_sub(most), &mut found);
                }
            }
        }
        found
    }

    /// Adds the newest jobs of a queue that hold this much together.
    fn newest(
        &self,
        queue: &QueueRecord,
        pool: &Pool,
        resource: &Resource,
        mut much: u64,
        found: &mut BTreeSet<usize>,
    ) {
        let members = self.members.get(&queue.queue);
        for at in newest_first(self.scene.running, &self.running) {
            let job = &self.scene.running[at];
            let is_member = members.is_some_and(|members| members.contains(job.project.as_str()));
            let holds = if *resource == Resource::Runs { 1 } else { job.amount(resource) };
            if much == 0 {
                break;
            }
            if is_member && job.pool == *pool && holds > 0 {
                much = much.saturating_sub(holds);
                found.insert(at);
            }
        }
    }

    /// Whether a job may start as far as quotas say.
    fn is_allowed(&self, job: &Job) -> bool {
        self.tree.path(&job.project).into_iter().all(|queue| {
            let fits = job.amounts.0.iter().all(|(resource, asked)| {
                let then = self.held(queue, &job.pool, resource).saturating_add(*asked);
                queue.most(&job.pool, resource).is_none_or(|most| then <= most)
            });
            fits && !self.over_typed(queue, job) && !self.over_runs(queue, job)
        })
    }

    /// Whether a queue's bound for cards of some type, which the job calls otherwise, is against it.
    fn over_typed(&self, queue: &QueueRecord, job: &Job) -> bool {
        let Some(quota) = queue.quotas.get(&job.pool) else { return false };
        let typed = quota.limit.0.keys().filter(|resource| matches!(resource, Resource::GpusOf(_)));
        typed.into_iter().any(|resource| {
            let asked = job.amount(resource);
            let most = queue.most(&job.pool, resource);
            asked > 0
                && most.is_some_and(|most| self.held(queue, &job.pool, resource).saturating_add(asked) > most)
        })
    }

    fn over_runs(&self, queue: &QueueRecord, job: &Job) -> bool {
        let Some(most) = queue.most(&job.pool, &Resource::Runs) else { return false };
        let goes_on = self.jobs().any(|other| other.run == job.run && other.pool == job.pool);
        !goes_on && self.held(queue, &job.pool, &Resource::Runs) >= most
    }

    /// The resources, of its pool or its cluster, that a job finds too little of when these have ended.
    fn lacks<'j>(&self, job: &'j Job, without: &BTreeSet<usize>) -> BTreeSet<&'j Resource> {
        let mut found = BTreeSet::new();
        for pool in [job.pool.clone(), job.pool.whole()] {
            let Some(room) = self.scene.rooms.get(&pool) else { continue };
            for (resource, asked) in &job.amounts.0 {
                let Some(has) = room.get(resource) else { continue };
                let kept = self.running.difference(without).map(|at| &self.scene.running[*at]);
                let holding = kept.chain(self.started.iter().copied()).filter(|other| pool.has(&other.pool));
                let held = holding.map(|other| other.amount(resource)).fold(0, u64::saturating_add);
                if held.saturating_add(*asked) > has {
                    found.insert(resource);
                }
            }
        }
        found
    }

    /// The jobs that give back what they have borrowed so that this one starts: the newest first, and no more than are
    /// needed; none where there is room. `None` where it cannot start.
    fn take_back(&self, job: &Job) -> Option<BTreeSet<usize>> {
        let mut taken = BTreeSet::new();
        let lacks = self.lacks(job, &taken);
        let own = |resource: &&Resource| self.is_covered(job, resource, job.amount(resource), 0);
        if !lacks.iter().all(own) {
            return None;
        }
        for at in newest_first(self.scene.running, &self.running) {
            let lacks = self.lacks(job, &taken);
            if lacks.is_empty() {
                break;
            }
            let other = &self.scene.running[at];
            if job.pool.whole().has(&other.pool) && lacks.iter().any(|lack| self.lends(other, lack, &taken)) {
                taken.insert(at);
            }
        }
        self.lacks(job, &taken).is_empty().then_some(taken)
    }

    /// Whether a job holds something of a resource that others are guaranteed, when those taken already have ended.
    fn lends(&self, job: &Job, resource: &Resource, taken: &BTreeSet<usize>) -> bool {
        let gone = taken.iter().map(|at| &self.scene.running[*at]);
        let gone = gone.filter(|other| other.project == job.project && other.pool == job.pool);
        let gone = gone.map(|other| other.amount(resource)).fold(0, u64::saturating_add);
        job.amount(resource) > 0 && !self.is_covered(job, resource, 0, gone)
    }

    /// Whether what the job's project holds, so much more and less, is guaranteed: to it, or to a group that it is in.
    fn is_covered(&self, job: &Job, resource: &Resource, more: u64, less: u64) -> bool {
        self.tree.path(&job.project).into_iter().any(|queue| {
            let guarantee = queue.guarantee(&job.pool, resource);
            let held = self.held(queue, &job.pool, resource).saturating_add(more).saturating_sub(less);
            guarantee > 0 && held <= guarantee
        })
    }
}

fn newest_first(jobs: &[Job], of: &BTreeSet<usize>) -> Vec<usize> {
    let mut order: Vec<usize> = of.iter().copied().collect();
    order.sort_by_key(|at| (std::cmp::Reverse(jobs[*at].since), std::cmp::Reverse(*at)));
    order
}
