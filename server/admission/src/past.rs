//! Recent usage of queues, which counts in their shares: an exponentially weighted average with a half-life.

use cubeloom_domain::Timestamp;
use cubeloom_domain::quota::Queue;

use crate::amounts::{GPUS, KINDS};
use crate::desk::Desk;
use crate::tree::Tree;

/// Recent usage of queues.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    /// By node and pool: the average as of `at`.
    held: Vec<[f64; KINDS]>,
    at: Timestamp,
    /// The pools' node groups.
    pools: Vec<Option<String>>,
}

/// Average usage of a project's jobs over an interval before this scheduler existed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeldBefore {
    pub project: String,
    /// The node group whose quota it counted against.
    pub node_group: Option<String>,
    pub from: Timestamp,
    pub until: Timestamp,
    /// CPU, in millicores.
    pub cpu: f64,
    /// Memory, in bytes.
    pub memory: f64,
    /// GPUs of any type.
    pub gpus: f64,
}

impl Past {
    /// Adds entries for new queues, without usage.
    pub(crate) fn reach(&mut self, tree: &Tree) {
        self.held.resize(tree.len() * tree.pools(), [0.0; KINDS]);
    }

    /// The projects of a tree with recent usage.
    pub(crate) fn projects<'t>(&self, tree: &'t Tree) -> impl Iterator<Item = &'t String> {
        let held_any = move |node: usize| {
            let pools =
                (0..tree.pools()).filter_map(move |pool| self.held.get(tree.at(node as u32, pool as u32)));
            pools.flatten().any(|held| *held >= 1.0)
        };
        tree.queues.iter().enumerate().filter_map(move |(node, queue)| match queue {
            Queue::Project(name) if held_any(node) => Some(name),
            Queue::Project(_) | Queue::Group(_) => None,
        })
    }

    /// Maps the averages to another tree and other pools, by name. New queues and pools start without usage.
    pub(crate) fn moved(self, before: &Tree, tree: &Tree, pools: Vec<Option<String>>) -> Self {
        let mut held = vec![[0.0; KINDS]; tree.len() * tree.pools()];
        let places = pools.iter().enumerate();
        let pools_before: Vec<(usize, usize)> = places
            .filter_map(|(at, name)| Some((at, self.pools.iter().position(|known| known == name)?)))
            .collect();
        for (node, queue) in tree.queues.iter().enumerate() {
            let Some(was) = before.queues.iter().position(|known| known == queue) else { continue };
            for (pool, pool_before) in &pools_before {
                let was = self.held.get(before.at(was as u32, *pool_before as u32));
                held[tree.at(node as u32, *pool as u32)] = was.copied().unwrap_or([0.0; KINDS]);
            }
        }
        Self { held, at: self.at, pools }
    }
}

impl Desk {
    /// Adds usage from before this scheduler existed, such as before a restart. Usage of a pool that no
    /// longer exists is ignored. Returns whether the pool exists.
    pub fn held_before(&mut self, was: &HeldBefore, now: Timestamp) -> bool {
        self.remember(now);
        let Some(pool) = self.pools.iter().position(|pool| pool.node_group == was.node_group) else {
            return false;
        };
        let leaf = self.tree.project(&was.project);
        self.ledger.reach(&self.tree);
        self.past.reach(&self.tree);
        let left = |moment: Timestamp| self.left_of(moment, self.past.at);
        let part = left(was.until) - left(was.from);
        for node in self.tree.path(leaf) {
            let past = &mut self.past.held[self.tree.at(node, pool as u32)];
            for (kind, amount) in [(0, was.cpu), (1, was.memory), (GPUS, was.gpus)] {
                past[kind] += amount * part;
            }
        }
        true
    }

    /// Updates the averages to now. Call it before usage changes.
    pub(crate) fn remember(&mut self, now: Timestamp) {
        let passed = now.since(self.past.at);
        // Less than a minute changes almost nothing, and thousands of jobs may end in one.
        if passed.as_secs() < 60 {
            return;
        }
        let fades = self.left_of(self.past.at, now);
        for (past, held) in self.past.held.iter_mut().zip(&self.ledger.held) {
            for (past, held) in past.iter_mut().zip(held) {
                *past = *past * fades + *held as f64 * (1.0 - fades);
            }
        }
        self.past.at = now;
    }

    /// The weight of a moment, as of a later one.
    fn left_of(&self, moment: Timestamp, now: Timestamp) -> f64 {
        let half_lives = now.since(moment).as_secs_f64() / self.settings.half_life.as_secs_f64().max(1.0);
        0.5_f64.powf(half_lives)
    }

    /// A queue's average as of its last update, and the factor by which it has decayed since.
    pub(crate) fn past(&self, at: usize, now: Timestamp) -> (&[f64; KINDS], f64) {
        let is_of_now = now.since(self.past.at).as_secs() < 60;
        (&self.past.held[at], if is_of_now { 1.0 } else { self.left_of(self.past.at, now) })
    }
}
