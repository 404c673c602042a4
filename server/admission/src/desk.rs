//! The scheduler state of a cluster between two cycles, and its updates.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use cubeloom_domain::Timestamp;
use cubeloom_domain::faulty::FaultyCards;
use cubeloom_domain::quota::QueueRecord;

use crate::amounts::{Ask, Kinds, NOTHING, Vector};
use crate::elsewhere::Elsewhere;
use crate::fits::Block;
use crate::job::{Entry, Held, Known, Spec, State, TakenUp};
use crate::ledger::Ledger;
use crate::named::{Named, NamedLimit};
use crate::nodes::Nodes;
use crate::order::Lane;
use crate::past::Past;
use crate::settings::Settings;
use crate::tree::Tree;

/// Id of a job in a scheduler. It is reused after the job is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub(crate) u32);

/// A pool: the whole cluster or a node group.
#[derive(Clone, Debug)]
pub(crate) struct PoolRoom {
    pub(crate) node_group: Option<String>,
    room: Ask,
    pub(crate) capacity: Vector,
}

/// The admission scheduler of one cluster.
#[derive(Clone, Debug)]
pub struct Desk {
    pub(crate) cluster: String,
    pub(crate) settings: Settings,
    pub(crate) kinds: Kinds,
    records: Arc<Vec<QueueRecord>>,
    pub(crate) tree: Tree,
    /// The whole cluster, then its node groups.
    pub(crate) pools: Vec<PoolRoom>,
    pub(crate) named: Vec<Named>,
    persons: HashMap<String, u32>,
    jobs: Vec<Option<Entry>>,
    empty: Vec<u32>,
    seq: u64,
    pub(crate) lanes: BTreeMap<(u32, u32), Lane>,
    pub(crate) held: BTreeSet<JobId>,
    pub(crate) waiting: usize,
    pub(crate) ledger: Ledger,
    pub(crate) past: Past,
    /// Jobs with reservations, oldest first.
    pub(crate) claims: Vec<JobId>,
    /// Pending heads of line, with the time at which they became one.
    pub(crate) firsts: HashMap<JobId, Timestamp>,
    /// Jobs that wait for nodes and had capacity reserved meanwhile, with the start time.
    pub(crate) scattered: HashMap<JobId, Timestamp>,
    /// By run: jobs that hold resources and may need anti-affinity to others of the run.
    pub(crate) apart: BTreeSet<(u128, JobId)>,
    /// Whether any queue has a guarantee that is not lent.
    pub(crate) keeps_anything: bool,
    pub(crate) elsewhere: Elsewhere,
    /// Whether jobs of other replicas are scheduled as this replica's own. Set on a copy, to simulate all
    /// jobs.
    pub(crate) leads_all: bool,
    pub(crate) nodes: Nodes,
    /// Unhealthy GPUs that no job gets.
    pub(crate) faulty: Option<FaultyCards>,
    /// Jobs that found no GPU fraction and are not retried yet.
    pub(crate) put_off: HashSet<JobId>,
    /// Projects whose jobs do not start, regardless of capacity.
    pub(crate) closed: BTreeSet<String>,
}

impl Desk {
    /// Creates the scheduler of a cluster that has reported nothing yet.
    #[must_use]
    pub fn new(cluster: impl Into<String>, settings: Settings) -> Self {
        let whole = PoolRoom { node_group: None, room: Ask::default(), capacity: NOTHING };
        let mut desk = Self {
            cluster: cluster.into(),
            settings,
            kinds: Kinds::default(),
            records: Arc::default(),
            tree: Tree::default(),
            pools: vec![whole],
            named: Vec::new(),
            persons: HashMap::new(),
            jobs: Vec::new(),
            empty: Vec::new(),
            seq: 0,
            lanes: BTreeMap::new(),
            held: BTreeSet::new(),
            waiting: 0,
            ledger: Ledger::default(),
            past: Past::default(),
            claims: Vec::new(),
            firsts: HashMap::new(),
            scattered: HashMap::new(),
            apart: BTreeSet::new(),
            keeps_anything: false,
            elsewhere: Elsewhere::default(),
            leads_all: false,
            nodes: Nodes::default(),
            faulty: None,
            put_off: HashSet::new(),
            closed: BTreeSet::new(),
        };
        desk.rebuild();
        desk
    }

    /// Sets the projects whose jobs do not start for a reason that is not the job's. Others get their
    /// capacity, and nothing is reserved for them.
    pub fn close(&mut self, projects: BTreeSet<String>) {
        self.closed = projects;
    }

    /// Sets the cluster's capacity and that of its node groups. Returns true when either has changed.
    pub fn set_room(&mut self, whole: Ask, node_groups: BTreeMap<String, Ask>) -> bool {
        let pool =
            |(node_group, room): (Option<String>, Ask)| PoolRoom { node_group, room, capacity: NOTHING };
        let groups = node_groups.into_iter().map(|(name, room)| (Some(name), room));
        let pools: Vec<PoolRoom> = std::iter::once((None, whole)).chain(groups).map(pool).collect();
        let same = pools.len() == self.pools.len()
            && pools
                .iter()
                .zip(&self.pools)
                .all(|(new, old)| new.node_group == old.node_group && new.room == old.room);
        if !same {
            self.pools = pools;
            self.rebuild();
        }
        !same
    }

    /// Sets the queue tree. Returns true when it has changed.
    pub fn set_queues(&mut self, records: &Arc<Vec<QueueRecord>>) -> bool {
        let same = Arc::ptr_eq(&self.records, records) || self.records == *records;
        if !same {
            self.records = Arc::clone(records);
            self.rebuild();
        }
        !same
    }

    /// Sets the concurrency limits that tasks may name. Names without a limit are unlimited.
    pub fn set_named(&mut self, limits: Vec<NamedLimit>) -> bool {
        let same = limits.len() == self.named.len()
            && limits.iter().zip(&self.named).all(|(new, old)| *new == old.limit);
        if !same {
            let mut old = std::mem::take(&mut self.named);
            let starts = |name: &str, old: &mut Vec<Named>| {
                let known = old.iter_mut().find(|known| known.limit.name == name);
                known.map(|known| std::mem::take(&mut known.starts)).unwrap_or_default()
            };
            let limits =
                limits.into_iter().map(|limit| Named { starts: starts(&limit.name, &mut old), limit });
            self.named = limits.collect();
            self.rebuild();
        }
        !same
    }

    /// Recounts everything after the pools, the resources or the tree have changed.
    fn rebuild(&mut self) {
        for kind in Tree::types(&self.records) {
            self.kinds.add_type(kind);
        }
        for pool in &mut self.pools {
            pool.capacity = self.kinds.capacity(&pool.room);
        }
        self.count_nodes();
        let pools: Vec<Option<String>> = self.pools.iter().map(|pool| pool.node_group.clone()).collect();
        let (old, past) = (std::mem::take(&mut self.tree), std::mem::take(&mut self.past));
        self.tree = Tree::new(&self.records, &self.cluster, &pools, &self.kinds);
        // A project without a queue record and without jobs may still have usage history.
        for project in past.projects(&old) {
            self.tree.project(project);
        }
        let entries = std::mem::take(&mut self.jobs);
        let entries: Vec<Option<Entry>> = entries
            .into_iter()
            .map(|entry| entry.map(|entry| Entry { known: self.know(entry.known.spec.clone()), ..entry }))
            .collect();
        self.past = past.moved(&old, &self.tree, pools);
        let has_own = |node: u32, pool: u32| {
            let quota = self.tree.quota(node, pool);
            !quota.lends && quota.guarantee != NOTHING
        };
        let pools = self.tree.pools() as u32;
        self.keeps_anything =
            (0..self.tree.len() as u32).any(|node| (0..pools).any(|pool| has_own(node, pool)));
        self.ledger = Ledger::new(&self.tree, self.named.len());
        self.ledger.in_pool.clone_from(&self.nodes.others);
        self.lanes.clear();
        self.jobs = entries;
        for at in 0..self.jobs.len() {
            self.count_in(JobId(at as u32));
        }
        self.seat_all();
    }

    /// Converts a request to a pool to amounts.
    pub(crate) fn asked(&self, ask: &Ask, pool: u32) -> Vector {
        self.kinds.asked(ask, &self.pools[pool as usize].room)
    }

    /// Converts a job's amounts and resolves its names.
    pub(crate) fn know(&mut self, spec: Spec) -> Arc<Known> {
        let leaf = self.tree.project(&spec.project);
        let pool = self.pools.iter().position(|pool| pool.node_group == spec.node_group).unwrap_or(0) as u32;
        let next = self.persons.len() as u32;
        let person = *self.persons.entry(spec.person.clone()).or_insert(next);
        let find = |name: &String| self.named.iter().position(|named| named.limit.name == *name);
        let mut named: Vec<u32> = spec.named.iter().filter_map(find).map(|at| at as u32).collect();
        named.sort_unstable();
        named.dedup();
        let asked = |ask: &Ask| self.asked(ask, pool);
        let fixed = asked(&spec.fixed);
        let each = spec.elastic.as_ref().map_or(NOTHING, |elastic| asked(&elastic.each));
        let gang = spec.gang.iter().map(|(each, count)| (asked(each), *count)).collect();
        self.ledger.reach(&self.tree);
        self.past.reach(&self.tree);
        Arc::new(Known { leaf, pool, person, named, fixed, gang, each, spec })
    }

    fn put(&mut self, spec: Spec, state: State) -> JobId {
        let each = spec.elastic.iter().flat_map(|elastic| &elastic.each.cards);
        let cards: Vec<_> =
            spec.fixed.cards.iter().chain(each).filter(|(_, count)| *count > 0).cloned().collect();
        for name in cards.into_iter().filter_map(|(name, _)| name) {
            // A requested type gets an index, so that its capacity counts.
            if self.kinds.add_type(&name) {
                self.rebuild();
            }
        }
        let known = self.know(spec);
        self.seq += 1;
        let entry = Entry { known, seq: self.seq, state, seats: Vec::new() };
        let job = match self.empty.pop() {
            Some(at) => {
                self.jobs[at as usize] = Some(entry);
                JobId(at)
            }
            None => {
                self.jobs.push(Some(entry));
                JobId(self.jobs.len() as u32 - 1)
            }
        };
        if self.count_in(job) {
            self.waiting += 1;
        } else {
            self.note_held(job);
        }
        job
    }

    fn note_held(&mut self, job: JobId) {
        self.held.insert(job);
        let run = self.spec(job).filter(|spec| spec.apart.is_some()).map(|spec| spec.run);
        self.apart.extend(run.map(|run| (run, job)));
        self.seat(job);
    }

    /// Indexes a job by its state. Returns true when it is pending.
    fn count_in(&mut self, job: JobId) -> bool {
        let Some(Some(entry)) = self.jobs.get(job.0 as usize) else { return false };
        let known = &entry.known;
        match &entry.state {
            State::Waiting { since, .. } => {
                let lane = self.lanes.entry((known.leaf, known.pool)).or_default();
                lane.entry(Reverse(known.spec.priority)).or_default().insert((entry.age(*since), job));
                true
            }
            State::Held(held) => {
                self.ledger.add(&self.tree, known, &known.with(held.workers));
                false
            }
        }
    }

    /// Adds a pending job whose age counts from `since`. It does not borrow until `cool_until`.
    pub fn wait(&mut self, spec: Spec, since: Timestamp, cool_until: Option<Timestamp>) -> JobId {
        self.put(spec, State::Waiting { since, cool_until })
    }

    /// Adds a running job with this many elastic workers.
    pub fn hold(&mut self, spec: Spec, workers: u32, since: Timestamp, now: Timestamp) -> JobId {
        self.take_up(spec, TakenUp { workers, waited_since: since, since, gave_at: None }, now)
    }

    /// Adds a job that a previous scheduler admitted, with the state that it had there.
    pub fn take_up(&mut self, spec: Spec, was: TakenUp, now: Timestamp) -> JobId {
        self.remember(now);
        let class = self.class(spec.priority, was.waited_since, was.since);
        let mut held = Held::new(class, was.workers, was.since);
        if let Some(gave_at) = was.gave_at {
            held.grows_from = gave_at.plus(self.settings.cool_down);
        }
        self.put(spec, State::Held(held))
    }

    /// A pending job starts.
    pub(crate) fn begin(&mut self, job: JobId, workers: u32, now: Timestamp) {
        let Some(entry) = self.entry(job) else { return };
        let State::Waiting { since, .. } = &entry.state else { return };
        let class = self.class(entry.known.spec.priority, *since, now);
        self.leave_lane(job);
        let held = Held::new(class, workers, now);
        if let Some(Some(entry)) = self.jobs.get_mut(job.0 as usize) {
            entry.state = State::Held(held);
            for name in &entry.known.named {
                self.named[*name as usize].started(now);
            }
        }
        self.waiting -= 1;
        self.note_held(job);
        self.count_in(job);
        self.claims.retain(|claim| *claim != job);
    }

    fn leave_lane(&mut self, job: JobId) {
        let Some(Some(entry)) = self.jobs.get(job.0 as usize) else { return };
        let State::Waiting { since, .. } = &entry.state else { return };
        self.firsts.remove(&job);
        self.scattered.remove(&job);
        let place = (entry.known.leaf, entry.known.pool);
        let Some(lane) = self.lanes.get_mut(&place) else { return };
        let priority = Reverse(entry.known.spec.priority);
        if let Some(list) = lane.get_mut(&priority) {
            list.remove(&(entry.age(*since), job));
            if list.is_empty() {
                lane.remove(&priority);
            }
        }
        if lane.is_empty() {
            self.lanes.remove(&place);
        }
    }

    /// Removes a job that has ended or is no longer pending.
    pub fn remove(&mut self, job: JobId, now: Timestamp) {
        self.remember(now);
        self.leave_lane(job);
        let Some(entry) = self.jobs.get_mut(job.0 as usize).and_then(Option::take) else { return };
        self.unseat(&entry.seats);
        match entry.state {
            State::Held(held) => {
                self.held.remove(&job);
                if entry.known.spec.apart.is_some() {
                    self.apart.remove(&(entry.known.spec.run, job));
                }
                self.ledger.remove(&self.tree, &entry.known, &entry.known.with(held.workers));
            }
            State::Waiting { .. } => {
                self.waiting -= 1;
                self.elsewhere.left(job, &entry.known, self.settings.elsewhere, now);
            }
        }
        self.claims.retain(|claim| *claim != job);
        self.put_off.remove(&job);
        self.empty.push(job.0);
    }

    /// Marks a job as asked to stop: its resources will become free.
    pub fn leave(&mut self, job: JobId, now: Timestamp) {
        if let Some(Entry { state: State::Held(held), .. }) = self.entry_mut(job) {
            held.leaving.get_or_insert(now);
        }
    }

    /// Sets a job's number of elastic workers.
    pub fn resized(&mut self, job: JobId, workers: u32, now: Timestamp) {
        self.remember(now);
        let Some(Some(Entry { known, state: State::Held(held), .. })) = self.jobs.get_mut(job.0 as usize)
        else {
            return;
        };
        let known = Arc::clone(known);
        let gives = held.keeps < held.workers;
        if !gives && workers < held.workers {
            // Its cluster could not provide the additional workers.
            held.grows_from = now.plus(self.settings.cool_down);
        }
        let before = known.with(std::mem::replace(&mut held.workers, workers));
        held.keeps = if gives { held.keeps.min(workers) } else { workers };
        let after = known.with(workers);
        self.ledger.shrink(&self.tree, &known, &before);
        self.ledger.grow(&self.tree, &known, &after);
        self.seat_anew(job);
    }

    /// A job did not get its additional workers: it gets none during a cool-down.
    pub fn not_resized(&mut self, job: JobId, workers: u32, now: Timestamp) {
        self.resized(job, workers, now);
        let cool_down = self.settings.cool_down;
        if let Some(Entry { state: State::Held(held), .. }) = self.entry_mut(job) {
            held.grows_from = now.plus(cool_down);
        }
    }

    /// Replaces what a running job holds, if every rule about amounts allows it; otherwise the job keeps what
    /// it had. Shrinking is always allowed, even if a bound is lower still.
    ///
    /// # Errors
    /// The block that forbids it; `None` if the job holds nothing.
    pub fn enlarge(&mut self, job: JobId, spec: Spec, now: Timestamp) -> Result<(), Option<Block>> {
        self.remember(now);
        let new = self.know(spec);
        let Some(Some(Entry { known, state: State::Held(held), .. })) = self.jobs.get(job.0 as usize) else {
            return Err(None);
        };
        let (old, workers) = (Arc::clone(known), held.workers);
        let mut ledger = std::mem::take(&mut self.ledger);
        ledger.remove(&self.tree, &old, &old.with(workers));
        let (less, more) = (new.with(workers), old.with(workers));
        let taken = if less.iter().zip(more).all(|(less, more)| *less <= more) {
            ledger.add(&self.tree, &new, &less);
            Ok(())
        } else {
            self.take(&mut ledger, &new, workers)
        };
        if taken.is_err() {
            ledger.add(&self.tree, &old, &old.with(workers));
        }
        self.ledger = ledger;
        if let Some(entry) = self.entry_mut(job).filter(|_| taken.is_ok()) {
            entry.known = new;
            self.seat_anew(job);
        }
        taken.map_err(Some)
    }

    pub(crate) fn entry(&self, job: JobId) -> Option<&Entry> {
        self.jobs.get(job.0 as usize)?.as_ref()
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = (JobId, &Entry)> {
        (0..).map(JobId).zip(&self.jobs).filter_map(|(job, entry)| Some((job, entry.as_ref()?)))
    }

    /// A job that holds resources, with what it holds.
    pub(crate) fn jobs_mut(&mut self, job: JobId) -> Option<(&mut Entry, Held)> {
        let entry = self.entry_mut(job)?;
        let held = *entry.held()?;
        Some((entry, held))
    }

    pub(crate) fn entry_mut(&mut self, job: JobId) -> Option<&mut Entry> {
        self.jobs.get_mut(job.0 as usize)?.as_mut()
    }

    /// Number of pending jobs.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Number of jobs that hold resources.
    #[must_use]
    pub fn holding(&self) -> usize {
        self.held.len()
    }

    /// Number of a job's elastic workers. `None` if it holds no resources.
    #[must_use]
    pub fn workers(&self, job: JobId) -> Option<u32> {
        Some(self.entry(job)?.held()?.workers)
    }

    #[must_use]
    pub fn spec(&self, job: JobId) -> Option<&Spec> {
        self.entry(job).map(|entry| &entry.known.spec)
    }
}
