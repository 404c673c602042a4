//! A cluster as the engine sees it: its executor, and its scheduler with pending and running jobs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use cubeloom_admission::{
    Apart, Ask, Desk, HeldBefore, JobId, NamedLimit, NodeRoom, Pass, Preemption, Scaler, Settings, Spec,
    TakenUp,
};
use cubeloom_domain::Timestamp;
use cubeloom_domain::clusters::Standing;
use cubeloom_domain::executor::{Executor, Facts, NodeFacts, Taken};
use cubeloom_domain::faulty::FaultyCards;
use cubeloom_domain::nodes::{NodeAside, NodeCount};
use cubeloom_domain::outcome::{Failure, FailureKind};
use cubeloom_domain::pipeline::{ElasticRange, Spread};
use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::quota::QueueRecord;
use cubeloom_domain::resources::Amount;
use cubeloom_domain::sizing::NoMore;
use cubeloom_domain::waiting::WaitRule;
use cubeloom_store::Holding;

use super::active::ActiveRun;
use super::elsewhere::{Elsewhere, Foreign, ForeignHold, names_only};
use super::{At, Slot};
use crate::given_up::GivenUp;

/// For this many pending jobs at the front of a line, resources are decided again before each cycle.
const NEXT: usize = 32;
/// Interval at which a cluster that accepts no jobs is checked.
const HELD_UP: Duration = Duration::from_secs(1);

/// A cluster as the engine sees it.
pub struct Place {
    pub executor: Arc<dyn Executor>,
    /// What scales elastic jobs.
    pub scaling: Scaler,
    pub desk: Desk,
    ids: HashMap<At, JobId>,
    ats: HashMap<JobId, At>,
    /// The jobs of other servers.
    elsewhere: Elsewhere,
    /// This server's jobs on other clusters that hold a concurrency limit.
    away: HashMap<At, JobId>,
    /// By concurrency limit: the pending instances that name it.
    naming: BTreeMap<String, BTreeSet<At>>,
    /// Earlier usage in node groups that are not known yet.
    pub(super) untold: Vec<HeldBefore>,
    /// When a job's pending reason was last computed.
    explained: HashMap<JobId, Timestamp>,
    nodes: Vec<NodeFacts>,
    /// Number of cordoned nodes.
    aside: usize,
    /// Projects whose jobs do not start, each with the reason.
    held: BTreeMap<String, String>,
    /// Unhealthy GPUs that no job gets: as last reported, and as the last cycle counted them.
    faulty: Option<FaultyCards>,
    counted: Option<FaultyCards>,
    /// Version of the usage history with which pending jobs were last sized. `None` after others have moved
    /// to the front.
    pub(super) sized_at: Option<u64>,
    /// Whether anything has changed since the last cycle.
    pub changed: bool,
    /// When the passage of time alone may change the result.
    pub again: Option<Timestamp>,
}

impl Place {
    pub fn new(
        name: &str,
        executor: Arc<dyn Executor>,
        settings: Settings,
        queues: &Arc<Vec<QueueRecord>>,
        now: Timestamp,
    ) -> Self {
        let mut place = Self {
            executor,
            scaling: Scaler::default(),
            desk: Desk::new(name, settings),
            ids: HashMap::new(),
            ats: HashMap::new(),
            elsewhere: Elsewhere::default(),
            away: HashMap::new(),
            naming: BTreeMap::new(),
            untold: Vec::new(),
            explained: HashMap::new(),
            nodes: Vec::new(),
            aside: 0,
            held: BTreeMap::new(),
            faulty: None,
            counted: None,
            sized_at: None,
            changed: true,
            again: None,
        };
        place.desk.set_queues(queues);
        place.look(now);
        place
    }

    /// Updates the cluster's facts. Pending jobs are evaluated again, too, because their priority may have
    /// risen with age.
    pub fn look(&mut self, now: Timestamp) {
        self.desk.try_again();
        self.take_in(now);
    }

    fn take_in(&mut self, now: Timestamp) {
        let facts = self.executor.facts();
        let (whole, groups) = rooms(&facts);
        self.desk.set_room(whole, groups);
        self.tell_the_rest(now);
        self.desk.set_nodes(node_rooms(&facts.nodes), now);
        self.faulty = FaultyCards::of(&facts.nodes);
        self.desk.set_faulty(self.faulty.clone());
        self.scaling = Scaler::of(self.executor.as_ref(), &facts);
        let aside =
            facts.kubernetes.map(|facts| facts.aside_nodes).or(facts.slurm.map(|facts| facts.aside_nodes));
        self.aside = aside.map_or(0, |nodes| nodes.len());
        self.nodes = facts.nodes;
        self.changed = true;
    }

    /// Why pending jobs will never start, if the cluster was decommissioned.
    pub fn given_up(&mut self) -> Option<Failure> {
        if !matches!(self.executor.standing(), Standing::GivenUp { .. }) {
            return None;
        }
        self.changed = false;
        Some(GivenUp::failure(FailureKind::CouldNotStart, &self.executor.facts().cluster))
    }

    /// Why nothing starts now, regardless of capacity. It is checked again soon.
    pub fn held_up(&mut self, now: Timestamp) -> Option<String> {
        let why = self.executor.held_up()?;
        (self.changed, self.again) = (false, Some(now.plus(HELD_UP)));
        Some(why)
    }

    /// Blocks the jobs of projects that are on hold now. While there are any, they are checked again soon.
    fn hold_projects(&mut self, now: Timestamp) {
        let held = self.executor.held_projects();
        if held != self.held {
            self.desk.close(held.keys().cloned().collect());
            self.held = held;
        }
        self.again = (!self.held.is_empty()).then(|| now.plus(HELD_UP));
    }

    /// Pending instances of projects on hold, at most `most`, each with the reason.
    pub fn held_waiting(&self, most: usize) -> Vec<(At, String)> {
        if self.held.is_empty() {
            return Vec::new();
        }
        let reason = |(at, id): (&At, &JobId)| {
            let waits = self.desk.workers(*id).is_none();
            let why = self.held.get(&self.desk.spec(*id)?.project).filter(|_| waits)?;
            Some((*at, why.clone()))
        };
        self.ids.iter().filter_map(reason).take(most).collect()
    }

    /// Pending instances, at most `most`.
    pub fn waiting(&self, most: usize) -> Vec<At> {
        let waiting = self.ids.iter().filter(|(_, id)| self.desk.workers(**id).is_none());
        waiting.take(most).map(|(at, _)| *at).collect()
    }

    /// Runs a scheduling cycle on the latest facts.
    pub fn pass(&mut self, now: Timestamp) -> Pass {
        self.counted.clone_from(&self.faulty);
        self.hold_projects(now);
        let pass = self.desk.pass(now, self.executor.at_once());
        self.changed = pass.more;
        self.again = self.again.into_iter().chain(pass.again).min();
        pass
    }

    /// Whether the unhealthy GPUs have changed since the last cycle: a job admitted in that cycle may find
    /// none.
    pub fn has_other_cards(&mut self, now: Timestamp) -> bool {
        // A job that found no GPU fraction is retried only after the next look: otherwise two such jobs would
        // retry each other forever.
        self.take_in(now);
        self.faulty != self.counted
    }

    /// Whether any GPUs were last reported as unhealthy.
    pub fn has_faulty_cards(&self) -> bool {
        self.faulty.is_some()
    }

    /// A pending instance requests a GPU fraction, and none was free: it is retried after the next look.
    pub fn put_off(&mut self, at: At) {
        if let Some(id) = self.ids.get(&at) {
            self.desk.put_off(*id);
        }
    }

    pub fn nodes(&self) -> &[NodeFacts] {
        &self.nodes
    }

    pub fn set_queues(&mut self, queues: &Arc<Vec<QueueRecord>>) {
        self.changed |= self.desk.set_queues(queues);
        self.executor.share(queues);
    }

    /// Number of its nodes.
    pub fn node_count(&self) -> NodeCount {
        NodeCount { usable: self.nodes.len(), aside: self.aside }
    }

    /// Updates the cordoned nodes of the cluster.
    pub fn set_aside(&self, cluster: &str, aside: &[NodeAside]) {
        let of_it = aside.iter().filter(|one| one.of.cluster == cluster);
        self.executor.set_aside(of_it.map(|one| (one.of.node.clone(), one.why.sentence())).collect());
    }

    /// Whether nothing on it is awaited any more.
    pub fn is_idle(&self) -> bool {
        self.ids.is_empty()
    }

    /// Adds a pending instance.
    pub fn wait(&mut self, run: &ActiveRun, at: At, cool_until: Option<Timestamp>) {
        let instance = &run.tasks[at.task.index()].instances[at.instance as usize];
        let spec = self.spec(run, at, instance.attempt + 1);
        self.remove(at, instance.ready_at);
        for name in &spec.named {
            self.naming.entry(name.clone()).or_default().insert(at);
        }
        let id = self.desk.wait(spec, instance.ready_at, cool_until);
        self.note(at, id);
    }

    /// Changes the request of a pending instance, which keeps its position.
    pub fn ask_for(&mut self, run: &ActiveRun, at: At) {
        let Some(id) = self.ids.get(&at).copied() else { return };
        let spec = self.spec(run, at, run.tasks[at.task.index()].instances[at.instance as usize].attempt + 1);
        self.desk.ask_for(id, spec);
    }

    /// The instances that the next cycle visits first.
    pub fn next(&self) -> Vec<At> {
        self.desk.next(NEXT).filter_map(|id| self.at(id)).collect()
    }

    /// A pending instance has started.
    pub fn started(&mut self, at: At) {
        let Some(spec) = self.ids.get(&at).and_then(|id| self.desk.spec(*id)) else { return };
        for name in &spec.named {
            if let Some(waiting) = self.naming.get_mut(name) {
                waiting.remove(&at);
            }
        }
    }

    /// When a job's pending reason was last computed.
    pub fn explained_at(&self, id: JobId) -> Option<Timestamp> {
        self.explained.get(&id).copied()
    }

    pub fn set_explained(&mut self, id: JobId, now: Timestamp) {
        self.explained.insert(id, now);
    }

    /// Pending instances that name an exhausted concurrency limit, with their jobs, at most `most` per limit.
    pub fn shut_out(&self, most: usize, now: Timestamp) -> Vec<(At, JobId)> {
        let is_full = |name: &str| self.desk.named_use(name, now).is_some_and(|used| used.is_full());
        let full = self.naming.iter().filter(|(name, _)| is_full(name));
        let waiting = full.flat_map(|(_, waiting)| waiting.iter().take(most));
        waiting.filter_map(|at| Some((*at, *self.ids.get(at)?))).collect()
    }

    /// Restores an attempt of an earlier server.
    pub fn take_up(&mut self, run: &ActiveRun, at: At, was: TakenUp, now: Timestamp) {
        let instance = &run.tasks[at.task.index()].instances[at.instance as usize];
        let spec = self.spec(run, at, instance.attempt);
        self.remove(at, now);
        let id = self.desk.take_up(spec, was, now);
        self.note(at, id);
    }

    fn note(&mut self, at: At, id: JobId) {
        self.ids.insert(at, id);
        self.ats.insert(id, at);
        self.changed = true;
    }

    /// Removes an instance, running or pending. Returns true when it was either.
    pub fn remove(&mut self, at: At, now: Timestamp) -> bool {
        let Some(id) = self.forget(at) else { return false };
        self.desk.remove(id, now);
        true
    }

    /// The same for an instance that the last cycle started, but that did not start.
    pub fn take_back(&mut self, at: At, now: Timestamp) {
        if let Some(id) = self.forget(at) {
            self.desk.unbegin(id, now);
        }
    }

    fn forget(&mut self, at: At) -> Option<JobId> {
        self.started(at);
        let id = self.ids.remove(&at)?;
        self.ats.remove(&id);
        self.explained.remove(&id);
        self.changed = true;
        Some(id)
    }

    /// The same for all pending instances of a run.
    pub fn remove_waiting(&mut self, slot: Slot, now: Timestamp) {
        let of_run = self.ids.iter().filter(|(at, id)| at.slot == slot && self.desk.workers(**id).is_none());
        for at in of_run.map(|(at, _)| *at).collect::<Vec<_>>() {
            self.remove(at, now);
        }
    }

    /// An instance's attempt was asked to stop.
    pub fn leave(&mut self, at: At, now: Timestamp) {
        if let Some(id) = self.ids.get(&at) {
            self.desk.leave(*id, now);
            self.changed = true;
        }
    }

    /// An instance's attempt has this many elastic workers now.
    pub fn resized(&mut self, at: At, workers: u32, now: Timestamp) {
        if let Some(id) = self.ids.get(&at) {
            self.desk.resized(*id, workers, now);
            self.changed = true;
        }
    }

    /// An instance's attempt could not get more workers than these.
    pub fn not_resized(&mut self, at: At, workers: u32, now: Timestamp) {
        if let Some(id) = self.ids.get(&at) {
            self.desk.not_resized(*id, workers, now);
        }
    }

    /// The maximum number of elastic workers of a job that the cluster's own scheduler scales, for a task
    /// with this range.
    pub fn may_have(&self, at: At, task: &PlannedTask, range: ElasticRange) -> u32 {
        let (Some(id), Some(role)) = (self.ids.get(&at), task.roles.last()) else { return range.min };
        let each = Ask::workers([(&role.resources, 1)].into_iter());
        range.min + self.desk.may_have(*id, &each, range.max.saturating_sub(range.min))
    }

    /// Updates what the n-th attempt of an instance holds to its current resources, if there is capacity.
    ///
    /// # Errors
    /// What prevents it; `None` if it holds nothing.
    pub fn enlarge(&mut self, run: &ActiveRun, at: At, n: u32, now: Timestamp) -> Result<(), Option<NoMore>> {
        let Some(id) = self.ids.get(&at).copied() else { return Err(None) };
        let spec = self.spec(run, at, n);
        let enlarged = self.desk.enlarge(id, spec, now);
        self.changed |= enlarged.is_ok();
        enlarged.map_err(|block| block.map(|block| no_more(block.rule)))
    }

    pub fn set_limits(&mut self, limits: &[NamedLimit]) {
        self.changed |= self.desk.set_named(limits.to_vec());
    }

    /// Counts a job of another cluster that holds concurrency limits.
    pub fn hold_away(&mut self, at: At, held: &Holding, now: Timestamp) {
        let id = self.desk.hold(names_only(held), 0, held.attempt.created_at, now);
        if let Some(before) = self.away.insert(at, id) {
            self.desk.remove(before, now);
        }
    }

    pub fn remove_away(&mut self, at: At, now: Timestamp) {
        if let Some(id) = self.away.remove(&at) {
            self.desk.remove(id, now);
            self.changed = true;
        }
    }

    /// Updates what attempts of other servers hold: those here, and those elsewhere that hold concurrency
    /// limits.
    pub fn set_held_elsewhere(&mut self, cluster: &str, held: Vec<&ForeignHold>, now: Timestamp) {
        self.changed |= self.elsewhere.set_held(&mut self.desk, cluster, held, now);
    }

    /// Updates the pending jobs here of runs that other servers lead.
    pub fn set_waiting_elsewhere(&mut self, waiting: Vec<&Foreign>, now: Timestamp) {
        self.changed |= self.elsewhere.set_waiting(&mut self.desk, waiting, self.scaling, now);
    }

    /// Whether any job of other servers is pending here.
    pub fn waits_elsewhere(&self) -> bool {
        self.elsewhere.waits()
    }

    /// Why an instance's attempt is preempted, and by which job, if known.
    pub fn preempted(&self, at: At) -> Option<(Preemption, &Spec)> {
        self.desk.preempted(*self.ids.get(&at)?)
    }

    /// The instance of a scheduler's job.
    pub fn at(&self, id: JobId) -> Option<At> {
        self.ats.get(&id).copied()
    }

    /// The spec of an instance's n-th attempt.
    fn spec(&self, run: &ActiveRun, at: At, n: u32) -> Spec {
        let planned = run.plan.task(at.task);
        let record = &run.record;
        let required = planned.placement.spread == Some(Spread::Required);
        let apart = (self.nodes.len() == 1 && run.tasks_may_exclude).then_some(Apart { required });
        Spec {
            key: format!("{}.{}.{}.{n}", record.id, planned.name, at.instance),
            project: record.project.clone(),
            person: record.person().to_owned(),
            run: run.plan.context.root().number(),
            apart,
            length: run.lengths.get(at.task.index()).copied().flatten(),
            ..Spec::planned(&run.sized_task(at), self.scaling)
        }
    }
}

/// What keeps a job from holding more, by the scheduler's rule.
fn no_more(rule: WaitRule) -> NoMore {
    let is_quota = matches!(rule, WaitRule::Limit | WaitRule::NoBorrowing | WaitRule::PersonsCap);
    if is_quota { NoMore::Quota } else { NoMore::Room }
}

/// Capacity of a cluster and its node groups.
fn rooms(facts: &Facts) -> (Ask, BTreeMap<String, Ask>) {
    let mut whole = Ask::default();
    let mut groups: BTreeMap<String, Ask> = BTreeMap::new();
    for node in &facts.nodes {
        add(&mut whole, node);
        for group in &node.groups {
            add(groups.entry(group.clone()).or_default(), node);
        }
    }
    (whole, groups)
}

/// Capacity and usage of each node; empty if the cluster does not report all usage. Unhealthy GPUs count as
/// foreign usage.
fn node_rooms(nodes: &[NodeFacts]) -> Vec<NodeRoom> {
    let room = |node: &NodeFacts| {
        let mut has = Ask::default();
        add(&mut has, node);
        let name = node.gpus.first().map(|card| card.name.as_str().into());
        let ask = |amount: Amount| {
            let cards = (name.clone(), u64::from(amount.gpus));
            Ask { cpu: amount.cpu.0, memory: amount.memory.0, cards: vec![cards], ..Ask::default() }
        };
        let faulty = node.gpus.iter().filter(|card| card.xid.is_some());
        let faulty: Vec<(Option<Arc<str>>, u64)> =
            faulty.map(|card| (Some(card.name.as_str().into()), 1)).collect();
        let untold = Taken::default();
        let taken = node.taken.as_ref().or((!faulty.is_empty()).then_some(&untold))?;
        let mut others = ask(taken.others.unwrap_or_default());
        others.cards.extend(faulty);
        Some(NodeRoom {
            groups: node.groups.clone(),
            has,
            others,
            ours: taken.ours.iter().map(|(key, amount)| (key.to_string(), ask(*amount))).collect(),
        })
    };
    nodes.iter().map(room).collect::<Option<_>>().unwrap_or_default()
}

fn add(sum: &mut Ask, node: &NodeFacts) {
    sum.cpu = sum.cpu.saturating_add(node.cpu.0);
    sum.memory = sum.memory.saturating_add(node.memory.0);
    for card in &node.gpus {
        let same = sum.cards.iter_mut().find(|(name, _)| name.as_deref() == Some(card.name.as_str()));
        match same {
            Some((_, count)) => *count += 1,
            None => sum.cards.push((Some(card.name.as_str().into()), 1)),
        }
    }
}
