//! Sub-runs: runs started by tasks of other runs. For the engine they are jobs on this cluster. Submitting a
//! job stores a run under the id bound to the attempt. Cancelling it sends a cancel command. It ends when the
//! run ends.
//!
//! All state that must survive a crash is in the attempt (the run's id) and in the run (its attempt).

mod check;
mod child;
mod ended;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use cubeloom_domain::event::RunEvent;
use cubeloom_domain::executor::{
    BoxFuture, Ended, Event, Executor, Facts, Observation, Observer, StopCause, Submission,
};
use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_domain::record::RunRecord;
use cubeloom_domain::{AttemptKey, RunId, Timestamp};
use cubeloom_store::StoreError;
use tokio::sync::broadcast;
use tokio::time::{sleep, timeout};

use crate::auth::secret;
use crate::plan::Planner;

pub use check::problems;
pub(crate) use check::wrong_calls;
use child::Child;

/// Poll interval of a run without events: another server may lead it.
const LOOK: Duration = Duration::from_secs(2);
/// Retry interval after a database error.
const AGAIN: Duration = Duration::from_secs(1);

/// The cluster of sub-runs.
pub struct SubRuns {
    planner: Planner,
    observer: OnceLock<Arc<dyn Observer>>,
    children: Mutex<HashMap<AttemptKey, Arc<Child>>>,
    me: Weak<Self>,
}

impl SubRuns {
    #[must_use]
    pub fn new(planner: Planner) -> Arc<Self> {
        let (observer, children) = (OnceLock::new(), Mutex::default());
        Arc::new_cyclic(|me| Self { planner, observer, children, me: Weak::clone(me) })
    }

    /// Listens for ends of runs on this server, while both exist.
    pub fn listen(self: &Arc<Self>, mut events: broadcast::Receiver<RunEvent>) {
        let me = Weak::clone(&self.me);
        tokio::spawn(async move {
            loop {
                let run = match events.recv().await {
                    Ok(RunEvent::Run(run)) if run.state.is_final() && run.parent.is_some() => Some(run),
                    Ok(_) => continue,
                    // Polling finds ends that were missed.
                    Err(broadcast::error::RecvError::Lagged(_)) => None,
                    Err(broadcast::error::RecvError::Closed) => return,
                };
                let Some(me) = me.upgrade() else { return };
                let child = run.and_then(|run| me.known().get(run.parent.as_ref()?).cloned());
                if let Some(child) = child {
                    child.told.notify_one();
                }
            }
        });
    }

    fn known(&self) -> MutexGuard<'_, HashMap<AttemptKey, Arc<Child>>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn child(&self, key: &AttemptKey) -> Option<Arc<Child>> {
        self.known().get(key).cloned()
    }

    fn report(&self, key: &AttemptKey, event: Event) {
        if let Some(observer) = self.observer.get() {
            observer.observed(Observation { key: key.clone(), event });
        }
    }

    fn report_end(&self, key: &AttemptKey, outcome: Outcome) {
        let (report, usage) = Default::default();
        let ended_at = self.planner.now();
        let ended = Ended { outcome, started_at: None, ended_at, report, usage, roles: Vec::new() };
        self.report(key, Event::Ended(Box::new(ended)));
    }

    /// The run of an attempt. Retries until the database responds.
    async fn stored(&self, child: &Child) -> Option<RunRecord> {
        patiently(|| self.planner.store.run(&child.run)).await
    }

    /// Stores the run, unless it exists or was cancelled.
    async fn begin(&self, job: &Job) {
        let Some(child) = self.child(&job.key) else { return };
        // A cancel waits here. Then the run is stored, or never will be.
        let unwanted = child.unwanted.lock().await;
        if *unwanted {
            return;
        }
        let since = match self.stored(&child).await {
            Some(run) => run.created_at,
            None => match child::create(&self.planner, job, &child.run).await {
                Ok(since) => since,
                Err(failure) => return self.report_end(&job.key, Outcome::Failed(failure)),
            },
        };
        drop(unwanted);
        self.follow(child, since);
    }

    /// Reports the end of a stored run.
    fn follow(&self, child: Arc<Child>, since: Timestamp) {
        if child.is_followed() {
            return;
        }
        self.report(&child.key, Event::Started { at: since });
        let me = Weak::clone(&self.me);
        tokio::spawn(async move {
            loop {
                let Some(me) = me.upgrade() else { return };
                match me.stored(&child).await {
                    Some(run) if run.state.is_final() => return me.ended(&child, &run).await,
                    Some(_) => {}
                    None => return me.report(&child.key, Event::NotFound),
                }
                drop(me);
                let _ = timeout(LOOK, child.told.notified()).await;
            }
        });
    }

    async fn ended(&self, child: &Child, run: &RunRecord) {
        let stopped = *child.unwanted.lock().await;
        let ended = patiently(|| ended::of(&self.planner.store, run, stopped)).await;
        self.report(&child.key, Event::Ended(Box::new(ended)));
    }

    async fn stop(&self, key: &AttemptKey) {
        let Some(child) = self.child(key) else { return self.report_end(key, Outcome::Cancelled) };
        let mut unwanted = child.unwanted.lock().await;
        *unwanted = true;
        drop(unwanted);
        match self.stored(&child).await {
            None => self.report_end(key, Outcome::Cancelled),
            Some(run) => {
                if !run.state.is_final() {
                    patiently(|| child::cancel(&self.planner, &run)).await;
                }
                self.follow(child, run.created_at);
            }
        }
    }
}

/// Retries a query until the database responds.
async fn patiently<T, F>(mut ask: impl FnMut() -> F) -> T
where
    F: Future<Output = Result<T, StoreError>>,
{
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(error) => {
                tracing::warn!(%error, "the database is unreachable; retrying");
                sleep(AGAIN).await;
            }
        }
    }
}

impl Executor for SubRuns {
    /// Unlimited capacity: the tasks of sub-runs wait on their own clusters.
    fn facts(&self) -> Facts {
        Facts { kind: "runs".into(), ..Facts::default() }
    }

    fn attach(&self, observer: Arc<dyn Observer>) {
        let _ = self.observer.set(observer);
    }

    fn bind(&self, job: &Job) -> Result<Bindings, Failure> {
        let new = || {
            let run = RunId::new(self.planner.now(), u128::from_le_bytes(secret::random()));
            Arc::new(Child::new(job.key.clone(), run))
        };
        let run = self.known().entry(job.key.clone()).or_insert_with(new).run.clone();
        Ok(Bindings::Run { run })
    }

    fn rebind(&self, job: &Job, bindings: &Bindings) {
        if let Bindings::Run { run } = bindings {
            let child = || Arc::new(Child::new(job.key.clone(), run.clone()));
            self.known().entry(job.key.clone()).or_insert_with(child);
        }
    }

    fn submit(&self, submission: Submission) -> BoxFuture<'_, ()> {
        Box::pin(async move { self.begin(&submission.job).await })
    }

    fn adopt(&self, submission: Submission) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let key = &submission.job.key;
            let Some(child) = self.child(key) else { return self.report(key, Event::NotFound) };
            match self.stored(&child).await {
                Some(run) => self.follow(child, run.created_at),
                None => self.report(key, Event::NotFound),
            }
        })
    }

    /// Ignores the grace period: the run's jobs have their own.
    fn cancel(&self, key: &AttemptKey, _cause: StopCause, _grace: Duration) -> BoxFuture<'_, ()> {
        let key = key.clone();
        Box::pin(async move { self.stop(&key).await })
    }

    fn release(&self, key: &AttemptKey) {
        self.known().remove(key);
    }
}

fn could_not_start(message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::CouldNotStart, message.into())
}
