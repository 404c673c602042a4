//! Capabilities of the fake cluster besides running jobs: usage reports, more memory, more or fewer workers,
//! and keeping unhealthy GPUs from jobs.

use std::time::Duration;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::executor::{BoxFuture, Event, Executor, Growth, Scaling, Submission};
use cubeloom_domain::job::{Job, JobRole};
use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::outcome::{Failure, FailureKind};
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

impl FakeExecutor {
    /// Sets an error on a GPU.
    pub fn set_fault(&self, uuid: &str, xid: u32) {
        self.lock().faults.insert(uuid.into(), xid);
    }

    /// Refuses a job that requests more GPUs than are healthy and unbound. A GPU fraction is refused like a
    /// GPU, but allocates nothing. Without any GPUs none are counted.
    pub(super) fn refuse_cards(&self, job: &Job) -> Result<(), Failure> {
        let cards: usize = self.facts.nodes.iter().map(|node| node.gpus.len()).sum();
        let is_part = |role: &JobRole| role.resources.gpu.as_ref().is_some_and(|gpu| gpu.count.is_none());
        let asked = job.amount().gpus + u32::from(job.roles.iter().any(is_part));
        if cards == 0 || asked == 0 {
            return Ok(());
        }
        let inner = self.lock();
        let had = inner.bound.get(&job.key).copied().unwrap_or_default();
        let others = inner.bound.values().sum::<u32>() - had;
        if asked > had && (asked + others) as usize + inner.faults.len() > cards {
            return Err(Failure::new(FailureKind::CouldNotStart, "not enough free GPUs"));
        }
        Ok(())
    }
}
