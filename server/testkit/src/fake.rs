//! A simulated cluster: scripts by task name determine the behaviour of jobs.
//!
//! It outlives the engine under test, as a real cluster does: another attached engine finds its jobs. It
//! counts the executions of each attempt, so that tests can assert "at most once".

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

#[derive(Clone, Debug, Default)]
pub enum Behaviour {
    /// It succeeds immediately.
    #[default]
    Succeed,
    /// It succeeds immediately with these outputs.
    Outputs(JsonMap),
    /// It succeeds immediately with the report that this function computes.
    Compute(fn(&Job) -> Report),
    /// It fails immediately.
    Fail(FailureKind),
    /// It ran for ten seconds and needed this much memory; it succeeds if each worker had it.
    Needs(Bytes),
    /// The same with a separate amount for the workers of each role, in role order.
    NeedsEach(Vec<Bytes>),
    /// It runs until the test ends it.
    Hold,
    /// It is forgotten: the cluster reports it as unknown.
    Vanish,
}

/// A simulated cluster.
pub struct FakeExecutor {
    facts: Facts,
    clock: Arc<dyn Clock>,
    inner: Mutex<Inner>,
    at_once: usize,
}

/// Batch size of submissions in tests: smaller than most of their runs.
const AT_ONCE: usize = 3;

#[derive(Default)]
struct Inner {
    /// The attached engines, including ended ones, which no longer listen.
    observers: Vec<Arc<dyn Observer>>,
    scripts: BTreeMap<String, VecDeque<Behaviour>>,
    /// Running jobs.
    jobs: HashSet<AttemptKey>,
    workers: HashMap<AttemptKey, Workers>,
    /// The memory of the first role's workers, by job.
    memory: HashMap<AttemptKey, Bytes>,
    /// The usage series of each job's workers.
    series: HashMap<AttemptKey, Vec<WorkerUsage>>,
    /// Whether released workers stay until the test permits their end.
    holds_workers: bool,
    executions: HashMap<AttemptKey, u32>,
    ended: HashMap<AttemptKey, Ended>,
    /// The bindings of the attached engine, each with its number of GPUs. By key, not as a count: an engine
    /// that dies between `bind` and its commit never releases, and the next engine binds the same attempt.
    bound: HashMap<AttemptKey, u32>,
    order: Vec<AttemptKey>,
    keep_history: bool,
    ignores_cancels: bool,
    held_up: Option<String>,
    held_projects: BTreeMap<String, String>,
    cancels: usize,
    /// The quota trees that it received.
    shared: Vec<Arc<Vec<QueueRecord>>>,
    /// The cordoned nodes, with the reasons.
    aside: BTreeMap<String, String>,
    /// The unhealthy GPUs, by UUID, each with its error.
    faults: BTreeMap<String, u32>,
}

/// A start or end of a worker of a job, by rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Came(u32),
    /// It was released, and has ended.
    Went(u32),
    /// It failed on its own.
    Lost(u32),
}

#[derive(Default)]
struct Workers {
    /// The ranks of the running workers.
    ranks: BTreeSet<u32>,
    /// The minimum number of workers.
    least: u32,
    steps: Vec<Step>,
}

impl Workers {
    /// Sets the number of workers, counted from rank 0: lower ranks start before higher ones, and end after
    /// them.
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
    /// A cluster with these resources.
    #[must_use]
    pub fn new(facts: Facts, clock: Arc<dyn Clock>) -> Arc<Self> {
        let inner = Inner { keep_history: true, ..Inner::default() };
        Arc::new(Self { facts, clock, inner: Mutex::new(inner), at_once: AT_ONCE })
    }

    /// The same without a memory of ended jobs, for benchmarks.
    #[must_use]
    pub fn forgetful(facts: Facts, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { facts, clock, inner: Mutex::default(), at_once: usize::MAX })
    }

    /// Scripts the next attempts of a task, in order; later ones succeed.
    pub fn script(&self, task: &str, behaviours: impl IntoIterator<Item = Behaviour>) {
        self.lock().scripts.entry(task.into()).or_default().extend(behaviours);
    }

    /// Removes the script of a task.
    pub fn forget_script(&self, task: &str) {
        self.lock().scripts.remove(task);
    }

    /// The running attempts, sorted.
    #[must_use]
    pub fn running(&self) -> Vec<AttemptKey> {
        let mut keys: Vec<_> = self.lock().jobs.iter().cloned().collect();
        keys.sort();
        keys
    }

    /// The executed attempts, in start order.
    #[must_use]
    pub fn started(&self) -> Vec<AttemptKey> {
        self.lock().order.clone()
    }

    /// The number of executions of each attempt.
    #[must_use]
    pub fn executions(&self) -> HashMap<AttemptKey, u32> {
        self.lock().executions.clone()
    }

    /// The number of bound jobs.
    #[must_use]
    pub fn bound(&self) -> usize {
        self.lock().bound.len()
    }

    /// Ends a held job.
    pub fn finish(&self, key: &AttemptKey, outcome: Outcome) {
        self.finish_with(key, outcome, Report::default());
    }

    /// Ends a held job with a report.
    pub fn finish_with(&self, key: &AttemptKey, outcome: Outcome, report: Report) {
        let mut inner = self.lock();
        if inner.jobs.remove(key) {
            self.end(&mut inner, key, outcome, report);
        }
    }

    /// Reports a metric of a held job.
    pub fn measure(&self, key: &AttemptKey, metric: Metric) {
        self.lock().tell(key, Event::Measured(metric));
    }

    /// Reports the step progress of a held job.
    pub fn pace(&self, key: &AttemptKey, pace: Pace) {
        self.lock().tell(key, Event::Paced(Box::new(pace)));
    }

    /// Reports that a worker in a role of a held job has nearly used up its memory.
    pub fn fill(&self, key: &AttemptKey, role: &str, limit: Bytes) {
        let full = NearlyFull { role: role.into(), limit, used: Bytes(limit.0 - limit.0 / 20) };
        self.lock().tell(key, Event::NearlyFull(full));
    }

    /// Reports that the workers of a role of a held job did not get so much memory: they keep what they had.
    pub fn refuse_memory(&self, key: &AttemptKey, role: &str, memory: Bytes, had: Bytes) {
        let mut inner = self.lock();
        inner.memory.insert(key.clone(), had);
        let not = NotGiven { role: role.into(), memory, why: "its node has no room".into() };
        inner.tell(key, Event::NotGiven(not));
    }

    /// The current or last memory of each worker of a job's first role.
    #[must_use]
    pub fn memory(&self, key: &AttemptKey) -> Bytes {
        self.lock().memory.get(key).copied().unwrap_or_default()
    }

    /// Sets the usage series of a job's workers.
    pub fn set_series(&self, key: &AttemptKey, series: Vec<WorkerUsage>) {
        self.lock().series.insert(key.clone(), series);
    }

    /// The current or last number of workers of a job.
    #[must_use]
    pub fn workers(&self, key: &AttemptKey) -> u32 {
        self.lock().workers.get(key).map_or(0, Workers::count)
    }

    /// The ranks of the current or last workers of a job.
    #[must_use]
    pub fn ranks(&self, key: &AttemptKey) -> Vec<u32> {
        self.lock()
            .workers
            .get(key)
            .map(|workers| workers.ranks.iter().copied().collect())
            .unwrap_or_default()
    }

    /// The starts and ends of a job's workers, in order.
    #[must_use]
    pub fn steps(&self, key: &AttemptKey) -> Vec<Step> {
        self.lock().workers.get(key).map(|workers| workers.steps.clone()).unwrap_or_default()
    }

    /// Fails a worker of a held job. The job continues while enough workers remain, and fails otherwise.
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

    /// Sets whether single workers that are released stay.
    pub fn hold_workers(&self, hold: bool) {
        self.lock().holds_workers = hold;
    }

    /// Sets the number of a job's workers, as the cluster's own scheduler would.
    pub fn run_with(&self, key: &AttemptKey, workers: u32) {
        self.lock().tell(key, Event::Running { workers });
    }

    /// Leaves only this many workers of a job.
    pub fn leave(&self, key: &AttemptKey, workers: u32) {
        let mut inner = self.lock();
        inner.workers.entry(key.clone()).or_default().resize(workers);
        inner.tell(key, Event::Resized { workers });
    }

    /// Sets whether jobs ignore cancellation.
    pub fn ignore_cancels(&self, ignore: bool) {
        self.lock().ignores_cancels = ignore;
    }

    /// The number of cancellations.
    #[must_use]
    pub fn cancels(&self) -> usize {
        self.lock().cancels
    }

    /// Blocks all new starts for this reason, or permits them again.
    pub fn hold_up(&self, why: Option<&str>) {
        self.lock().held_up = why.map(str::to_owned);
    }

    /// Blocks new starts of this project for this reason, or permits them again.
    pub fn hold_project(&self, project: &str, why: Option<&str>) {
        let held = &mut self.lock().held_projects;
        match why {
            Some(why) => held.insert(project.to_owned(), why.to_owned()),
            None => held.remove(project),
        };
    }

    /// The quota trees that it received, in order.
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

    /// Ends a job: successful if each role has the memory that it needs, else OOM killed in the first role
    /// that has less.
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

    /// Reports the state of a known job; returns whether it is known.
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
        // Bindings exist only in a server's memory, and end with it.
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
            // Also one that was never submitted: a later submission must not start.
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
