//! A cluster that only pretends: what happens to a job is scripted by the name of its task.
//!
//! It outlives the engine under test, as a real cluster does: attach another engine to it and its jobs are still
//! there. It counts how often each attempt was executed, so that tests can say "at most once".

mod capabilities;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cubeloom_domain::executor::{
    BoxFuture, Ended, Event, Executor, Facts, Growth, Metric, NearlyFull, NotGiven, Observation, Observer,
    Report, Scaling, StopCause, Submission,
};
use cubeloom_domain::job::{Job, JobRole};
use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome, WorkerName};
use cubeloom_domain::pace::Pace;
use cubeloom_domain::quota::QueueRecord;
use cubeloom_domain::usage::{RoleUsage, UsageSeries, UsageSummary, WorkerUsage};
use cubeloom_domain::{AttemptKey, Bytes, Clock, Cpu, JsonMap, Timestamp};

/// What a job does.
#[derive(Clone, Debug, Default)]
pub enum Behaviour {
    /// It succeeds at once.
    #[default]
    Succeed,
    /// It succeeds at once with these outputs.
    Outputs(JsonMap),
    /// It succeeds at once and reports what this makes of it.
    Compute(fn(&Job) -> Report),
    /// It fails at once.
    Fail(FailureKind),
    /// It has run for ten seconds and needed this much memory; it has succeeded where each worker had it.
    Needs(Bytes),
    /// The same, where the workers of each role needed an amount of their own, in the order of the roles.
    NeedsEach(Vec<Bytes>),
    /// It runs until the test ends it.
    Hold,
    /// It is forgotten: the cluster will say that it knows nothing of it.
    Vanish,
}

/// A cluster that only pretends.
pub struct FakeExecutor {
    facts: Facts,
    clock: Arc<dyn Clock>,
    inner: Mutex<Inner>,
    at_once: usize,
}

/// How many jobs tests give it at a time: fewer than most of their runs have.
const AT_ONCE: usize = 3;

#[derive(Default)]
struct Inner {
    /// The engines that are told, also those that have ended: they do not listen any more.
    observers: Vec<Arc<dyn Observer>>,
    scripts: BTreeMap<String, VecDeque<Behaviour>>,
    /// Jobs that are held.
    jobs: HashSet<AttemptKey>,
    /// The workers of each job.
    workers: HashMap<AttemptKey, Workers>,
    /// The memory of the first role's workers, of each job.
    memory: HashMap<AttemptKey, Bytes>,
    /// What the workers of each job used over time.
    series: HashMap<AttemptKey, Vec<WorkerUsage>>,
    /// Workers that are told to go stay until the test lets them.
    holds_workers: bool,
    executions: HashMap<AttemptKey, u32>,
    ended: HashMap<AttemptKey, Ended>,
    /// What the attached engine has bound, each with its cards. By key and not counted: who dies between `bind` and its
    /// commit never releases, and the next engine binds the same attempt.
    bound: HashMap<AttemptKey, u32>,
    order: Vec<AttemptKey>,
    keep_history: bool,
    ignores_cancels: bool,
    held_up: Option<String>,
    held_projects: BTreeMap<String, String>,
    cancels: usize,
    /// The trees of queues that it was told of.
    shared: Vec<Arc<Vec<QueueRecord>>>,
    /// The nodes that are set aside, with the reasons.
    aside: BTreeMap<String, String>,
    /// The cards that are faulty, by UUID, each with its error.
    faults: BTreeMap<String, u32>,
}

/// A worker of a job that came, or went, by its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It started.
    Came(u32),
    /// It was given back, and has ended.
    Went(u32),
    /// It was lost by itself.
    Lost(u32),
}

/// The workers of a job.
#[derive(Default)]
struct Workers {
    /// The ranks of those that run.
    ranks: BTreeSet<u32>,
    /// How many must stay.
    least: u32,
    steps: Vec<Step>,
}

impl Workers {
    /// So many, from the first: those with lower ranks come before those with higher ones, and go after them.
    fn resize(&mut self, count: u32) {
        let gone: Vec<u32> = self.ranks.range(count..).rev().copied().collect();
        let new: Vec<u32> = (0..count).filter(|rank| !self.ranks.contains(rank)).collect();
        self.ranks = (0..count).collect();
        self.steps.extend(gone.into_iter().map(Step::Went));
        self.steps.extend(new.into_iter().map(Step::Came));
    }

    fn count(&self) -> u32 {
        self.ranks.len() as u32
    }
}

impl FakeExecutor {
    /// A cluster that has this much.
    #[must_use]
    pub fn new(facts: Facts, clock: Arc<dyn Clock>) -> Arc<Self> {
        let inner = Inner { keep_history: true, ..Inner::default() };
        Arc::new(Self { facts, clock, inner: Mutex::new(inner), at_once: AT_ONCE })
    }

    /// The same without memory of what has ended, for benchmarks.
    #[must_use]
    pub fn forgetful(facts: Facts, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { facts, clock, inner: Mutex::default(), at_once: usize::MAX })
    }

    /// Scripts the next attempts of a task, in order; after them it succeeds.
    pub fn script(&self, task: &str, behaviours: impl IntoIterator<Item = Behaviour>) {
        self.lock().scripts.entry(task.into()).or_default().extend(behaviours);
    }

    /// Takes back what is scripted of a task.
    pub fn forget_script(&self, task: &str) {
        self.lock().scripts.remove(task);
    }

    /// The attempts that run, sorted.
    #[must_use]
    pub fn running(&self) -> Vec<AttemptKey> {
        let mut keys: Vec<_> = self.lock().jobs.iter().cloned().collect();
        keys.sort();
        keys
    }

    /// The attempts that were executed, in the order they started.
    #[must_use]
    pub fn started(&self) -> Vec<AttemptKey> {
        self.lock().order.clone()
    }

    /// How often each attempt was executed.
    #[must_use]
    pub fn executions(&self) -> HashMap<AttemptKey, u32> {
        self.lock().executions.clone()
    }

    /// How many jobs are bound and not released.
    #[must_use]
    pub fn bound(&self) -> usize {
        self.lock().bound.len()
    }

    /// Ends a job that is held.
    pub fn finish(&self, key: &AttemptKey, outcome: Outcome) {
        self.finish_with(key, outcome, Report::default());
    }

    /// Ends a job that is held, with a report.
    pub fn finish_with(&self, key: &AttemptKey, outcome: Outcome, report: Report) {
        let mut inner = self.lock();
        if inner.jobs.remove(key) {
            self.end(&mut inner, key, outcome, report);
        }
    }

    /// Says that a job that is held has measured something.
    pub fn measure(&self, key: &AttemptKey, metric: Metric) {
        self.lock().tell(key, Event::Measured(metric));
    }

    /// Says at which pace a job that is held goes.
    pub fn pace(&self, key: &AttemptKey, pace: Pace) {
        self.lock().tell(key, Event::Paced(Box::new(pace)));
    }

    /// Says that a worker of a role of a job that is held has nearly used up its memory.
    pub fn fill(&self, key: &AttemptKey, role: &str, limit: Bytes) {
        let full = NearlyFull { role: role.into(), limit, used: Bytes(limit.0 - limit.0 / 20) };
        self.lock().tell(key, Event::NearlyFull(full));
    }

    /// Says that the workers of a role of a job that is held were not given so much memory: they have what they had.
    pub fn refuse_memory(&self, key: &AttemptKey, role: &str, memory: Bytes, had: Bytes) {
        let mut inner = self.lock();
        inner.memory.insert(key.clone(), had);
        let not = NotGiven { role: role.into(), memory, why: "its node has no room".into() };
        inner.tell(key, Event::NotGiven(not));
    }

    /// The memory that each worker of a job's first role has, or had last.
    #[must_use]
    pub fn memory(&self, key: &AttemptKey) -> Bytes {
        self.lock().memory.get(key).copied().unwrap_or_default()
    }

    /// Says what the workers of a job have used over time.
    pub fn set_series(&self, key: &AttemptKey, series: Vec<WorkerUsage>) {
        self.lock().series.insert(key.clone(), series);
    }

    /// How many workers of a job run, or ran last.
    #[must_use]
    pub fn workers(&self, key: &AttemptKey) -> u32 {
        self.lock().workers.get(key).map_or(0, Workers::count)
    }

    /// The ranks of the workers of a job that run, or ran last.
    #[must_use]
    pub fn ranks(&self, key: &AttemptKey) -> Vec<u32> {
        self.lock()
            .workers
            .get(key)
            .map(|workers| workers.ranks.iter().copied().collect())
            .unwrap_or_default()
    }

    /// Which workers of a job came and went, in order.
    #[must_use]
    pub fn steps(&self, key: &AttemptKey) -> Vec<Step> {
        self.lock().workers.get(key).map(|workers| workers.steps.clone()).unwrap_or_default()
    }

    /// A worker of a job that is held is lost. The job goes on as long as enough are left, and fails otherwise.
    pub fn lose(&self, key: &AttemptKey, rank: u32) {
        let mut inner = self.lock();
        let Some(workers) = inner.workers.get_mut(key) else { return };
        if !workers.ranks.remove(&rank) {
            return;
        }
        workers.steps.push(Step::Lost(rank));
        if workers.count() < workers.least && inner.jobs.remove(key) {
            let worker = Some(WorkerName { role: "worker".into(), index: rank });
            let failure = Failure { worker, ..Failure::new(FailureKind::Exit, "too few workers are left") };
            self.end(&mut inner, key, Outcome::Failed(failure), Report::default());
        }
    }

    /// From now on, single workers that are told to go stay; or they go again.
    pub fn hold_workers(&self, hold: bool) {
        self.lock().holds_workers = hold;
    }

    /// So many workers of a job run: the cluster's own scheduler decides that.
    pub fn run_with(&self, key: &AttemptKey, workers: u32) {
        self.lock().tell(key, Event::Running { workers });
    }

    /// So many workers of a job are left.
    pub fn leave(&self, key: &AttemptKey, workers: u32) {
        let mut inner = self.lock();
        inner.workers.entry(key.clone()).or_default().resize(workers);
        inner.tell(key, Event::Resized { workers });
    }

    /// From now on, jobs that are told to stop take no notice; or they do again.
    pub fn ignore_cancels(&self, ignore: bool) {
        self.lock().ignores_cancels = ignore;
    }

    /// How often a job was told to stop.
    #[must_use]
    pub fn cancels(&self) -> usize {
        self.lock().cancels
    }

    /// From now on nothing new starts, for this reason; or it does again.
    pub fn hold_up(&self, why: Option<&str>) {
        self.lock().held_up = why.map(str::to_owned);
    }

    /// From now on nothing new of this project starts, for this reason; or it does again.
    pub fn hold_project(&self, project: &str, why: Option<&str>) {
        let held = &mut self.lock().held_projects;
        match why {
            Some(why) => held.insert(project.to_owned(), why.to_owned()),
            None => held.remove(project),
        };
    }

    /// The trees of queues that it was told of, in their order.
    pub fn shared(&self) -> Vec<Arc<Vec<QueueRecord>>> {
        self.lock().shared.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, inner: &mut Inner, key: &AttemptKey, outcome: Outcome, report: Report) {
        let (now, roles, usage) = (self.clock.now(), Vec::new(), UsageSummary::default());
        let ended = Ended { outcome, started_at: Some(now), ended_at: now, report, usage, roles };
        self.end_as(inner, key, ended);
    }

    /// What a worker of each role needs is there, or memory of the first role that has less runs out.
    fn end_by_need(&self, inner: &mut Inner, job: &Job, needs: &[Bytes]) {
        let ended_at = self.clock.now();
        let usage = |(role, need): (&JobRole, &Bytes)| RoleUsage {
            role: role.name.clone(),
            peak_memory: role.resources.memory.min(*need),
            memory: None,
            cpu: Cpu(50),
            cpu_high: Cpu(50),
            throttled: Some(0),
            cpu_waited: Some(0),
        };
        let mut each = job.roles.iter().zip(needs);
        let outcome = match each.find(|(role, need)| role.resources.memory < **need) {
            None => Outcome::Succeeded,
            Some((role, _)) => {
                let worker = Some(WorkerName { role: role.name.clone(), index: 0 });
                let failure = Failure::new(FailureKind::OutOfMemory, "as the test wants it");
                Outcome::Failed(Failure { worker, ..failure })
            }
        };
        let ended = Ended {
            outcome,
            started_at: Some(Timestamp(ended_at.0 - 10_000_000)),
            ended_at,
            report: Report::default(),
            usage: UsageSummary::default(),
            roles: job.roles.iter().zip(needs).map(usage).collect(),
        };
        self.end_as(inner, &job.key, ended);
    }

    fn end_as(&self, inner: &mut Inner, key: &AttemptKey, ended: Ended) {
        if inner.keep_history {
            inner.ended.insert(key.clone(), ended.clone());
        }
        inner.tell(key, Event::Ended(Box::new(ended)));
    }

    fn execute(&self, job: &Job) {
        let key = &job.key;
        let mut inner = self.lock();
        if inner.report_known(key, self.clock.as_ref()) {
            return;
        }
        if inner.keep_history {
            *inner.executions.entry(key.clone()).or_default() += 1;
            inner.order.push(key.clone());
        }
        let behaviour = inner.scripts.get_mut(&key.task).and_then(VecDeque::pop_front).unwrap_or_default();
        match behaviour {
            Behaviour::Succeed => self.end(&mut inner, key, Outcome::Succeeded, Report::default()),
            Behaviour::Outputs(outputs) => {
                let report = Report { outputs, ..Report::default() };
                self.end(&mut inner, key, Outcome::Succeeded, report);
            }
            Behaviour::Compute(report) => self.end(&mut inner, key, Outcome::Succeeded, report(job)),
            Behaviour::Fail(kind) => {
                let failure = Failure::new(kind, "as the test wants it");
                self.end(&mut inner, key, Outcome::Failed(failure), Report::default());
            }
            Behaviour::Needs(memory) => self.end_by_need(&mut inner, job, &vec![memory; job.roles.len()]),
            Behaviour::NeedsEach(needs) => self.end_by_need(&mut inner, job, &needs),
            Behaviour::Hold => {
                let workers = inner.workers.entry(key.clone()).or_default();
                workers.least = if job.elastic.is_some() { job.gang } else { job.workers() };
                workers.resize(job.workers());
                inner.give_memory(job);
                inner.jobs.insert(key.clone());
                inner.tell(key, Event::Started { at: self.clock.now() });
            }
            Behaviour::Vanish => inner.tell(key, Event::Started { at: self.clock.now() }),
        }
    }
}

impl Inner {
    fn give_memory(&mut self, job: &Job) {
        let memory = job.roles.first().map(|role| role.resources.memory).unwrap_or_default();
        let has = self.memory.entry(job.key.clone()).or_default();
        *has = memory.max(*has);
    }

    fn tell(&self, key: &AttemptKey, event: Event) {
        for observer in &self.observers {
            observer.observed(Observation { key: key.clone(), event: event.clone() });
        }
    }

    /// Reports the state of a job that is here; says whether it is.
    fn report_known(&self, key: &AttemptKey, clock: &dyn Clock) -> bool {
        if let Some(ended) = self.ended.get(key) {
            self.tell(key, Event::Ended(Box::new(ended.clone())));
            return true;
        }
        if self.jobs.contains(key) {
            self.tell(key, Event::Started { at: clock.now() });
            return true;
        }
        false
    }
}

impl Executor for FakeExecutor {
    fn facts(&self) -> Facts {
        let mut facts = self.facts.clone();
        let inner = self.lock();
        facts.nodes.retain(|node| !inner.aside.contains_key(&node.name));
        for card in facts.nodes.iter_mut().flat_map(|node| &mut node.gpus) {
            card.xid = inner.faults.get(&card.uuid).copied();
        }
        facts
    }

    fn known_fault(&self, uuid: &str) -> Option<u32> {
        self.lock().faults.get(uuid).copied()
    }

    fn forget_fault(&self, uuid: &str) -> Option<u32> {
        self.lock().faults.remove(uuid)
    }

    fn share(&self, queues: &Arc<Vec<QueueRecord>>) {
        self.lock().shared.push(Arc::clone(queues));
    }

    fn set_aside(&self, nodes: BTreeMap<String, String>) {
        self.lock().aside = nodes;
    }

    fn attach(&self, observer: Arc<dyn Observer>) {
        let mut inner = self.lock();
        inner.observers.push(observer);
        // Bindings are kept in the memory of a server, and end with it.
        inner.bound.clear();
    }

    fn bind(&self, job: &Job) -> Result<Bindings, Failure> {
        self.refuse_cards(job)?;
        self.lock().bound.insert(job.key.clone(), job.amount().gpus);
        Ok(Bindings::None)
    }

    fn rebind(&self, job: &Job, _: &Bindings) {
        self.lock().bound.insert(job.key.clone(), job.amount().gpus);
    }

    fn held_up(&self) -> Option<String> {
        self.lock().held_up.clone()
    }

    fn held_projects(&self) -> BTreeMap<String, String> {
        self.lock().held_projects.clone()
    }

    fn at_once(&self) -> usize {
        self.at_once
    }

    fn submit(&self, submission: Submission) -> BoxFuture<'_, ()> {
        Box::pin(async move { self.execute(&submission.job) })
    }

    fn adopt(&self, submission: Submission) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut inner = self.lock();
            inner.give_memory(&submission.job);
            if !inner.report_known(&submission.job.key, self.clock.as_ref()) {
                inner.tell(&submission.job.key, Event::NotFound);
            }
        })
    }

    fn cancel(&self, key: &AttemptKey, _: StopCause, _: Duration) -> BoxFuture<'_, ()> {
        let key = key.clone();
        Box::pin(async move {
            let mut inner = self.lock();
            inner.cancels += 1;
            if inner.ignores_cancels {
                return;
            }
            // Also one that was never submitted: a submission that comes after it must not start.
            if inner.jobs.remove(&key) || !inner.ended.contains_key(&key) {
                self.end(&mut inner, &key, Outcome::Cancelled, Report::default());
            }
        })
    }

    fn release(&self, key: &AttemptKey) {
        self.lock().bound.remove(key);
    }

    fn scaling(&self) -> Option<&dyn Scaling> {
        Some(self)
    }

    fn growth(&self) -> Option<&dyn Growth> {
        Some(self)
    }

    fn usage(&self) -> Option<&dyn UsageSeries> {
        Some(self)
    }
}
