//! Jobs created on demand, one at a time: a plan may have more of them than fit into memory.

use std::borrow::Cow;

use cubeloom_domain::TaskIx;
use cubeloom_domain::job::Job;
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::plan::RunPlan;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{Jobs, TaskPreview, indices, items, job_of, task};
use crate::Outputs;

/// Lowers a job; `None` omits it.
type Lower<'a, J> = dyn Fn(&Job) -> Option<J> + 'a;

pub struct Tasks<'a, J> {
    plan: &'a RunPlan,
    lower: Box<Lower<'a, J>>,
}

impl<'a, J> Tasks<'a, J> {
    /// The tasks of a plan; `lower` converts each job.
    pub fn new(plan: &'a RunPlan, lower: impl Fn(&Job) -> Option<J> + 'a) -> Self {
        Self { plan, lower: Box::new(lower) }
    }

    pub fn iter(&self) -> impl Iterator<Item = TaskPreview<JobsOf<'_, J>>> {
        indices(self.plan).map(|ix| {
            let jobs = |outputs: &Outputs| Lazy::new(self.plan, ix, outputs);
            let TaskPreview { task, needs, jobs } = task(self.plan, ix, jobs);
            let jobs = match jobs {
                Jobs::Known(jobs) => Jobs::Known(JobsOf { jobs, lower: &*self.lower }),
                Jobs::Later(sentence) => Jobs::Later(sentence),
            };
            TaskPreview { task, needs, jobs }
        })
    }
}

impl<J: Serialize> Serialize for Tasks<'_, J> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

pub struct JobsOf<'a, J> {
    jobs: Lazy<'a>,
    lower: &'a Lower<'a, J>,
}

impl<J> JobsOf<'_, J> {
    /// Each job in its cluster's format.
    pub fn iter(&self) -> impl Iterator<Item = J> {
        self.jobs.iter().filter_map(|job| (self.lower)(&job))
    }
}

impl<J: Serialize> Serialize for JobsOf<'_, J> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// The jobs of one task; all of them can be created.
pub(super) struct Lazy<'a> {
    plan: &'a RunPlan,
    ix: TaskIx,
    /// The job is created only once for most tasks, which have no other.
    first: Option<Job>,
    items: Vec<Value>,
    outputs: Outputs,
}

impl<'a> Lazy<'a> {
    /// # Errors
    /// A job depends on outputs of upstream tasks.
    pub(super) fn new(plan: &'a RunPlan, ix: TaskIx, outputs: &Outputs) -> Result<Self, Failure> {
        let items = items(plan, ix, outputs)?;
        let mut first = None;
        for (at, item) in (0u32..).zip(&items) {
            let job = job_of(plan, ix, at, item, outputs)?;
            first.get_or_insert(job);
        }
        Ok(Self { plan, ix, first, items, outputs: outputs.clone() })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Cow<'_, Job>> {
        let job = |(at, item)| job_of(self.plan, self.ix, at, item, &self.outputs).ok();
        let others = (0u32..).zip(&self.items).skip(1).filter_map(job);
        self.first.iter().map(Cow::Borrowed).chain(others.map(Cow::Owned))
    }
}
