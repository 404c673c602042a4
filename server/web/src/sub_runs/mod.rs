//! Runs that tasks of other runs start. To the engine they are jobs, and this is their cluster: a job is submitted by
//! storing a run under the id that was bound to the attempt, cancelled by wishing so, and has ended when the run has.
//!
//! Everything that must outlive a crash is in the attempt (the id) and in the run (whose attempt it is).

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

/// How often a run is looked at whose end nobody has told of: another server may lead it.
const LOOK: Duration = Duration::from_secs(2);
/// How long to wait for a database that does not answer.
const AGAIN: Duration = Duration::from_secs(1);

/// The cluster of runs that tasks start.
pub struct SubRuns {
    planner: Planner,
    observer: OnceLock<Arc<dyn Observer>>,
    children: Mutex<HashMap<AttemptKey, Arc<Child>>>,
    me: Weak<Self>,
}

impl SubRuns {
    /// Without any.
    #[must_use]
    pub fn new(planner: Planner) -> Arc<Self> {
        let (observer, children) = (OnceLock::new(), Mutex::default());
        Arc::new_cyclic(|me| Self { planner, observer, children, me: Weak::clone(me) })
    }

    /// Hears of runs that end on this server, for as long as both are there.
    pub fn listen(self: &Arc<Self>, mut events: broadcast::Receiver<RunEvent>) {
        let me = Weak::clone(&self.me);
        tokio::spawn(async move {
            loop {
                let run = match events.recv().await {
                    Ok(RunEvent::Run(run)) if run.state.is_final() && run.parent.is_some() => Some(run),
                    Ok(_) => continue,
                    // Whose end was missed is found out by looking.
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

    /// The run of an attempt, however long it takes the database to answer.
    async fn stored(&self, child: &Child) -> Option<RunRecord> {
        patiently(|| self.planner.store.run(&child.run)).await
    }

    /// Stores the run, unless it is there or nobody wants it any more.
    async fn begin(&self, job: &Job) {
        let Some(child) = self.child(&job.key) else { return };
        // Whoever cancels it waits here, and then finds a run, or that there will be none.
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

    /// Reports the end of a run that is there.
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

/// Asks the database until it answers.
async fn patiently<T, F>(mut ask: impl FnMut() -> F) -> T
where
    F: Future<Output = Result<T, StoreError>>,
{
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(error) => {
                tracing::warn!(%error, "the database did not answer; asking again soon");
                sleep(AGAIN).await;
            }
        }
    }
}

impl Executor for SubRuns {
    /// It has room for all of them: their tasks wait on clusters of their own.
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

    /// How long it takes is the run's own affair: its jobs have their time to end.
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
