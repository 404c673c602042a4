//! The leased runs, in memory: what was observed goes in, what must be written and done comes out.
//!
//! Everything here is synchronous and, but for [`Executor::bind`], without effect. Work is driven by what changed:
//! a pass costs what it touches, not what the runs hold. What a pass changed in memory is collected by
//! [`Core::take_output`]; the driver stores the changes, then performs the actions.

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

/// The place of a run in memory.
type Slot = usize;

/// An instance, by the place of its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct At {
    slot: Slot,
    task: TaskIx,
    instance: InstanceIx,
}

/// The order of admission: priority, then age, then the document's order.
type QueueKey = (Reverse<i32>, Timestamp, At);

/// Something that is due at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    /// The wait before another attempt is over.
    Retry(At),
    /// The attempt of this number has used up its time.
    Timeout(At, u32),
    /// Nobody has decided in the time that there was for it.
    Undecided(At),
    /// The attempt of this number hangs, unless it has reported a step since.
    Pace(At, u32),
    /// The cards of the attempt of this number are to be looked at.
    Cards(At, u32),
}

/// What the driver must do after the changes of a pass are stored.
pub enum Action {
    /// Start a job, or take it up.
    Submit(Arc<dyn Executor>, Submission),
    /// Take up a job of an earlier server, and go on stopping it if it was being stopped.
    Adopt(Arc<dyn Executor>, Submission, Option<StopCause>),
    /// Make a job that runs have these workers.
    Scale(Arc<dyn Executor>, Submission),
    /// Give the workers of a job that runs the memory that it has now.
    Grow(Arc<dyn Executor>, Submission),
    /// Stop a job.
    Cancel(Arc<dyn Executor>, AttemptKey, StopCause),
    /// Look what the workers of an attempt that hangs are at.
    Look(Arc<dyn Executor>, AttemptKey),
    /// Look what the cards of an attempt that runs did so far.
    LookAtCards(Arc<dyn Executor>, AttemptKey),
    /// Free what was reserved for an attempt.
    Release(Arc<dyn Executor>, AttemptKey),
    /// Look whether an equal earlier result can be reused.
    LookUp(LookUp),
    /// Fill the folder of a new run with what an earlier one left in its own.
    Prepare(Preparation),
    /// The run has ended; its lease can go.
    Finished(RunId),
}

/// A question for the cache.
pub struct LookUp {
    /// Run.
    pub run: RunId,
    /// Task.
    pub task: TaskIx,
    /// Instance.
    pub instance: InstanceIx,
    /// The plan.
    pub plan: Arc<cubeloom_domain::plan::RunPlan>,
    /// The job as it would be submitted.
    pub job: Arc<Job>,
}

/// A run whose folder must be filled before its first task.
pub struct Preparation {
    /// Run.
    pub run: RunId,
    /// Project.
    pub project: String,
    /// The run that it takes over from.
    pub of: RunId,
}

/// The leased runs.
pub struct Core {
    places: BTreeMap<String, Place>,
    settings: Settings,
    /// The tree of queues, once it was read.
    queues: Option<Arc<Vec<QueueRecord>>>,
    /// The nodes that are set aside, once it was read.
    aside: Option<Vec<NodeAside>>,
    /// When nodes are set aside.
    node_rule: NodeRule,
    /// What is normal for the nodes of a pool, as far as its tests have shown it.
    norms: BTreeMap<(String, Option<String>), Bounds>,
    /// The limits that tasks may name.
    limits: Vec<NamedLimit>,
    /// What was started with a limit within the last minute, by any server.
    limited: BTreeMap<AttemptKey, (Timestamp, Vec<String>)>,
    /// By cluster: what projects held before this server was started, once it was read.
    past: Option<Vec<(String, HeldBefore)>>,
    /// The moment of the last thing that happened.
    now: Timestamp,
    /// By slot. A slot is never given again, so a run that has left must cost next to nothing here.
    runs: Vec<Option<Box<ActiveRun>>>,
    slots: HashMap<RunId, Slot>,
    live: HashMap<AttemptKey, At>,
    timers: BTreeSet<(Timestamp, Timer)>,
    /// Runs whose folders are being filled.
    preparing: BTreeSet<RunId>,
    output: Output,
    histories: Histories,
    /// What was decided of sizes in this pass.
    memo: Memo,
    /// Tasks whose needs have changed in this pass.
    to_consider: VecDeque<(Slot, TaskIx)>,
    considering: bool,
    /// Searches of which a trial has ended.
    searching: VecDeque<(Slot, TaskIx)>,
    is_searching: bool,
    /// Whether a queued run may start now that could not before.
    may_start: bool,
    starting: bool,
    /// What others run of the pipelines of which runs are queued here.
    runs_elsewhere: Vec<RunElsewhere>,
}

impl Core {
    /// Without runs, and without clusters: [`Self::join`] brings them.
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

    /// Takes in what clusters there are now, and what they have. One that has left is forgotten when nothing of it is
    /// waited for any more. `attach` is called with each executor that is new. What comes back are the runs in memory
    /// whose cluster is new: their jobs have to be taken up, as after a restart.
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
                    // Before the tree was read nobody has a quota, which is not true.
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

    /// Takes in what queues there are, and what each is guaranteed and may hold.
    pub fn set_queues(&mut self, queues: Vec<QueueRecord>) {
        // An empty one is told, too: there may be queues of the time before this server was started.
        if self.queues.as_deref() == Some(&queues) {
            return;
        }
        self.memo.forget();
        let queues = self.queues.insert(Arc::new(queues));
        for place in self.places.values_mut() {
            place.set_queues(queues);
        }
    }

    /// Takes in which nodes are set aside.
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

    /// Takes in what runs of other servers hold: it is counted, and nothing is asked of it.
    pub fn set_held_elsewhere(&mut self, held: &[ForeignHold], now: Timestamp) {
        for (cluster, place) in &mut self.places {
            let counts = |held: &&ForeignHold| {
                let attempt = &held.holding.attempt;
                attempt.pool.cluster == *cluster || !attempt.limits.is_empty()
            };
            place.set_held_elsewhere(cluster, held.iter().filter(counts).collect(), now);
        }
    }

    /// Takes in what waits of runs of other servers: it stands in the order, and is never started here.
    pub fn set_waiting_elsewhere(&mut self, waiting: &[Foreign], now: Timestamp) {
        for (cluster, place) in &mut self.places {
            let here = waiting.iter().filter(|waits| waits.cluster == *cluster);
            place.set_waiting_elsewhere(here.collect(), now);
        }
    }

    /// Whether jobs of other servers wait for a cluster of this one.
    pub fn waits_elsewhere(&self) -> bool {
        self.places.values().any(Place::waits_elsewhere)
    }

    /// The desk of a cluster, as it is now: a copy, to be asked what would be.
    pub fn desk(&self, cluster: &str) -> Option<Desk> {
        self.places.get(cluster).map(|place| place.desk.clone())
    }

    /// An instance holds nothing of its cluster any more, and does not wait for it. True when it did.
    fn leave_place(&mut self, at: At) -> bool {
        let now = self.now;
        let Some(run) = self.runs[at.slot].as_ref() else { return false };
        self.places.get_mut(run.place_of(at.task)).is_some_and(|place| place.remove(at, now))
    }

    /// The executor that an instance's jobs go to.
    fn executor(&self, at: At) -> Option<Arc<dyn Executor>> {
        let run = self.runs.get(at.slot)?.as_ref()?;
        self.places.get(run.place_of(at.task)).map(|place| Arc::clone(&place.executor))
    }

    /// The runs in memory.
    pub fn run_ids(&self) -> Vec<RunId> {
        self.slots.keys().cloned().collect()
    }

    /// Whether the run is in memory.
    pub fn has(&self, run: &RunId) -> bool {
        self.slots.contains_key(run)
    }

    /// When the next timer is due.
    pub fn next_timer(&self) -> Option<Timestamp> {
        let passes = self.places.values().filter_map(|place| place.again);
        self.timers.first().map(|(at, _)| *at).into_iter().chain(passes).min()
    }

    /// When what has changed must be stored.
    pub fn demand(&self) -> Demand {
        self.output.demand()
    }

    /// Everything that this pass changed and wants done; the next pass starts with nothing.
    pub fn take_output(&mut self) -> (Changes, Vec<Action>) {
        output::take(self)
    }

    /// Forgets a run that another replica holds now. Its jobs go on; the other one takes them up.
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

    /// Gives back what an attempt held, in memory.
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
