//! The wanted Volcano queues: the quota tree, as far as it concerns this cluster. Pure.
//!
//! Volcano accepts a tree only if each queue has at least the sum of its children, and `guarantee` <=
//! `deserved` <= `capability` in each queue. The result meets this, even for quotas that exceed a shrunken
//! cluster.

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::executor::Facts;
use cubeloom_domain::kubernetes::{CardFacts, queue_name};
use cubeloom_domain::quota::tree::Tree;
use cubeloom_domain::quota::{Pool, Queue, QueueRecord, Quota, Resource};

/// Parent of all top-level queues.
pub const ROOT: &str = "root";

/// Amounts by Kubernetes resource name: millicores, bytes, GPUs, GPU slices.
pub type Amounts = BTreeMap<String, u64>;

/// A queue's amounts and parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    pub parent: String,
    /// Its weight among its siblings for resources that no queue deserves.
    pub weight: u32,
    /// Reserved even while idle: guaranteed and not lent.
    pub guarantee: Amounts,
    /// Available to the queue as soon as it needs it: its guarantee.
    pub deserved: Amounts,
    /// The queue's limit; empty if unlimited. When comparing queues, Volcano treats a missing resource as
    /// zero. So a limited queue names every resource of the cluster.
    pub capability: Amounts,
}

impl Spec {
    /// A top-level queue without amounts.
    pub fn empty() -> Self {
        let (guarantee, deserved, capability) = Default::default();
        Self { parent: ROOT.into(), weight: 1, guarantee, deserved, capability }
    }
}

/// A wanted queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its name on the cluster.
    pub name: String,
    /// The group or project.
    pub queue: Queue,
    pub spec: Spec,
}

/// The wanted queues of a cluster, parents before children. A group or project gets a queue if its tree has a
/// quota on this cluster: a project's jobs count to the groups above it.
pub fn wanted(records: &[QueueRecord], facts: &Facts, cards: &CardFacts) -> Vec<Wanted> {
    let tree = Tree::of(records);
    let mut share = Share::of(facts, cards);
    let is_at_top = |record: &&QueueRecord| {
        let group = record.parent.clone().map(Queue::Group);
        group.is_none_or(|group| tree.get(&group).is_none())
    };
    let branches = tree.all().filter(is_at_top).map(|record| share.branch(&tree, record));
    let branches: Vec<Branch<'_>> = branches.filter(|branch| branch.is_said).collect();
    for branch in &branches {
        branch.cover(&mut share.capacity);
    }
    let mut wanted = Vec::new();
    for branch in branches {
        share.write(branch, ROOT, None, &mut wanted);
    }
    wanted
}

/// A queue with its children.
struct Branch<'t> {
    record: &'t QueueRecord,
    inside: Vec<Branch<'t>>,
    guarantee: Amounts,
    deserved: Amounts,
    /// Its configured limit.
    bound: Amounts,
    /// Whether it or a descendant has a quota on this cluster.
    is_said: bool,
    /// Whether it or a descendant has a limit.
    is_bounded: bool,
}

impl Branch<'_> {
    /// Raises the capacity to what is promised: the cluster may have shrunk.
    fn cover(&self, capacity: &mut Amounts) {
        for (name, amount) in self.deserved.iter().chain(&self.bound) {
            let has = capacity.entry(name.clone()).or_default();
            *has = (*has).max(*amount);
        }
        self.inside.iter().for_each(|branch| branch.cover(capacity));
    }
}

/// Capacity and pools of a cluster.
struct Share {
    pools: Vec<Pool>,
    /// The counted resources, and their names on the cluster.
    counted: Vec<(Resource, String)>,
    capacity: Amounts,
    mig: BTreeSet<String>,
}

impl Share {
    fn of(facts: &Facts, cards: &CardFacts) -> Self {
        let pool = |node_group| Pool { cluster: facts.cluster.clone(), node_group };
        let groups = facts.node_groups.iter().map(|group| pool(Some(group.clone())));
        let slices = |profile: &String| (Resource::GpusOf(profile.clone()), cards.slices(profile));
        let counted: Vec<(Resource, String)> = [
            (Resource::Cpu, "cpu".to_owned()),
            (Resource::Memory, "memory".to_owned()),
            (Resource::Gpus, cards.resource.clone()),
        ]
        .into_iter()
        .chain(cards.mig.iter().map(slices))
        .collect();
        let mut capacity = Amounts::new();
        for node in &facts.nodes {
            let whole = [
                ("cpu".to_owned(), node.cpu.0),
                ("memory".to_owned(), node.memory.0),
                (cards.resource.clone(), node.gpus.len() as u64),
            ];
            let mig = node.mig.iter().map(|(profile, count)| (cards.slices(profile), u64::from(*count)));
            for (name, amount) in whole.into_iter().chain(mig).filter(|(_, amount)| *amount > 0) {
                let sum = capacity.entry(name).or_default();
                *sum = sum.saturating_add(amount);
            }
        }
        let mig = cards.mig.iter().cloned().collect();
        Self { pools: groups.chain([pool(None)]).collect(), counted, capacity, mig }
    }

    fn branch<'t>(&self, tree: &Tree<'t>, record: &'t QueueRecord) -> Branch<'t> {
        let inside: Vec<Branch<'t>> = match &record.queue {
            Queue::Group(name) => tree.inside(Some(name)).map(|one| self.branch(tree, one)).collect(),
            Queue::Project(_) => Vec::new(),
        };
        let quotas: Vec<&Quota> = self.pools.iter().filter_map(|pool| record.quotas.get(pool)).collect();
        let kept: Vec<&Quota> = quotas.iter().copied().filter(|quota| !quota.lend).collect();
        let guarantee = self.least(&kept, inside.iter().map(|branch| &branch.guarantee));
        let deserved = self.least(&quotas, inside.iter().map(|branch| &branch.deserved));
        let bounds =
            self.counted.iter().map(|(resource, name)| Some((name.clone(), self.bound(record, resource)?)));
        let bound: Amounts = bounds.flatten().collect();
        Branch {
            record,
            guarantee,
            deserved,
            is_said: !quotas.is_empty() || inside.iter().any(|branch| branch.is_said),
            is_bounded: !bound.is_empty() || inside.iter().any(|branch| branch.is_bounded),
            bound,
            inside,
        }
    }

    /// A queue's guarantee, or the sum of its children's if that is more.
    fn least<'a>(&self, quotas: &[&Quota], inside: impl Iterator<Item = &'a Amounts>) -> Amounts {
        let mut others = Amounts::new();
        for (name, amount) in inside.flatten() {
            let sum = others.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*amount);
        }
        let amounts = self.counted.iter().map(|(resource, name)| {
            let own = quotas.iter().map(|quota| self.claimed(quota, resource)).fold(0, u64::saturating_add);
            (name.clone(), own.max(others.get(name).copied().unwrap_or(0)))
        });
        amounts.filter(|(_, amount)| *amount > 0).collect()
    }

    /// The guarantee of a resource. GPU slices are separate resources.
    fn claimed(&self, quota: &Quota, resource: &Resource) -> u64 {
        let own = quota.guarantee.get(resource).unwrap_or(0);
        if *resource != Resource::Gpus {
            return own;
        }
        let typed = quota.guarantee.0.iter().filter_map(|(one, amount)| match one {
            Resource::GpusOf(kind) if !self.mig.contains(kind) => Some(*amount),
            _ => None,
        });
        own.max(typed.fold(0, u64::saturating_add))
    }

    /// The limit of a queue over all pools; `None` unless each pool has a limit.
    fn bound(&self, record: &QueueRecord, resource: &Resource) -> Option<u64> {
        let of_pool = |pool: &Pool| record.quotas.get(pool).and_then(|quota| bound(quota, resource));
        self.pools.iter().try_fold(0, |sum: u64, pool| Some(sum.saturating_add(of_pool(pool)?)))
    }

    /// Adds a queue, then its children. `above` is the parent's capability.
    fn write(&self, branch: Branch<'_>, parent: &str, above: Option<&Amounts>, wanted: &mut Vec<Wanted>) {
        let most = |(name, has): (&String, &u64)| {
            let bounds = branch.bound.get(name).into_iter().chain(above.and_then(|above| above.get(name)));
            let own = branch.deserved.get(name).copied().unwrap_or(0);
            // Volcano treats a zero limit as no limit.
            (name.clone(), bounds.min().unwrap_or(has).max(&own).max(&1).to_owned())
        };
        let capability: Amounts =
            if branch.is_bounded { self.capacity.iter().map(most).collect() } else { Amounts::new() };
        let name = queue_name(&branch.record.queue);
        let spec = Spec {
            parent: parent.to_owned(),
            weight: self.weight(branch.record),
            guarantee: branch.guarantee,
            deserved: branch.deserved,
            capability: capability.clone(),
        };
        wanted.push(Wanted { name: name.clone(), queue: branch.record.queue.clone(), spec });
        for inside in branch.inside {
            self.write(inside, &name, Some(&capability), wanted);
        }
    }

    /// The weight set for the whole cluster, else the largest of its node groups.
    fn weight(&self, record: &QueueRecord) -> u32 {
        let whole = self
            .pools
            .iter()
            .filter(|pool| pool.node_group.is_none())
            .find_map(|pool| record.quotas.get(pool));
        let groups = self.pools.iter().filter_map(|pool| record.quotas.get(pool)).map(|quota| quota.weight);
        whole.map(|quota| quota.weight).or(groups.max()).unwrap_or_else(Quota::usual_weight)
    }
}

/// The limit of a queue in one pool: its configured limit, and its guarantee if it may not borrow.
fn bound(quota: &Quota, resource: &Resource) -> Option<u64> {
    let own = match (quota.borrow, quota.guarantee.is_empty()) {
        (true, _) => None,
        (false, true) => Some(0),
        (false, false) => quota.guarantee.get(resource),
    };
    own.into_iter().chain(quota.limit.get(resource)).min()
}
