//! A cluster that only pretends: what happens to a job is scripted by the name of its task.
//!
//! It outlives the engine under test, as a real cluster does: attach another engine to it and its jobs are still
//! there. It counts how often each attempt was executed, so that tests can say "at most once".

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cubeloom_domain::executor::{
    BoxFuture, Ended, Event, Executor, Facts, Metric, Observation, Observer, Report, StopCause, Submission,
};
use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_domain::usage::UsageSummary;
use cubeloom_domain::{AttemptKey, Clock, JsonMap};

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
    observer: Option<Arc<dyn Observer>>,
    scripts: BTreeMap<String, VecDeque<Behaviour>>,
    /// Jobs that are held.
    jobs: HashSet<AttemptKey>,
    executions: HashMap<AttemptKey, u32>,
    ended: HashMap<AttemptKey, Ended>,
    /// What the attached engine has bound. By key and not counted: who dies between `bind` and its commit never
    /// releases, and the next engine binds the same attempt.
    bound: HashSet<AttemptKey>,
    order: Vec<AttemptKey>,
    keep_history: bool,
    ignores_cancels: bool,
    cancels: usize,
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

    /// From now on, jobs that are told to stop take no notice; or they do again.
    pub fn ignore_cancels(&self, ignore: bool) {
        self.lock().ignores_cancels = ignore;
    }

    /// How often a job was told to stop.
    #[must_use]
    pub fn cancels(&self) -> usize {
        self.lock().cancels
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, inner: &mut Inner, key: &AttemptKey, outcome: Outcome, report: Report) {
        let now = self.clock.now();
        let ended =
            Ended { outcome, started_at: Some(now), ended_at: now, report, usage: UsageSummary::default() };
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
            Behaviour::Hold => {
                inner.jobs.insert(key.clone());
                inner.tell(key, Event::Started { at: self.clock.now() });
            }
            Behaviour::Vanish => inner.tell(key, Event::Started { at: self.clock.now() }),
        }
    }
}

impl Inner {
    fn tell(&self, key: &AttemptKey, event: Event) {
        if let Some(observer) = &self.observer {
            observer.observed(Observation { key: key.clone(), event });
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
        self.facts.clone()
    }

    fn attach(&self, observer: Arc<dyn Observer>) {
        let mut inner = self.lock();
        inner.observer = Some(observer);
        // Bindings are kept in the memory of a server, and end with it.
        inner.bound.clear();
    }

    fn bind(&self, job: &Job) -> Result<Bindings, Failure> {
        self.lock().bound.insert(job.key.clone());
        Ok(Bindings::None)
    }

    fn rebind(&self, job: &Job, _: &Bindings) {
        self.lock().bound.insert(job.key.clone());
    }

    fn at_once(&self) -> usize {
        self.at_once
    }

    fn submit(&self, submission: Submission) -> BoxFuture<'_, ()> {
        Box::pin(async move { self.execute(&submission.job) })
    }

    fn adopt(&self, submission: Submission) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let inner = self.lock();
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
}
