//! Which nodes have room for the workers of a job, where the cluster tells who is on them: that enough is free in all does
//! not mean that any worker finds a node.
//!
//! Where workers go, their cluster decides. So a job is kept only where no choice of nodes helps: of the workers of one of its
//! roles fewer fit, counted node by node, than there are. Those of a job that is not on any node yet are taken to be on the
//! first ones with room, until it is told where they are.

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

/// After how long a job that is on nodes, and that nobody here knows, counts as another's. One that has just ended here leaves its
/// nodes soon, and one that is there already after a restart is taken up by then.
const STRANGER_AFTER: Duration = Duration::from_secs(60);

/// A node, and who is on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeRoom {
    /// The node groups that it is of.
    pub groups: Vec<String>,
    /// Allocatable resources.
    pub has: Ask,
    /// What those take of it that are no jobs of this desk.
    pub others: Ask,
    /// What jobs take of it, by the keys of their attempts. A job that nobody here has known for a minute is another's.
    pub ours: Vec<(String, Ask)>,
}

/// What a job takes of a node.
pub(crate) type Seat = (u32, Vector);

/// The nodes of a cluster. There are none where it does not tell who is on them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nodes {
    told: Arc<Vec<NodeRoom>>,
    /// By node: the pools that it is of, beside the whole cluster.
    pools: Vec<Vec<u32>>,
    /// By node: what it has.
    has: Vec<Vector>,
    /// By node: what others leave of it.
    left: Vec<Vector>,
    /// By node: what of that no job takes.
    free: Vec<Vector>,
    /// By pool: what others take of it.
    pub(crate) others: Vec<Vector>,
    /// Jobs that are on nodes and that nobody here knows, since when; and those of them that count as others.
    unknown_since: HashMap<String, Timestamp>,
    strangers: HashSet<String>,
}

impl Nodes {
    /// Whether sums over all nodes do not tell whether a worker fits.
    pub(crate) fn matter(&self) -> bool {
        self.told.len() > 1
    }

    /// Whether it is of no use to look for nodes for so many workers of each shape.
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

    /// What each node of a pool has.
    pub(crate) fn of_pool(&self, pool: u32) -> impl Iterator<Item = &Vector> {
        self.of(pool).map(|node| &self.has[node])
    }

    /// Puts workers on the first nodes with room for them, of those of a pool, as far as there is any.
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

/// What a job takes is free. A node that is not told any more is nowhere.
pub(crate) fn add(free: &mut [Vector], seats: &[Seat]) {
    for (node, taken) in seats {
        if let Some(free) = free.get_mut(*node as usize) {
            *free = plus(free, taken);
        }
    }
}

/// What a job takes is free no more.
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
    /// What each node has, and who is on it; none where the cluster does not tell. What is asked for is compared with it from
    /// now on, also in the sums: what others take is not free. True when it is something else than before.
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

    /// Notes which jobs of those that are told nobody here knows. True when others than before count as strangers.
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

    /// Counts what the nodes have: after they, the pools or the resources have changed.
    pub(crate) fn count_nodes(&mut self) {
        let (kinds, whole) = (&self.kinds, &self.pools[0].capacity);
        let has = |node: &NodeRoom| {
            let mut has = kinds.vector(&node.has);
            for kind in 0..KINDS {
                // What has no bound in all has none on a node: nobody counts it.
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

    /// Finds out anew where all jobs are that hold something.
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
        // First those of whom it is known.
        let mut unknown = Vec::new();
        for job in self.held.clone() {
            let Some((entry, held)) = self.jobs_mut(job) else { continue };
            let Some(told) = known.remove(entry.known.spec.key.as_str()) else {
                unknown.push(job);
                continue;
            };
            // Workers that its scheduler has lent it, and takes back when others need the place, are not its own.
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

    /// A job holds something now.
    pub(crate) fn seat(&mut self, job: JobId) {
        let mut nodes = std::mem::take(&mut self.nodes);
        if let Some((entry, held)) = self.jobs_mut(job) {
            // Where it was before may not be told any more.
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

    /// A job that holds something holds another amount now.
    pub(crate) fn seat_anew(&mut self, job: JobId) {
        if let Some((entry, _)) = self.jobs_mut(job) {
            let seats = std::mem::take(&mut entry.seats);
            self.unseat(&seats);
            self.seat(job);
        }
    }

    /// A job has left the nodes where it was.
    pub(crate) fn unseat(&mut self, seats: &[Seat]) {
        add(&mut self.nodes.free, seats);
    }

    /// Why its workers can never be placed, whoever goes.
    pub(crate) fn never_placed(&self, job: &Known) -> Option<Block> {
        let lacks = self.nodes.lack(&self.nodes.has, job.pool, job.shapes(job.min()));
        // Of nothing is there too little in all.
        lacks.then(|| Block { kind: RUNS, ..Block::new(WaitRule::NeverFits, job.pool) })
    }
}

/// What a pass knows of the nodes.
#[derive(Default)]
pub(crate) struct Places {
    /// By node: what is free; `None` until somebody wants to know.
    free: Option<Vec<Vector>>,
    /// Workers for which that is too little, with their pool: it only becomes less.
    lacking: HashSet<(u32, Shapes)>,
    /// By node: what is free when those have gone that are leaving already; `None` until somebody wants to know.
    left: Option<Vec<Vector>>,
    /// Jobs that give something back, and that have left there.
    gone: HashSet<JobId>,
    /// Where those workers are taken to be that this pass has placed, or for whom others go: what they take is not left.
    placed: HashMap<JobId, Vec<Seat>>,
}

type Shapes = Vec<(Vector, u32)>;

impl Passing<'_> {
    /// Whether a job's workers could not be placed even if no job were there: what others have must become free.
    pub(crate) fn waits_for_others(&self, known: &Known) -> bool {
        let nodes = &self.desk.nodes;
        nodes.lack(&nodes.left, known.pool, known.shapes(known.min()))
    }

    /// Whether such workers might be placed now.
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

    /// Whether such workers might be placed when all have gone that give something back, or are leaving already, beside those
    /// that this pass has placed and those for whom others go. Those that only give some workers are taken as gone: which ones
    /// they give is not known.
    pub(crate) fn finds_nodes(&mut self, known: &Known) -> bool {
        let nodes = &self.desk.nodes;
        let lacks = |left: &[Vector]| nodes.lack(left, known.pool, known.shapes(known.min()));
        !nodes.matter() || !self.afterwards(lacks)
    }

    /// Keeps nodes for a job for which others go.
    pub(crate) fn keep_nodes(&mut self, job: JobId, known: &Known) {
        let nodes = &self.desk.nodes;
        if !nodes.matter() {
            return;
        }
        let mut left = self.places.left.take().unwrap_or_else(|| self.left_by_those_who_leave());
        // Nobody takes back any more that they go.
        let given: Vec<(JobId, &[Seat])> = self.given().collect();
        given.iter().for_each(|(_, seats)| add(&mut left, seats));
        let gone: Vec<JobId> = given.into_iter().map(|(giver, _)| giver).collect();
        let seats = nodes.put(&mut left, known.pool, known.shapes(known.min()));
        self.places.gone.extend(gone);
        self.places.placed.entry(job).or_default().extend(seats);
        self.places.left = Some(left);
    }

    /// Looks at what is left on each node when all have gone that are told to.
    fn afterwards<T>(&mut self, look: impl FnOnce(&[Vector]) -> T) -> T {
        let mut left = self.places.left.take().unwrap_or_else(|| self.left_by_those_who_leave());
        // A few nodes of many: they are put back afterwards.
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

    /// Where those are that give something back, and have not left yet.
    fn given(&self) -> impl Iterator<Item = (JobId, &[Seat])> {
        let stays = self.keeps.iter().filter(|(job, _)| !self.places.gone.contains(job));
        stays.filter_map(|(job, keeps)| {
            let entry = self.desk.entry(*job)?;
            let Some(held) = entry.held() else {
                // It has not even begun.
                let placed = self.places.placed.get(job).filter(|_| keeps.is_none())?;
                return Some((*job, placed.as_slice()));
            };
            let is_whole = held.leaving.is_none() && held.keeps == held.workers;
            let gives = is_whole && keeps.is_none_or(|keeps| keeps < held.workers);
            gives.then_some((*job, entry.seats.as_slice()))
        })
    }

    /// What is free on each node when those have gone that are leaving, or are taken as ended.
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

    /// Workers of a job are placed.
    pub(crate) fn place(&mut self, job: JobId, known: &Known, shapes: impl Iterator<Item = (Vector, u32)>) {
        let desk = self.desk;
        if desk.nodes.matter() {
            let seats = desk.nodes.put(self.free_nodes(), known.pool, shapes);
            self.places.left.iter_mut().for_each(|left| take(left, &seats));
            self.places.placed.entry(job).or_default().extend(seats);
        }
    }

    /// A job does not begin after all, and nobody goes for it. Who was looked at meanwhile waits for the next pass.
    pub(crate) fn leave_nodes(&mut self, job: JobId) {
        let seats = self.places.placed.remove(&job).unwrap_or_default();
        self.places.left.iter_mut().for_each(|left| add(left, &seats));
    }

    /// What is free on each node, without the jobs that are taken as ended.
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
