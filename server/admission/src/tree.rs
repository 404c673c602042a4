//! The queue tree as arrays: each node's parent, and its quota of each pool.

use std::collections::HashMap;

use cubeloom_domain::quota::{Pool, Queue, QueueRecord, Quota, Resource};

use crate::amounts::{BOUNDLESS, Kinds, NOTHING, Vector};

/// A queue's quota of a pool, as amounts.
#[derive(Clone, Debug)]
pub(crate) struct NodeQuota {
    pub(crate) guarantee: Vector,
    /// Maximum usage: its limit, or its guarantee if it may not borrow.
    pub(crate) bound: Vector,
    pub(crate) per_person: Vector,
    pub(crate) weight: f64,
    pub(crate) lends: bool,
    pub(crate) borrows: bool,
}

impl NodeQuota {
    fn new(quota: &Quota, kinds: &Kinds) -> Self {
        let mut bound = kinds.dense(&quota.limit, u64::MAX);
        if !quota.borrow {
            // With a guarantee, resources that it does not name are not bounded by it.
            let absent = if quota.guarantee.is_empty() { 0 } else { u64::MAX };
            let own = kinds.dense(&quota.guarantee, absent);
            bound = std::array::from_fn(|at| bound[at].min(own[at]));
        }
        Self {
            guarantee: kinds.dense(&quota.guarantee, 0),
            bound,
            per_person: kinds.dense(&quota.per_person, u64::MAX),
            weight: f64::from(quota.weight.max(1)) / f64::from(Quota::usual_weight()),
            lends: quota.lend,
            borrows: quota.borrow,
        }
    }

    fn usual() -> Self {
        let (guarantee, bound, per_person) = (NOTHING, BOUNDLESS, BOUNDLESS);
        Self { guarantee, bound, per_person, weight: 1.0, lends: true, borrows: true }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub(crate) queues: Vec<Queue>,
    pub(crate) parents: Vec<Option<u32>>,
    /// By node, then by pool.
    quotas: Vec<NodeQuota>,
    pools: usize,
    index: HashMap<Queue, u32>,
}

impl Tree {
    /// Builds the tree from stored records. An unknown or circular parent is ignored: the queue becomes a
    /// top-level one.
    pub(crate) fn new(
        records: &[QueueRecord],
        cluster: &str,
        pools: &[Option<String>],
        kinds: &Kinds,
    ) -> Self {
        let mut tree = Self { pools: pools.len(), ..Self::default() };
        for record in records {
            tree.index.insert(record.queue.clone(), tree.queues.len() as u32);
            tree.queues.push(record.queue.clone());
            for node_group in pools {
                let pool = Pool { cluster: cluster.to_owned(), node_group: node_group.clone() };
                let quota = record.quotas.get(&pool);
                tree.quotas.push(quota.map_or_else(NodeQuota::usual, |quota| NodeQuota::new(quota, kinds)));
            }
        }
        let parent = |record: &QueueRecord| {
            let group = Queue::Group(record.parent.clone()?);
            tree.index.get(&group).copied()
        };
        tree.parents = records.iter().map(parent).collect();
        for node in 0..tree.queues.len() as u32 {
            if tree.path(node).take(tree.queues.len() + 1).count() > tree.queues.len() {
                tree.parents[node as usize] = None;
            }
        }
        tree
    }

    /// The GPU types that quotas name.
    pub(crate) fn types(records: &[QueueRecord]) -> impl Iterator<Item = &str> {
        let amounts = records.iter().flat_map(|record| record.quotas.values()).flat_map(|quota| {
            [&quota.guarantee, &quota.limit, &quota.per_person]
                .into_iter()
                .flat_map(|amounts| amounts.0.keys())
        });
        amounts.filter_map(|resource| match resource {
            Resource::GpusOf(name) => Some(name.as_str()),
            _ => None,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.queues.len()
    }

    pub(crate) fn pools(&self) -> usize {
        self.pools
    }

    pub(crate) fn find(&self, project: &str) -> Option<u32> {
        self.index.get(&Queue::Project(project.to_owned())).copied()
    }

    /// The node of a project. A project without a record becomes a top-level queue.
    pub(crate) fn project(&mut self, project: &str) -> u32 {
        if let Some(node) = self.find(project) {
            return node;
        }
        let (queue, node) = (Queue::Project(project.to_owned()), self.queues.len() as u32);
        self.index.insert(queue.clone(), node);
        self.queues.push(queue);
        self.parents.push(None);
        self.quotas.extend((0..self.pools).map(|_| NodeQuota::usual()));
        node
    }

    /// A node and its ancestors, up to the top.
    pub(crate) fn path(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(Some(node), |node| self.parents[*node as usize])
    }

    /// The index of a node's amounts of a pool.
    pub(crate) fn at(&self, node: u32, pool: u32) -> usize {
        node as usize * self.pools + pool as usize
    }

    pub(crate) fn quota(&self, node: u32, pool: u32) -> &NodeQuota {
        &self.quotas[self.at(node, pool)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(name: &str, parent: Option<&str>) -> QueueRecord {
        let quotas = std::collections::BTreeMap::new();
        QueueRecord { queue: Queue::Group(name.into()), parent: parent.map(Into::into), quotas, revision: 1 }
    }

    #[test]
    fn a_circle_is_opened_and_a_missing_parent_passed_over() {
        let records = [group("a", Some("b")), group("b", Some("a")), group("c", Some("gone"))];
        let tree = Tree::new(&records, "local", &[None], &Kinds::default());
        assert!((0..3).all(|node| tree.path(node).take(9).count() <= 2));
        assert_eq!(tree.parents[2], None);
    }
}
