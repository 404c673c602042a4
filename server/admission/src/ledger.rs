//! Sums of what is in use, by each key that a rule needs: queue and pool, person, run, concurrency limit.

use std::collections::HashMap;

use crate::amounts::{GPUS, NOTHING, RUNS, Vector, minus, plus, typed};
use crate::job::Known;
use crate::tree::Tree;

/// Addition or subtraction.
type Change = fn(&Vector, &Vector) -> Vector;

/// Sums of what is in use.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ledger {
    /// By node and pool: what jobs of that pool use in the node and below it.
    pub(crate) held: Vec<Vector>,
    /// By node and pool: the unused guarantee of the node that is not lent and so stays reserved.
    keeps: Vec<Vector>,
    /// By node and pool: the same, summed over the node's children.
    below: Vec<Vector>,
    /// By pool: what is in use. For the whole cluster, this includes its node groups.
    pub(crate) in_pool: Vec<Vector>,
    /// By pool: what is reserved.
    pub(crate) kept: Vec<Vector>,
    persons: HashMap<(u32, u32, u32), Vector>,
    /// By project, pool and run, in total and per person: number of jobs.
    runs: HashMap<(u32, u32, u128, Option<u32>), u32>,
    /// By concurrency limit: number of jobs.
    pub(crate) named: Vec<u32>,
}

impl Ledger {
    /// An empty ledger.
    pub(crate) fn new(tree: &Tree, named: usize) -> Self {
        let (nodes, pools) = (tree.len(), tree.pools());
        let mut ledger = Self {
            held: Vec::new(),
            in_pool: vec![NOTHING; pools],
            kept: vec![NOTHING; pools],
            named: vec![0; named],
            ..Self::default()
        };
        ledger.reach(tree);
        for node in 0..nodes as u32 {
            for pool in 0..pools as u32 {
                ledger.settle(tree, node, pool);
            }
        }
        ledger
    }

    /// Adds entries for new nodes. They have no guarantee.
    pub(crate) fn reach(&mut self, tree: &Tree) {
        let size = tree.len() * tree.pools();
        for sums in [&mut self.held, &mut self.keeps, &mut self.below] {
            sums.resize(size, NOTHING);
        }
    }

    /// Recomputes a node's reservation and propagates the difference to its ancestors.
    fn settle(&mut self, tree: &Tree, node: u32, pool: u32) {
        for node in tree.path(node) {
            let at = tree.at(node, pool);
            let quota = tree.quota(node, pool);
            let mut keeps = self.below[at];
            if !quota.lends {
                let mut unused = minus(&quota.guarantee, &self.held[at]);
                // A typed GPU also counts towards all GPUs: what is used of a type's guarantee is used of the
                // total, too.
                let guarantee = &quota.guarantee;
                let all = guarantee[GPUS].max(typed(|kind| guarantee[kind]));
                let own = guarantee[GPUS].max(typed(|kind| self.held[at][kind].min(guarantee[kind])));
                unused[GPUS] = all.saturating_sub(own.min(self.held[at][GPUS]));
                keeps = std::array::from_fn(|kind| keeps[kind].max(unused[kind]));
            }
            let before = std::mem::replace(&mut self.keeps[at], keeps);
            if before == keeps {
                return;
            }
            let above = match tree.parents[node as usize] {
                Some(parent) => &mut self.below[tree.at(parent, pool)],
                None => &mut self.kept[pool as usize],
            };
            *above = minus(&plus(above, &keeps), &before);
        }
    }

    /// What a job would add to the queues above it. Its run counts once, only if it has no job in the pool
    /// yet.
    pub(crate) fn asked(&self, job: &Known, amount: &Vector) -> Vector {
        let mut asked = *amount;
        asked[RUNS] = u64::from(!self.runs.contains_key(&(job.leaf, job.pool, job.spec.run, None)));
        asked
    }

    /// What it would add to its person's usage.
    pub(crate) fn asked_of_person(&self, job: &Known, amount: &Vector) -> Vector {
        let mut asked = *amount;
        asked[RUNS] =
            u64::from(!self.runs.contains_key(&(job.leaf, job.pool, job.spec.run, Some(job.person))));
        asked
    }

    pub(crate) fn add(&mut self, tree: &Tree, job: &Known, amount: &Vector) {
        for name in &job.named {
            self.named[*name as usize] += 1;
        }
        if job.holds_names_only() {
            return;
        }
        let (all, own) = (self.asked(job, amount), self.asked_of_person(job, amount));
        for person in [None, Some(job.person)] {
            *self.runs.entry((job.leaf, job.pool, job.spec.run, person)).or_insert(0) += 1;
        }
        self.apply(tree, job, [&all, &own], plus);
    }

    pub(crate) fn remove(&mut self, tree: &Tree, job: &Known, amount: &Vector) {
        for name in &job.named {
            self.named[*name as usize] = self.named[*name as usize].saturating_sub(1);
        }
        if job.holds_names_only() {
            return;
        }
        for person in [None, Some(job.person)] {
            let place = (job.leaf, job.pool, job.spec.run, person);
            let left = self.runs.get(&place).map_or(0, |jobs| jobs.saturating_sub(1));
            if left == 0 {
                self.runs.remove(&place);
            } else {
                self.runs.insert(place, left);
            }
        }
        let (all, own) = (self.asked(job, amount), self.asked_of_person(job, amount));
        self.apply(tree, job, [&all, &own], minus);
    }

    /// Adds workers of a running job.
    pub(crate) fn grow(&mut self, tree: &Tree, job: &Known, amount: &Vector) {
        self.apply(tree, job, [amount, amount], plus);
    }

    /// Removes workers of a running job.
    pub(crate) fn shrink(&mut self, tree: &Tree, job: &Known, amount: &Vector) {
        self.apply(tree, job, [amount, amount], minus);
    }

    fn apply(&mut self, tree: &Tree, job: &Known, [all, own]: [&Vector; 2], how: Change) {
        for node in tree.path(job.leaf) {
            let held = &mut self.held[tree.at(node, job.pool)];
            *held = how(held, all);
        }
        for pool in pools_of(job.pool) {
            let held = &mut self.in_pool[pool as usize];
            *held = how(held, all);
        }
        let key = (job.leaf, job.pool, job.person);
        let person = self.persons.entry(key).or_insert(NOTHING);
        *person = how(person, own);
        if *person == NOTHING {
            self.persons.remove(&key);
        }
        // A node's reservation may change even if nothing below it did.
        for node in tree.path(job.leaf) {
            self.settle(tree, node, job.pool);
        }
    }

    /// What a person's jobs use in a project.
    pub(crate) fn of_person(&self, job: &Known) -> Vector {
        self.persons.get(&(job.leaf, job.pool, job.person)).copied().unwrap_or(NOTHING)
    }

    /// What persons use, by project, pool and person.
    pub(crate) fn persons(&self) -> impl Iterator<Item = ((u32, u32, u32), &Vector)> {
        self.persons.iter().map(|(key, held)| (*key, held))
    }

    /// What is reserved for a node.
    pub(crate) fn keeps_for(&self, at: usize, kind: usize) -> u64 {
        self.keeps[at][kind]
    }

    /// What is reserved for a node's children.
    pub(crate) fn kept_below(&self, at: usize, kind: usize) -> u64 {
        self.below[at][kind]
    }

    /// What is reserved in a pool. For the whole cluster, this includes its node groups.
    pub(crate) fn kept_in(&self, pool: u32) -> Vector {
        if pool > 0 {
            return self.kept[pool as usize];
        }
        self.kept.iter().fold(NOTHING, |sum, kept| plus(&sum, kept))
    }
}

/// The pools that a job counts against: its own, and the whole cluster.
pub(crate) fn pools_of(pool: u32) -> impl Iterator<Item = u32> {
    std::iter::once(pool).chain((pool > 0).then_some(0))
}
