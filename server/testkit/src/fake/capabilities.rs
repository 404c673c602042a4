//! What the fake cluster can do beside running jobs: tell what they use, give them memory, and more or fewer workers.

use std::time::Duration;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::executor::{BoxFuture, Event, Executor, Growth, Scaling, Submission};
use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::usage::{Quantity, UsageSeries, WorkerUsage};

use super::FakeExecutor;

impl UsageSeries for FakeExecutor {
    fn series<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, std::io::Result<Vec<WorkerUsage>>> {
        let series = self.lock().series.get(key).cloned().unwrap_or_default();
        Box::pin(std::future::ready(Ok(series)))
    }

    fn never_told(&self) -> &'static [Quantity] {
        &[]
    }
}

impl Growth for FakeExecutor {
    fn grow(&self, submission: Submission) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut inner = self.lock();
            if inner.jobs.contains(&submission.job.key) {
                inner.give_memory(&submission.job);
            }
        })
    }
}

impl Scaling for FakeExecutor {
    fn resize(&self, job: &Job, _: &Bindings) -> Result<Bindings, Failure> {
        self.bind(job)
    }

    fn scale(&self, submission: Submission, _: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut inner = self.lock();
            let (key, wanted) = (&submission.job.key, submission.job.workers());
            if !inner.jobs.contains(key) {
                return;
            }
            let last = inner.workers.get(key).and_then(|workers| workers.ranks.last().copied());
            let goes = last.is_some_and(|last| last >= wanted);
            if goes && inner.holds_workers {
                return;
            }
            inner.workers.entry(key.clone()).or_default().resize(wanted);
            if goes {
                inner.tell(key, Event::Resized { workers: wanted });
            }
        })
    }
}
