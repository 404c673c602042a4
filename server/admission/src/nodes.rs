//! Which nodes have room for a job's workers, if the cluster reports node usage. Enough free capacity in
//! total does not mean that any worker finds a node.
//!
//! The cluster places the workers. So a job is kept pending only if no placement works: counted node by node,
//! fewer workers of one of its roles fit than exist. Workers that are not on a node yet are assumed to be on
//! the first nodes with room, until the cluster reports where they are.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::waiting::WaitRule;

use crate::amounts::{Ask, KINDS, NOTHING, PODS, RUNS, Vector, minus, plus, times};
use crate::desk::{Desk, JobId};
use crate::fits::Block;
use crate::job::Known;
use crate::pass::Passing;

/// After this time, an unknown job on nodes counts as foreign usage. A job that has just ended here leaves
/// its nodes sooner, and after a restart running jobs are restored by then.
const STRANGER_AFTER: Duration = Duration::from_secs(60);

/// A node and its usage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeRoom {
    /// Its node groups.
    pub groups: Vec<String>,
    /// Allocatable resources.
    pub has: Ask,
    /// What others than this scheduler's jobs use of it.
    pub others: Ask,
    /// What jobs use of it, by the keys of their attempts. A job that has been unknown for a minute counts as
    /// foreign usage.
    pub ours: Vec<(String, Ask)>,
}

/// What a job uses of a node.
pub(crate) type Seat = (u32, Vector);

/// The nodes of a cluster. Empty if it does not report their usage.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nodes {
    told: Arc<Vec<NodeRoom>>,
    /// By node: its pools, besides the whole cluster.
    pools: Vec<Vec<u32>>,
    /// By node: its allocatable resources.
    has: Vec<Vector>,
    /// By node: what foreign usage leaves.
    left: Vec<Vector>,
    /// By node: what is free of that.
    free: Vec<Vector>,
    /// By pool: foreign usage.
    pub(crate) others: Vec<Vector>,
    /// Unknown jobs on nodes, since when; and those of them that count as foreign usage.
    unknown_since: HashMap<String, Timestamp>,
    strangers: HashSet<String>,
}

impl Nodes {
    /// Whether sums over all nodes do not decide if a worker fits.
    pub(crate) fn matter(&self) -> bool {
        self.told.len() > 1
    }

    /// Whether no nodes can exist for this many workers of each shape.
    pub(crate) fn lack(
        &self,
        room: &[Vector],
        pool: u32,
        shapes: impl Iterator<Item = (Vector, u32)>,
    ) -> bool {
        self.matter()
            && shapes.into_iter().any(|(shape, count)| {
                let mut missing = u64::from(count);
                for node in self.of(pool) {
                    missing = missing.saturating_sub(fit(&shape, &room[node]));
                    if missing == 0 {
                        return false;
                    }
                }
                missing > 0
            })
    }

    fn of(&self, pool: u32) -> impl Iterator<Item = usize> {
        (0..self.told.len()).filter(move |node| pool == 0 || self.pools[*node].contains(&pool))
    }

    /// The allocatable resources of each node of a pool.
    pub(crate) fn of_pool(&self, pool: u32) -> impl Iterator<Item = &Vector> {
        self.of(pool).map(|node| &self.has[node])
    }

    /// Puts workers on the first nodes of a pool with room for them, as far as there are any.
    fn put(&self, room: &mut [Vector], pool: u32, shapes: impl Iterator<Item = (Vector, u32)>) -> Vec<Seat> {
        let mut seats = Vec::new();
        for (shape, count) in shapes {
            let mut missing = count;
            for node in self.of(pool) {
                if missing == 0 {
                    break;
                }
                let here = u32::try_from(fit(&shape, &room[node])).unwrap_or(u32::MAX).min(missing);
                if here > 0 {
                    let taken = times(&shape, here);
                    room[node] = minus(&room[node], &taken);
                    seats.push((node as u32, taken));
                    missing -= here;
                }
            }
        }
        seats
    }
}

/// Frees what a job uses. A node that is no longer reported is ignored.
pub(crate) fn add(free: &mut [Vector], seats: &[Seat]) {
    for (node, taken) in seats {
        if let Some(free) = free.get_mut(*node as usize) {
            *free = plus(free, taken);
        }
    }
}

/// Takes what a job uses.
fn take(free: &mut [Vector], seats: &[Seat]) {
    for (node, taken) in seats {
        if let Some(free) = free.get_mut(*node as usize) {
            *free = minus(free, taken);
        }
    }
}

/// How many workers fit.
fn fit(shape: &Vector, room: &Vector) -> u64 {
    (0..KINDS).filter(|kind| shape[*kind] > 0).map(|kind| room[kind] / shape[kind]).min().unwrap_or(u64::MAX)
}

impl Desk {
    /// Sets each node's resources and usage; empty if the cluster does not report them. Requests are compared
    /// with them from now on. The sums use them, too: foreign usage is not free. Returns true when anything
    /// has changed.
    pub fn set_nodes(&mut self, told: Vec<NodeRoom>, now: Timestamp) -> bool {
        let same = *self.nodes.told == told;
        if !same {
            self.nodes.told = Arc::new(told);
        }
        if !self.note_strangers(now) && same {
            return false;
        }
        let before = std::mem::take(&mut self.nodes.others);
        self.count_nodes();
        for (pool, held) in self.ledger.in_pool.iter_mut().enumerate() {
            let was = before.get(pool).unwrap_or(&NOTHING);
            *held = plus(&minus(held, was), &self.nodes.others[pool]);
        }
        self.seat_all();
        true
    }

    /// Records which reported jobs are unknown. Returns true when the set of foreign jobs has changed.
    fn note_strangers(&mut self, now: Timestamp) -> bool {
        let told = Arc::clone(&self.nodes.told);
        let mut unknown: HashSet<&str> =
            told.iter().flat_map(|node| &node.ours).map(|(key, _)| &**key).collect();
        if !unknown.is_empty() {
            self.entries().for_each(|(_, entry)| _ = unknown.remove(entry.known.spec.key.as_str()));
        }
        let since = &mut self.nodes.unknown_since;
        since.retain(|key, _| unknown.contains(key.as_str()));
        for key in unknown {
            since.entry(key.to_owned()).or_insert(now);
        }
        let is_stranger = |since: &Timestamp| now.since(*since) >= STRANGER_AFTER;
        let strangers = since.iter().filter(|(_, since)| is_stranger(since)).map(|(key, _)| key.clone());
        let strangers: HashSet<String> = strangers.collect();
        let changed = strangers != self.nodes.strangers;
        self.nodes.strangers = strangers;
        changed
    }

    /// Recounts the nodes' resources after they, the pools or the resources have changed.
    pub(crate) fn count_nodes(&mut self) {
        let (kinds, whole) = (&self.kinds, &self.pools[0].capacity);
        let has = |node: &NodeRoom| {
            let mut has = kinds.vector(&node.has);
            for kind in 0..KINDS {
                // A resource that is unbounded in total is unbounded on a node: it is not counted.
                if matches!(kind, PODS | RUNS) || whole[kind] == u64::MAX {
                    has[kind] = u64::MAX;
                }
            }
            has
        };
        let strangers = std::mem::take(&mut self.nodes.strangers);
        let others = |node: &NodeRoom| {
            let of_strangers = node.ours.iter().filter(|(key, _)| strangers.contains(key));
            let all = std::iter::once(&node.others).chain(of_strangers.map(|(_, taken)| taken));
            all.map(|taken| kinds.vector(&Ask { pods: 0, ..taken.clone() }))
                .fold(NOTHING, |sum, taken| plus(&sum, &taken))
        };
        let pools = |node: &NodeRoom| {
            let of = |name: &String| node.groups.contains(name);
            let is_of = |pool: &u32| self.pools[*pool as usize].node_group.as_ref().is_some_and(of);
            (0..self.pools.len() as u32).filter(is_of).collect()
        };
        let told = std::mem::take(&mut self.nodes.told);
        let mut sums = vec![NOTHING; self.pools.len()];
        let mut nodes = Nodes::default();
        for node in told.iter() {
            let (has, others, pools): (Vector, Vector, Vec<u32>) = (has(node), others(node), pools(node));
            for pool in pools.iter().chain([&0]) {
                sums[*pool as usize] = plus(&sums[*pool as usize], &others);
            }
            nodes.left.push(minus(&has, &others));
            nodes.has.push(has);
            nodes.pools.push(pools);
        }
        nodes.free.clone_from(&nodes.left);
        let unknown_since = std::mem::take(&mut self.nodes.unknown_since);
        self.nodes = Nodes { told, others: sums, unknown_since, strangers, ..nodes };
    }

    /// Recomputes the nodes of all running jobs.
    pub(crate) fn seat_all(&mut self) {
        let mut nodes = std::mem::take(&mut self.nodes);
        nodes.free.clone_from(&nodes.left);
        let told = Arc::clone(&nodes.told);
        let mut known: HashMap<&str, Vec<Seat>> = HashMap::new();
        for (node, told) in (0u32..).zip(told.iter()) {
            for (key, taken) in &told.ours {
                known.entry(key).or_default().push((node, self.kinds.vector(taken)));
            }
        }
        // First the jobs with reported nodes.
        let mut unknown = Vec::new();
        for job in self.held.clone() {
            let Some((entry, held)) = self.jobs_mut(job) else { continue };
            let Some(told) = known.remove(entry.known.spec.key.as_str()) else {
                unknown.push(job);
                continue;
            };
            // Workers lent by its cluster's scheduler, which reclaims them when others need the capacity, are
            // not the job's own.
            let mut own = entry.known.with(held.workers);
            let own = told.into_iter().map(|(node, taken)| {
                let taken = std::array::from_fn(|kind| taken[kind].min(own[kind]));
                own = minus(&own, &taken);
                (node, taken)
            });
            entry.seats = own.collect();
            for (node, taken) in &entry.seats {
                let free = &mut nodes.free[*node as usize];
                *free = minus(free, taken);
            }
        }
        self.nodes = nodes;
        for job in unknown {
            self.seat(job);
        }
    }

    /// Places a job that starts.
    pub(crate) fn seat(&mut self, job: JobId) {
        let mut nodes = std::mem::take(&mut self.nodes);
        if let Some((entry, held)) = self.jobs_mut(job) {
            // Its earlier nodes may no longer be reported.
            entry.seats.clear();
            if nodes.matter() {
                let known = &entry.known;
                let mut free = std::mem::take(&mut nodes.free);
                entry.seats = nodes.put(&mut free, known.pool, known.shapes(held.workers));
                nodes.free = free;
            }
        }
        self.nodes = nodes;
    }

    /// Places a job whose amounts have changed.
    pub(crate) fn seat_anew(&mut self, job: JobId) {
        if let Some((entry, _)) = self.jobs_mut(job) {
            let seats = std::mem::take(&mut entry.seats);
            self.unseat(&seats);
            self.seat(job);
        }
    }

    /// Frees a job's nodes.
    pub(crate) fn unseat(&mut self, seats: &[Seat]) {
        add(&mut self.nodes.free, seats);
    }

    /// Why its workers can never be placed, even if all other jobs end.
    pub(crate) fn never_placed(&self, job: &Known) -> Option<Block> {
        let lacks = self.nodes.lack(&self.nodes.has, job.pool, job.shapes(job.min()));
        // In total, no resource is scarce.
        lacks.then(|| Block { kind: RUNS, ..Block::new(WaitRule::NeverFits, job.pool) })
    }
}

/// What a cycle knows of the nodes.
#[derive(Default)]
pub(crate) struct Places {
    /// By node: what is free. `None` until it is computed.
    free: Option<Vec<Vector>>,
    /// Workers, with their pool, for which that is too little. Free capacity only shrinks in a cycle.
    lacking: HashSet<(u32, Shapes)>,
    /// By node: what is free once leaving jobs are gone. `None` until it is computed.
    left: Option<Vec<Vector>>,
    /// Leaving jobs that are already subtracted there.
    gone: HashSet<JobId>,
    /// Assumed nodes of the workers that this cycle places or reserves for: what they use is not free.
    placed: HashMap<JobId, Vec<Seat>>,
}

type Shapes = Vec<(Vector, u32)>;

impl Passing<'_> {
    /// Whether a job's workers could not be placed even if no job ran: foreign usage must shrink.
    pub(crate) fn waits_for_others(&self, known: &Known) -> bool {
        let nodes = &self.desk.nodes;
        nodes.lack(&nodes.left, known.pool, known.shapes(known.min()))
    }

    /// Whether such workers might fit now.
    pub(crate) fn has_nodes_for(
        &mut self,
        known: &Known,
        shapes: impl Iterator<Item = (Vector, u32)>,
    ) -> bool {
        let nodes = &self.desk.nodes;
        if !nodes.matter() {
            return true;
        }
        let asked = (known.pool, shapes.collect::<Shapes>());
        if self.places.lacking.contains(&asked) {
            return false;
        }
        let lacks = nodes.lack(self.free_nodes(), known.pool, asked.1.iter().copied());
        if lacks {
            self.places.lacking.insert(asked);
        }
        !lacks
    }

    /// Whether such workers might fit once all leaving jobs are gone, besides those that this cycle places or
    /// reserves for. Jobs that only shrink count as gone, because which workers they remove is unknown.
    pub(crate) fn finds_nodes(&mut self, known: &Known) -> bool {
        let nodes = &self.desk.nodes;
        let lacks = |left: &[Vector]| nodes.lack(left, known.pool, known.shapes(known.min()));
        !nodes.matter() || !self.afterwards(lacks)
    }

    /// Reserves nodes for a job with preemption targets.
    pub(crate) fn keep_nodes(&mut self, job: JobId, known: &Known) {
        let nodes = &self.desk.nodes;
        if !nodes.matter() {
            return;
        }
        let mut left = self.places.left.take().unwrap_or_else(|| self.left_by_those_who_leave());
        // These preemptions are final now.
        let given: Vec<(JobId, &[Seat])> = self.given().collect();
        given.iter().for_each(|(_, seats)| add(&mut left, seats));
        let gone: Vec<JobId> = given.into_iter().map(|(giver, _)| giver).collect();
        let seats = nodes.put(&mut left, known.pool, known.shapes(known.min()));
        self.places.gone.extend(gone);
        self.places.placed.entry(job).or_default().extend(seats);
        self.places.left = Some(left);
    }

    /// Evaluates what is free on each node once all leaving jobs are gone.
    fn afterwards<T>(&mut self, look: impl FnOnce(&[Vector]) -> T) -> T {
        let mut left = self.places.left.take().unwrap_or_else(|| self.left_by_those_who_leave());
        // Few of many nodes change: restore them afterwards.
        let mut before = Vec::new();
        for (_, seats) in self.given() {
            before.extend(seats.iter().filter_map(|(node, _)| Some((*node, *left.get(*node as usize)?))));
            add(&mut left, seats);
        }
        let found = look(&left);
        for (node, was) in before.into_iter().rev() {
            left[node as usize] = was;
        }
        self.places.left = Some(left);
        found
    }

    /// The nodes of jobs that are preempted or shrunk and have not left yet.
    fn given(&self) -> impl Iterator<Item = (JobId, &[Seat])> {
        let stays = self.keeps.iter().filter(|(job, _)| !self.places.gone.contains(job));
        stays.filter_map(|(job, keeps)| {
            let entry = self.desk.entry(*job)?;
            let Some(held) = entry.held() else {
                // It has not even started.
                let placed = self.places.placed.get(job).filter(|_| keeps.is_none())?;
                return Some((*job, placed.as_slice()));
            };
            let is_whole = held.leaving.is_none() && held.keeps == held.workers;
            let gives = is_whole && keeps.is_none_or(|keeps| keeps < held.workers);
            gives.then_some((*job, entry.seats.as_slice()))
        })
    }

    /// What is free on each node once jobs that are leaving, or are treated as ended, are gone.
    fn left_by_those_who_leave(&self) -> Vec<Vector> {
        let desk = self.desk;
        let mut free = desk.nodes.free.clone();
        for job in &desk.held {
            let Some((entry, held)) = desk.entry(*job).and_then(|entry| Some((entry, entry.held()?))) else {
                continue;
            };
            let gives = held.leaving.is_some() || held.keeps < held.workers;
            if gives || self.gone.contains(job) {
                add(&mut free, &entry.seats);
            }
        }
        self.places.placed.values().for_each(|seats| take(&mut free, seats));
        free
    }

    /// Places workers of a job.
    pub(crate) fn place(&mut self, job: JobId, known: &Known, shapes: impl Iterator<Item = (Vector, u32)>) {
        let desk = self.desk;
        if desk.nodes.matter() {
            let seats = desk.nodes.put(self.free_nodes(), known.pool, shapes);
            self.places.left.iter_mut().for_each(|left| take(left, &seats));
            self.places.placed.entry(job).or_default().extend(seats);
        }
    }

    /// Undoes a job's start and its preemptions. Jobs that were evaluated meanwhile wait for the next cycle.
    pub(crate) fn leave_nodes(&mut self, job: JobId) {
        let seats = self.places.placed.remove(&job).unwrap_or_default();
        self.places.left.iter_mut().for_each(|left| add(left, &seats));
    }

    /// What is free on each node, without the jobs treated as ended.
    pub(crate) fn free_nodes(&mut self) -> &mut Vec<Vector> {
        let (desk, gone) = (self.desk, &self.gone);
        self.places.free.get_or_insert_with(|| {
            let mut free = desk.nodes.free.clone();
            for entry in gone.iter().filter_map(|job| desk.entry(*job)) {
                add(&mut free, &entry.seats);
            }
            free
        })
    }
}
