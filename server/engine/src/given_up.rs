//! A cluster that an administrator has decommissioned because it will not come back: its jobs are lost, and
//! nothing starts there.

use std::sync::{Arc, OnceLock};

use cubeloom_domain::clusters::Standing;
use cubeloom_domain::executor::{
    BoxFuture, Ended, Event, Executor, Facts, Observation, Observer, StopCause, Submission,
};
use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_domain::{AttemptKey, Clock, Timestamp};

/// Replaces the cluster's executor.
pub struct GivenUp {
    name: String,
    kind: &'static str,
    since: Timestamp,
    clock: Arc<dyn Clock>,
    observer: OnceLock<Arc<dyn Observer>>,
}

impl GivenUp {
    /// Creates the replacement for a cluster of this name and kind, decommissioned at `since`.
    #[must_use]
    pub fn new(name: &str, kind: &'static str, since: Timestamp, clock: Arc<dyn Clock>) -> Self {
        Self { name: name.to_owned(), kind, since, clock, observer: OnceLock::new() }
    }

    /// The failure of an attempt there.
    pub(crate) fn failure(kind: FailureKind, cluster: &str) -> Failure {
        Failure::new(kind, format!("the cluster `{cluster}` was decommissioned"))
    }

    fn end(&self, key: &AttemptKey, outcome: Outcome) -> BoxFuture<'_, ()> {
        let (report, usage) = Default::default();
        let ended_at = self.clock.now();
        let ended = Ended { outcome, started_at: None, ended_at, report, usage, roles: Vec::new() };
        if let Some(observer) = self.observer.get() {
            observer.observed(Observation { key: key.clone(), event: Event::Ended(Box::new(ended)) });
        }
        Box::pin(std::future::ready(()))
    }
}

impl Executor for GivenUp {
    fn facts(&self) -> Facts {
        Facts { cluster: self.name.clone(), kind: self.kind.into(), ..Facts::default() }
    }

    fn attach(&self, observer: Arc<dyn Observer>) {
        let _ = self.observer.set(observer);
    }

    fn bind(&self, _job: &Job) -> Result<Bindings, Failure> {
        Err(Self::failure(FailureKind::CouldNotStart, &self.name))
    }

    fn rebind(&self, _job: &Job, _bindings: &Bindings) {}

    /// Whether the cluster has an attempt that the earlier executor was to submit is unknown, too.
    fn submit(&self, submission: Submission) -> BoxFuture<'_, ()> {
        self.adopt(submission)
    }

    fn adopt(&self, submission: Submission) -> BoxFuture<'_, ()> {
        let lost = Self::failure(FailureKind::Lost, &self.name);
        self.end(&submission.job.key, Outcome::Failed(lost))
    }

    fn cancel(&self, key: &AttemptKey, _cause: StopCause, _grace: std::time::Duration) -> BoxFuture<'_, ()> {
        self.end(key, Outcome::Cancelled)
    }

    fn release(&self, _key: &AttemptKey) {}

    fn standing(&self) -> Standing {
        Standing::GivenUp { since: self.since }
    }
}
