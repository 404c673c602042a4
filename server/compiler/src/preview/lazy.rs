//! Jobs that are made when they are asked for, one at a time: a plan may have more of them than there is memory for.

use std::borrow::Cow;

use cubeloom_domain::TaskIx;
use cubeloom_domain::job::Job;
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::plan::RunPlan;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{Jobs, TaskPreview, indices, items, job_of, task};
use crate::Outputs;

/// What is made of a job; `None` leaves it out.
type Lower<'a, J> = dyn Fn(&Job) -> Option<J> + 'a;

/// A plan's tasks on one kind of cluster.
pub struct Tasks<'a, J> {
    plan: &'a RunPlan,
    lower: Box<Lower<'a, J>>,
}

impl<'a, J> Tasks<'a, J> {
    /// The tasks of a plan, with what is made of each job.
    pub fn new(plan: &'a RunPlan, lower: impl Fn(&Job) -> Option<J> + 'a) -> Self {
        Self { plan, lower: Box::new(lower) }
    }

    /// Each task, in the plan's order.
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

/// The jobs of one task.
pub struct JobsOf<'a, J> {
    jobs: Lazy<'a>,
    lower: &'a Lower<'a, J>,
}

impl<J> JobsOf<'_, J> {
    /// Each job, as its cluster takes it.
    pub fn iter(&self) -> impl Iterator<Item = J> {
        self.jobs.iter().filter_map(|job| (self.lower)(&job))
    }
}

impl<J: Serialize> Serialize for JobsOf<'_, J> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// The jobs of one task, none of which fails to be made.
pub(super) struct Lazy<'a> {
    plan: &'a RunPlan,
    ix: TaskIx,
    /// Most tasks have no other: theirs is made once only.
    first: Option<Job>,
    items: Vec<Value>,
    outputs: Outputs,
}

impl<'a> Lazy<'a> {
    /// # Errors
    /// One of them depends on what earlier tasks will report.
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
