//! The order of pending jobs: priority with aging, then the share of the queue, then age.
//!
//! A lane has the pending jobs of one project for one pool. Above the lanes is a tree of queues per pool.
//! Each node knows its first child, so the next job is found by going down, and a start changes only one
//! path.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, btree_set};
use std::iter::Peekable;

use cubeloom_domain::Timestamp;

use crate::amounts::{KINDS, PODS, RUNS};
use crate::desk::{Desk, JobId};
use crate::job::{Entry, Spec, State};
use crate::ledger::Ledger;

/// Since when a job is pending, its run, and its sequence number in the scheduler. The first two are the same
/// on every replica.
pub(crate) type Age = (Timestamp, u128, u64);

/// The pending jobs of a lane, by priority.
pub(crate) type Lane = BTreeMap<Reverse<i32>, BTreeSet<(Age, JobId)>>;

/// Priority with aging, share of the queue, age.
type Rank = (Reverse<i64>, u64, Age);

/// The next job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) job: JobId,
    lane: (u32, u32),
}

/// Pending jobs of one priority, from the walk's position.
type List<'d> = Peekable<btree_set::Iter<'d, (Age, JobId)>>;

struct Cursor<'d> {
    /// By priority.
    lists: Vec<(i32, List<'d>)>,
    /// How many of its jobs were left pending.
    left: u32,
}

/// A walk over the pending jobs.
pub(crate) struct Walk<'d> {
    desk: &'d Desk,
    now: Timestamp,
    lanes: HashMap<(u32, u32), Cursor<'d>>,
    /// By node and pool: the children, in order. The top-level nodes are children of an extra node.
    below: Vec<BTreeSet<(Rank, u32)>>,
    ranks: Vec<Option<Rank>>,
}

impl<'d> Walk<'d> {
    pub(crate) fn new(desk: &'d Desk, ledger: &Ledger, now: Timestamp) -> Self {
        let (nodes, pools) = (desk.tree.len(), desk.tree.pools());
        let mut walk = Self {
            desk,
            now,
            lanes: HashMap::with_capacity(desk.lanes.len()),
            below: vec![BTreeSet::new(); (nodes + 1) * pools],
            ranks: vec![None; nodes * pools],
        };
        for (place, lane) in &desk.lanes {
            let lists = lane.iter().map(|(priority, jobs)| (priority.0, jobs.iter().peekable())).collect();
            walk.lanes.insert(*place, Cursor { lists, left: 0 });
            walk.refresh(*place, ledger);
        }
        walk
    }

    /// The next job. It stays the next until [`Self::pass_over`].
    pub(crate) fn next(&mut self) -> Option<Turn> {
        let pools = self.desk.tree.pools() as u32;
        let root = self.desk.tree.len() as u32;
        let first =
            |pool: u32| self.below[self.at(root, pool)].first().map(|(rank, node)| (*rank, pool, *node));
        let (_, pool, mut node) = (0..pools).filter_map(first).min()?;
        while let Some((_, below)) = self.below[self.at(node, pool)].first() {
            node = *below;
        }
        let cursor = self.lanes.get_mut(&(node, pool))?;
        let (list, _) = best(cursor, self.now, self.desk)?;
        let (_, job) = cursor.lists[list].1.peek()?;
        Some(Turn { job: *job, lane: (node, pool) })
    }

    /// Advances past a job. `skips` says which of the jobs behind it can be skipped. After this many jobs
    /// were `left` pending, the lane is dropped.
    pub(crate) fn pass_over(
        &mut self,
        turn: Turn,
        ledger: &Ledger,
        left: Option<u32>,
        skips: impl Fn(JobId) -> bool,
    ) {
        let Some(cursor) = self.lanes.get_mut(&turn.lane) else { return };
        if let Some(most) = left {
            cursor.left += 1;
            if cursor.left >= most {
                cursor.lists.clear();
            }
        }
        let mut is_first = true;
        while let Some((list, _)) = best(cursor, self.now, self.desk) {
            let Some((_, job)) = cursor.lists[list].1.peek() else { break };
            if !is_first && !skips(*job) {
                break;
            }
            is_first = false;
            cursor.lists[list].1.next();
        }
        self.refresh(turn.lane, ledger);
    }

    fn at(&self, node: u32, pool: u32) -> usize {
        node as usize * self.desk.tree.pools() + pool as usize
    }

    /// Updates the position of a lane and of the queues above it.
    fn refresh(&mut self, (leaf, pool): (u32, u32), ledger: &Ledger) {
        let desk = self.desk;
        let mut first = self
            .lanes
            .get_mut(&(leaf, pool))
            .and_then(|cursor| best(cursor, self.now, desk))
            .map(|(_, first)| first);
        for node in desk.tree.path(leaf) {
            let at = self.at(node, pool);
            let parent = desk.tree.parents[node as usize].unwrap_or(desk.tree.len() as u32);
            let above = self.at(parent, pool);
            let share = desk.share(ledger, node, pool, self.now);
            let rank = first.map(|(class, age)| (class, share.to_bits(), age));
            if let Some(old) = std::mem::replace(&mut self.ranks[at], rank) {
                self.below[above].remove(&(old, node));
            }
            if let Some(rank) = rank {
                self.below[above].insert((rank, node));
            }
            // A queue is as urgent as the most urgent job below it.
            first = self.below[above].first().map(|((class, _, age), _)| (*class, *age));
        }
    }
}

type First = (Reverse<i64>, Age);

/// The first job of a lane: its list, and its rank without the share.
fn best(cursor: &mut Cursor<'_>, now: Timestamp, desk: &Desk) -> Option<(usize, First)> {
    let lists = cursor.lists.iter_mut().enumerate();
    let firsts = lists.filter_map(|(at, (priority, jobs))| {
        let (age, _) = jobs.peek()?;
        Some((at, (Reverse(desk.class(*priority, age.0, now)), *age)))
    });
    firsts.min_by_key(|(_, first)| *first)
}

impl Desk {
    /// Replaces the request of a pending job. Pool and priority stay the same, and so does its position.
    pub fn ask_for(&mut self, job: JobId, spec: Spec) {
        let known = self.know(spec);
        if let Some(entry @ Entry { state: State::Waiting { .. }, .. }) = self.entry_mut(job)
            && (entry.known.leaf, entry.known.pool) == (known.leaf, known.pool)
            && entry.known.spec.priority == known.spec.priority
        {
            entry.known = known;
        }
    }

    /// The jobs that a cycle visits first, at most this many per project, pool and priority.
    pub fn next(&self, most: usize) -> impl Iterator<Item = JobId> {
        let lists = self.lanes.values().flat_map(BTreeMap::values);
        lists.flat_map(move |jobs| jobs.iter().take(most).map(|(_, job)| *job))
    }

    /// A job's priority with aging: one level for each `aging` interval.
    pub(crate) fn class(&self, priority: i32, since: Timestamp, now: Timestamp) -> i64 {
        let step = self.settings.aging.as_micros().max(1);
        i64::from(priority) + i64::try_from(now.since(since).as_micros() / step).unwrap_or(i64::MAX / 2)
    }

    /// Weighted dominant share of a queue in a pool: its largest part of any resource, including recent
    /// usage.
    pub(crate) fn share(&self, ledger: &Ledger, node: u32, pool: u32, now: Timestamp) -> f64 {
        let at = self.tree.at(node, pool);
        let capacity = &self.pools[pool as usize].capacity;
        let held = &ledger.held[at];
        let (past, fades) = self.past(at, now);
        let parts = (0..KINDS).filter(|kind| !matches!(*kind, PODS | RUNS) && capacity[*kind] > 0);
        let part = |kind: usize| {
            // The moving average, updated with what is in use since the last change.
            let lately = past[kind] * fades + held[kind] as f64 * (1.0 - fades);
            (held[kind] as f64 + lately) / capacity[kind] as f64
        };
        parts.map(part).fold(0.0, f64::max) / self.tree.quota(node, pool).weight
    }
}
