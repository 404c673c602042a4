//! The leased runs, in memory: observations go in, changes to store and actions come out.
//!
//! Everything here is synchronous and, except for [`Executor::bind`], without side effects. Work is driven by
//! changes: a cycle costs what it touches, not what the runs hold. [`Core::take_output`] collects what a
//! cycle changed in memory. The driver stores the changes, then executes the actions.

mod active;
mod admit;
mod ask;
mod elsewhere;
mod ends;
mod grow;
mod hang;
mod idle;
mod load;
mod mark;
mod named;
mod observe;
mod output;
mod past;
mod place;
mod preflight;
mod prepare;
mod ready;
mod scale;
mod search;
mod size;
mod tally;
mod why;
mod wishes;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use cubeloom_admission::{Desk, HeldBefore, NamedLimit, Settings};
use cubeloom_domain::executor::{Executor, StopCause, Submission};
use cubeloom_domain::job::Job;
use cubeloom_domain::nodes::{NodeAside, NodeCount, NodeRule};
use cubeloom_domain::preflight::Bounds;
use cubeloom_domain::quota::QueueRecord;
use cubeloom_domain::record::Changes;
use cubeloom_domain::{AttemptKey, InstanceIx, RunId, TaskIx, Timestamp};
use cubeloom_store::RunElsewhere;

use self::active::ActiveRun;
pub use self::elsewhere::{Foreign, ForeignHold};
pub use self::observe::Answer;
pub use self::output::Demand;
use self::output::Output;
use self::place::Place;
use self::size::{Histories, Memo};
pub use self::tally::{Queue, Tally};

type Slot = usize;

/// An instance, by the slot of its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct At {
    slot: Slot,
    task: TaskIx,
    instance: InstanceIx,
}

/// The order of admission: priority, then age, then document order.
type QueueKey = (Reverse<i32>, Timestamp, At);

/// An event at a given time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    /// The delay before the next attempt is over.
    Retry(At),
    /// The attempt with this number has reached its timeout.
    Timeout(At, u32),
    /// An approval has reached its timeout.
    Undecided(At),
    /// The attempt with this number hangs, unless it has reported a step since.
    Pace(At, u32),
    /// The GPUs of the attempt with this number are due for a check.
    Cards(At, u32),
}

/// What the driver must do once the changes of a cycle are stored.
pub enum Action {
    /// Submit a job, or restore it.
    Submit(Arc<dyn Executor>, Submission),
    /// Restore a job of an earlier server, and continue stopping it if it was being stopped.
    Adopt(Arc<dyn Executor>, Submission, Option<StopCause>),
    /// Scale a running job to these workers.
    Scale(Arc<dyn Executor>, Submission),
    /// Set the memory of a running job's workers to its current amount.
    Grow(Arc<dyn Executor>, Submission),
    Cancel(Arc<dyn Executor>, AttemptKey, StopCause),
    /// Collect the stacks of a hanging attempt's workers.
    Look(Arc<dyn Executor>, AttemptKey),
    /// Read the GPU usage of a running attempt.
    LookAtCards(Arc<dyn Executor>, AttemptKey),
    /// Release what was reserved for an attempt.
    Release(Arc<dyn Executor>, AttemptKey),
    /// Look up whether an equal earlier result can be reused.
    LookUp(LookUp),
    /// Fill the folder of a new run with an earlier run's files.
    Prepare(Preparation),
    /// The run has ended; its lease can be released.
    Finished(RunId),
}

/// A cache look-up.
pub struct LookUp {
    pub run: RunId,
    pub task: TaskIx,
    pub instance: InstanceIx,
    pub plan: Arc<cubeloom_domain::plan::RunPlan>,
    /// The job as it would be submitted.
    pub job: Arc<Job>,
}

/// A run whose folder must be filled before its first task.
pub struct Preparation {
    pub run: RunId,
    pub project: String,
    /// The run whose results it reuses.
    pub of: RunId,
}

pub struct Core {
    places: BTreeMap<String, Place>,
    settings: Settings,
    /// The queue tree. `None` until it is read.
    queues: Option<Arc<Vec<QueueRecord>>>,
    /// Cordoned nodes. `None` until they are read.
    aside: Option<Vec<NodeAside>>,
    /// When nodes are cordoned.
    node_rule: NodeRule,
    /// The normal results of a node pool's preflight tests, as measured so far.
    norms: BTreeMap<(String, Option<String>), Bounds>,
    /// The concurrency limits that tasks may name.
    limits: Vec<NamedLimit>,
    /// Starts with a concurrency limit within the last minute, by any server.
    limited: BTreeMap<AttemptKey, (Timestamp, Vec<String>)>,
    /// By cluster: usage of projects before this server started. `None` until it is read.
    past: Option<Vec<(String, HeldBefore)>>,
    /// Time of the latest event.
    now: Timestamp,
    /// By slot. Slots are never reused, so a run that has left must cost almost nothing here.
    runs: Vec<Option<Box<ActiveRun>>>,
    slots: HashMap<RunId, Slot>,
    live: HashMap<AttemptKey, At>,
    timers: BTreeSet<(Timestamp, Timer)>,
    /// Runs whose folders are being filled.
    preparing: BTreeSet<RunId>,
    output: Output,
    histories: Histories,
    /// Sizing decisions of this cycle.
    memo: Memo,
    /// Tasks whose upstream has changed in this cycle.
    to_consider: VecDeque<(Slot, TaskIx)>,
    considering: bool,
    /// Searches with a trial that has ended.
    searching: VecDeque<(Slot, TaskIx)>,
    is_searching: bool,
    /// Whether a queued run may be able to start now.
    may_start: bool,
    starting: bool,
    /// Active runs on other servers, of pipelines with queued runs here.
    runs_elsewhere: Vec<RunElsewhere>,
}

impl Core {
    /// Creates a core without runs and clusters: [`Self::join`] adds them.
    pub fn new(settings: Settings, node_rule: NodeRule) -> Self {
        Self {
            places: BTreeMap::new(),
            settings,
            queues: None,
            aside: None,
            node_rule,
            norms: BTreeMap::new(),
            limits: Vec::new(),
            limited: BTreeMap::new(),
            past: None,
            now: Timestamp::default(),
            runs: Vec::new(),
            slots: HashMap::new(),
            live: HashMap::new(),
            timers: BTreeSet::new(),
            preparing: BTreeSet::new(),
            output: Output::default(),
            histories: Histories::default(),
            memo: Memo::default(),
            to_consider: VecDeque::new(),
            considering: false,
            searching: VecDeque::new(),
            is_searching: false,
            may_start: false,
            starting: false,
            runs_elsewhere: Vec::new(),
        }
    }

    /// Updates the clusters and their facts. A removed cluster is dropped once nothing on it is awaited.
    /// `attach` is called with each new executor. Returns the runs in memory with a new cluster: their jobs
    /// must be restored, as after a restart.
    pub fn join(
        &mut self,
        clusters: Vec<(String, Arc<dyn Executor>)>,
        attach: impl Fn(&Arc<dyn Executor>),
        now: Timestamp,
    ) -> Vec<RunId> {
        self.memo.forget();
        let (mut new, mut fresh) = (BTreeSet::new(), Vec::new());
        self.places.retain(|name, place| !place.is_idle() || clusters.iter().any(|(known, _)| known == name));
        for (name, executor) in clusters {
            match self.places.get_mut(&name) {
                Some(place) if Arc::ptr_eq(&place.executor, &executor) => place.look(now),
                known => {
                    attach(&executor);
                    // Before the tree is read no project would have a quota, which is wrong.
                    if let Some(queues) = &self.queues {
                        executor.share(queues);
                    }
                    match known {
                        Some(place) => place.executor = executor,
                        None => {
                            let queues = self.queues.clone().unwrap_or_default();
                            let place = Place::new(&name, executor, self.settings.clone(), &queues, now);
                            self.places.insert(name.clone(), place);
                            fresh.push(name.clone());
                        }
                    }
                    new.insert(name);
                }
            }
        }
        for name in fresh {
            self.tell_limits(&name);
            self.tell_past(&name);
        }
        for name in &new {
            if let (Some(place), Some(aside)) = (self.places.get(name), &self.aside) {
                place.set_aside(name, aside);
            }
        }
        let records = self.runs.iter().flatten().filter(|run| new.contains(&run.plan.cluster));
        records.map(|run| run.record.id.clone()).collect()
    }

    /// Updates the queues, with their guarantees and limits.
    pub fn set_queues(&mut self, queues: Vec<QueueRecord>) {
        // An empty tree counts, too: there may be queues from before this server started.
        if self.queues.as_deref() == Some(&queues) {
            return;
        }
        self.memo.forget();
        let queues = self.queues.insert(Arc::new(queues));
        for place in self.places.values_mut() {
            place.set_queues(queues);
        }
    }

    /// Updates the cordoned nodes.
    pub fn set_aside(&mut self, aside: Vec<NodeAside>) {
        if self.aside.as_ref() == Some(&aside) {
            return;
        }
        for (cluster, place) in &self.places {
            place.set_aside(cluster, &aside);
        }
        self.aside = Some(aside);
    }

    /// How many nodes each cluster has for jobs.
    pub fn node_counts(&self) -> BTreeMap<String, NodeCount> {
        self.places.iter().map(|(cluster, place)| (cluster.clone(), place.node_count())).collect()
    }

    /// Updates what runs of other servers hold: it is counted, but never preempted or resized.
    pub fn set_held_elsewhere(&mut self, held: &[ForeignHold], now: Timestamp) {
        for (cluster, place) in &mut self.places {
            let counts = |held: &&ForeignHold| {
                let attempt = &held.holding.attempt;
                attempt.pool.cluster == *cluster || !attempt.limits.is_empty()
            };
            place.set_held_elsewhere(cluster, held.iter().filter(counts).collect(), now);
        }
    }

    /// Updates the pending jobs of other servers: they take part in the order, and are never started here.
    pub fn set_waiting_elsewhere(&mut self, waiting: &[Foreign], now: Timestamp) {
        for (cluster, place) in &mut self.places {
            let here = waiting.iter().filter(|waits| waits.cluster == *cluster);
            place.set_waiting_elsewhere(here.collect(), now);
        }
    }

    /// Whether jobs of other servers are pending for any cluster here.
    pub fn waits_elsewhere(&self) -> bool {
        self.places.values().any(Place::waits_elsewhere)
    }

    /// A copy of a cluster's scheduler as of now, for what-if queries.
    pub fn desk(&self, cluster: &str) -> Option<Desk> {
        self.places.get(cluster).map(|place| place.desk.clone())
    }

    /// Frees an instance's allocation or its position in the queue. Returns true when it had one.
    fn leave_place(&mut self, at: At) -> bool {
        let now = self.now;
        let Some(run) = self.runs[at.slot].as_ref() else { return false };
        self.places.get_mut(run.place_of(at.task)).is_some_and(|place| place.remove(at, now))
    }

    /// The executor of an instance's jobs.
    fn executor(&self, at: At) -> Option<Arc<dyn Executor>> {
        let run = self.runs.get(at.slot)?.as_ref()?;
        self.places.get(run.place_of(at.task)).map(|place| Arc::clone(&place.executor))
    }

    pub fn run_ids(&self) -> Vec<RunId> {
        self.slots.keys().cloned().collect()
    }

    pub fn has(&self, run: &RunId) -> bool {
        self.slots.contains_key(run)
    }

    pub fn next_timer(&self) -> Option<Timestamp> {
        let passes = self.places.values().filter_map(|place| place.again);
        self.timers.first().map(|(at, _)| *at).into_iter().chain(passes).min()
    }

    /// How soon the changes must be stored.
    pub fn demand(&self) -> Demand {
        self.output.demand()
    }

    /// Takes everything that this cycle changed and requested. The next cycle starts empty.
    pub fn take_output(&mut self) -> (Changes, Vec<Action>) {
        output::take(self)
    }

    /// Drops a run that another replica leads now. Its jobs continue, and the other replica restores them.
    pub fn forget(&mut self, run: &RunId) {
        let Some(slot) = self.slots.remove(run) else { return };
        let gone = |at: &At| at.slot == slot;
        for key in self.live.iter().filter(|(_, at)| gone(at)).map(|(key, _)| key.clone()).collect::<Vec<_>>()
        {
            self.free(&key);
        }
        for place in self.places.values_mut() {
            place.remove_waiting(slot, self.now);
        }
        self.timers.retain(|(_, timer)| match timer {
            Timer::Retry(at)
            | Timer::Timeout(at, _)
            | Timer::Undecided(at)
            | Timer::Pace(at, _)
            | Timer::Cards(at, _) => !gone(at),
        });
        self.output.forget(run, slot);
        if let Some(run) = self.runs[slot].take() {
            self.histories.leave(&run);
        }
    }

    /// Frees an attempt's allocation, in memory.
    fn free(&mut self, key: &AttemptKey) -> Option<Box<active::LiveAttempt>> {
        let at = self.live.remove(key)?;
        let run = self.runs[at.slot].as_mut()?;
        let attempt = run.instance_mut(at)?.live.take()?;
        run.active -= 1;
        run.tasks[at.task.index()].active -= 1;
        let started_at = attempt.record.state.started_at();
        if let Some((started, limit)) = started_at.zip(run.plan.task(at.task).timeout) {
            self.timers.remove(&(started.plus(limit.0), Timer::Timeout(at, key.n)));
        }
        self.leave_place(at);
        self.drop_limits(at, &attempt.record);
        Some(attempt)
    }

    fn run_mut(&mut self, slot: Slot) -> Option<&mut ActiveRun> {
        self.runs.get_mut(slot)?.as_deref_mut()
    }

    fn instance_mut(&mut self, at: At) -> Option<&mut active::Instance> {
        self.run_mut(at.slot)?.instance_mut(at)
    }
}
