//! Status of each queue: its usage, how much it borrows, and how much it lends.

use std::collections::{BTreeMap, BTreeSet};

use super::held::{self, Job};
use super::room::Rooms;
use super::tree::Tree;
use super::{Pool, Queue, QueueRecord, Resource};

/// Status of a queue for a resource of a pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub guarantee: u64,
    /// Maximum usage. `None` if unlimited.
    pub most: Option<u64>,
    pub held: u64,
    /// Usage above its guarantee.
    pub borrowed: u64,
    /// The part of its guarantee that others use. If several lend, it is split by what they do not use.
    pub lent: u64,
}

/// Status of all queues for one resource of one pool.
pub type Shares = BTreeMap<Queue, Share>;

/// The resources of a pool with a guarantee, a limit or usage.
#[must_use]
pub fn resources(queues: &[QueueRecord], rooms: &Rooms, jobs: &[Job], pool: &Pool) -> Vec<Resource> {
    let plain = [Resource::Cpu, Resource::Memory, Resource::Gpus];
    let room = rooms.get(pool);
    let has = |resource: &Resource| {
        *resource != Resource::Gpus || room.is_some_and(|room| room.get(resource) > Some(0))
    };
    let mut found: BTreeSet<Resource> = plain.into_iter().filter(has).collect();
    for quota in queues.iter().filter_map(|one| one.quotas.get(pool)) {
        let said = [&quota.guarantee, &quota.limit, &quota.per_person];
        found.extend(said.into_iter().flat_map(|amounts| amounts.0.keys().cloned()));
    }
    let held = jobs.iter().filter(|job| job.pool == *pool).flat_map(|job| job.amounts.0.keys());
    found.extend(held.filter(|resource| **resource == Resource::Gpus).cloned());
    found.into_iter().collect()
}

/// Every queue's status for a resource of a pool.
#[must_use]
pub fn shares(
    queues: &[QueueRecord],
    rooms: &Rooms,
    jobs: &[Job],
    pool: &Pool,
    resource: &Resource,
) -> Shares {
    let tree = Tree::of(queues);
    let mut sums: BTreeMap<&Queue, u64> = BTreeMap::new();
    for (project, held) in held::by_project(jobs, pool, resource) {
        for one in tree.path(project) {
            let sum = sums.entry(&one.queue).or_default();
            *sum = sum.saturating_add(held);
        }
    }
    let mut found = Shares::new();
    for one in tree.all() {
        let guarantee = one.guarantee(pool, resource);
        let held = sums.get(&one.queue).copied().unwrap_or(0);
        let borrowed = held.saturating_sub(guarantee);
        let share = Share { guarantee, most: one.most(pool, resource), held, borrowed, lent: 0 };
        found.insert(one.queue.clone(), share);
    }
    // Pods and runs are never lent: they are unlimited.
    if let Some(capacity) = rooms.get(pool).and_then(|room| room.get(resource)) {
        let lending = Lending { tree: &tree, pool };
        // The guarantees of a cluster's node groups are not available to jobs outside of them.
        let groups = rooms.keys().filter(|other| pool.has(other) && *other != pool);
        let promised =
            |other: &Pool| tree.inside(None).map(|one| one.guarantee(other, resource)).sum::<u64>();
        let promised = groups.map(promised).fold(0, u64::saturating_add);
        lending.inside(None, capacity.saturating_sub(promised), 0, &mut found);
    }
    found
}

struct Lending<'l> {
    tree: &'l Tree<'l>,
    pool: &'l Pool,
}

impl Lending<'_> {
    /// Determines what a group's children lend: to each other, and their part of what the group lends as a
    /// whole, `outside`. `has` is the group's guarantee; at the top, the pool's capacity.
    fn inside(&self, group: Option<&str>, has: u64, outside: u64, found: &mut Shares) {
        let queues: Vec<&QueueRecord> = self.tree.inside(group).collect();
        let sum = |part: fn(&Share) -> u64, found: &Shares| {
            queues.iter().map(|one| part(&found[&one.queue])).fold(0, u64::saturating_add)
        };
        let (guaranteed, held) = (sum(|share| share.guarantee, found), sum(|share| share.held, found));
        let borrowed = sum(|share| share.borrowed, found);
        // Capacity without a guarantee is borrowed first. What the group uses beyond its own guarantee is not
        // lent by its children.
        let common = has.saturating_sub(guaranteed);
        let from_others = if group.is_some() { held.saturating_sub(has) } else { 0 };
        let between = borrowed.saturating_sub(from_others).saturating_sub(common);
        let left = common.saturating_sub(borrowed);
        self.share(&queues, between.saturating_add(outside.saturating_sub(left)), found);
        for one in queues {
            if let Queue::Group(name) = &one.queue {
                let share = &found[&one.queue];
                let (guarantee, lent) = (share.guarantee, share.lent);
                self.inside(Some(name), guarantee, lent, found);
            }
        }
    }

    /// Splits what is lent among the lenders, by what they do not use.
    fn share(&self, queues: &[&QueueRecord], lent: u64, found: &mut Shares) {
        let idle = |one: &&QueueRecord| {
            let share = &found[&one.queue];
            let lends = one.quotas.get(self.pool).is_some_and(|quota| quota.lend);
            if lends { share.guarantee.saturating_sub(share.held) } else { 0 }
        };
        let idle: Vec<u64> = queues.iter().map(idle).collect();
        let mut rest_idle = idle.iter().copied().fold(0, u64::saturating_add);
        let mut rest = lent.min(rest_idle);
        for (one, idle) in queues.iter().zip(idle) {
            if rest_idle == 0 {
                break;
            }
            let part = u128::from(rest) * u128::from(idle) / u128::from(rest_idle);
            let part = u64::try_from(part).unwrap_or(idle);
            // The last lender takes the rounding remainder, which never exceeds what it has.
            (rest, rest_idle) = (rest - part, rest_idle - idle);
            if let Some(share) = found.get_mut(&one.queue) {
                share.lent = part;
            }
        }
    }
}
