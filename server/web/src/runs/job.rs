//! Rebuilds the job of a stored attempt as it was submitted.

use std::sync::Arc;

use cubeloom_compiler::{Outputs, job};
use cubeloom_domain::job::Job;
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::plan::{PlannedTask, RunPlan};
use cubeloom_domain::record::{AttemptRecord, InstanceRecord};
use cubeloom_domain::{JsonMap, RunId, TaskIx};
use serde_json::Value;

use super::items;
use crate::error::ApiResult;
use crate::state::Web;

/// Everything that the jobs of a task are built from.
pub(crate) struct Material {
    plan: Arc<RunPlan>,
    task: TaskIx,
    items: Vec<Value>,
    outputs: Outputs,
}

impl Material {
    pub(crate) async fn read(web: &Web, run: &RunId, plan: Arc<RunPlan>, task: TaskIx) -> ApiResult<Self> {
        let items = items::of(web, run, &plan, task).await?;
        let outputs = outputs(web, run, &plan, task).await?;
        Ok(Self { plan, task, items, outputs })
    }

    pub(crate) fn planned(&self) -> &PlannedTask {
        self.plan.task(self.task)
    }

    /// The job of an attempt, with its number of workers. Slow: run it on a blocking thread.
    ///
    /// # Errors
    /// A file or value that the job refers to no longer exists.
    pub(crate) fn job(&self, attempt: &AttemptRecord) -> Result<Job, Failure> {
        let (planned, key) = (self.planned(), &attempt.key);
        let item = self.items.get(key.instance as usize).filter(|_| planned.for_each.is_some());
        let fixed: u32 = planned.roles.iter().rev().skip(1).map(|role| role.replicas).sum();
        let elastic = planned.elastic.map(|_| attempt.workers.saturating_sub(fixed));
        let job = job(&self.plan, self.task, key.instance, item, key.n, elastic, &self.outputs)?;
        Ok(match &attempt.sizing {
            Some(sizing) => job.sized(sizing),
            None => job,
        })
    }
}

/// Outputs of upstream tasks that this task reads.
async fn outputs(web: &Web, run: &RunId, plan: &RunPlan, task: TaskIx) -> ApiResult<Outputs> {
    let mut outputs = Outputs::new();
    for read in &plan.task(task).reads {
        let planned = plan.task(*read);
        let instances = web.store().instances_of(run, *read, None, cubeloom_compiler::MAX_ELEMENTS).await?;
        let reported = if planned.for_each.is_none() {
            instances.first().map(|one| one.report.outputs.clone()).unwrap_or_default()
        } else {
            gathered(&instances)
        };
        let states = instances.iter().map(|one| &one.state);
        outputs.add(&planned.name, Value::Object(reported), cubeloom_compiler::ended_as(planned, states));
    }
    Ok(outputs)
}

/// Each name with the list of all instances' values.
fn gathered(instances: &[InstanceRecord]) -> JsonMap {
    let mut all = JsonMap::new();
    for name in instances.iter().flat_map(|one| one.report.outputs.keys()) {
        if !all.contains_key(name) {
            let values =
                instances.iter().map(|one| one.report.outputs.get(name).cloned().unwrap_or_default());
            all.insert(name.clone(), values.collect());
        }
    }
    all
}
