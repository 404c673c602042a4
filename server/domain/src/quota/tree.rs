//! Navigation in the quota tree: from a queue up to the top, and down to the projects of a group.

use std::collections::BTreeMap;

use super::{Amounts, Pool, Queue, QueueRecord, Quota, Resource};

/// More levels than any tree has: a walk ends here even if the tree has a cycle.
const DEPTH: usize = 64;

#[derive(Debug)]
pub struct Tree<'t> {
    queues: BTreeMap<&'t Queue, &'t QueueRecord>,
}

impl<'t> Tree<'t> {
    #[must_use]
    pub fn of(queues: &'t [QueueRecord]) -> Self {
        Self { queues: queues.iter().map(|one| (&one.queue, one)).collect() }
    }

    #[must_use]
    pub fn get(&self, queue: &Queue) -> Option<&'t QueueRecord> {
        self.queues.get(queue).copied()
    }

    /// All queues, groups first, by name.
    pub fn all(&self) -> impl Iterator<Item = &'t QueueRecord> {
        self.queues.values().copied()
    }

    pub fn projects(&self) -> impl Iterator<Item = &'t Queue> {
        self.all().map(|one| &one.queue).filter(|queue| matches!(queue, Queue::Project(_)))
    }

    /// The children of a group, or the top-level queues.
    pub fn inside(&self, group: Option<&str>) -> impl Iterator<Item = &'t QueueRecord> {
        self.all().filter(move |one| one.parent.as_deref() == group)
    }

    /// The ancestors of a queue, innermost first.
    #[must_use]
    pub fn above(&self, queue: &Queue) -> Vec<&'t QueueRecord> {
        let mut found: Vec<&QueueRecord> = Vec::new();
        let mut parent = self.get(queue).and_then(|one| one.parent.clone());
        while let Some(name) = parent.take().filter(|_| found.len() < DEPTH) {
            let Some(group) = self.get(&Queue::Group(name)) else { break };
            found.push(group);
            parent.clone_from(&group.parent);
        }
        found
    }

    /// The maximum priority for tasks of a queue in a pool: the lowest setting of the queue and its
    /// ancestors. A setting for a whole cluster also applies in its node groups.
    #[must_use]
    pub fn max_priority(&self, queue: &Queue, pool: &Pool) -> Option<i32> {
        let said = self.get(queue).into_iter().chain(self.above(queue)).flat_map(|one| &one.quotas);
        said.filter(|(of, _)| of.has(pool)).filter_map(|(_, quota)| quota.max_priority).min()
    }

    /// Whether a queue is a group, or one of its descendants.
    #[must_use]
    pub fn is_within(&self, queue: &Queue, group: &Queue) -> bool {
        queue == group || self.above(queue).iter().any(|above| above.queue == *group)
    }

    /// The queue of a project, with its ancestors: all of them limit its usage.
    #[must_use]
    pub fn path(&self, project: &str) -> Vec<&'t QueueRecord> {
        let queue = Queue::Project(project.to_owned());
        self.get(&queue).into_iter().chain(self.above(&queue)).collect()
    }
}

impl QueueRecord {
    #[must_use]
    pub fn quota(&self, pool: &Pool) -> Quota {
        self.quotas.get(pool).cloned().unwrap_or_default()
    }

    #[must_use]
    pub fn guarantee(&self, pool: &Pool, resource: &Resource) -> u64 {
        self.quotas.get(pool).and_then(|quota| quota.guarantee.get(resource)).unwrap_or(0)
    }

    /// Maximum usage: its limit, or its guarantee if it may not borrow.
    #[must_use]
    pub fn most(&self, pool: &Pool, resource: &Resource) -> Option<u64> {
        let quota = self.quotas.get(pool)?;
        let own = quota.guarantee.get(resource).filter(|_| !quota.borrow);
        own.into_iter().chain(quota.limit.get(resource)).min()
    }
}

impl Quota {
    /// What its guarantee takes of all GPUs: those of any type, or the sum over the types, whichever is
    /// larger.
    #[must_use]
    pub fn claimed(&self, resource: &Resource) -> u64 {
        let named = self.guarantee.get(resource).unwrap_or(0);
        if *resource != Resource::Gpus {
            return named;
        }
        let typed = |(resource, amount): (&Resource, &u64)| {
            matches!(resource, Resource::GpusOf(_)).then_some(*amount)
        };
        named.max(self.guarantee.0.iter().filter_map(typed).fold(0, u64::saturating_add))
    }
}

impl Amounts {
    pub fn add(&mut self, others: &Self) {
        for (resource, amount) in &others.0 {
            let sum = self.0.entry(resource.clone()).or_default();
            *sum = sum.saturating_add(*amount);
        }
    }
}
