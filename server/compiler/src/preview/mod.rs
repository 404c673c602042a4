//! The submissions of a plan's tasks, before any of them has run.
//!
//! Values known only at submission are placeholders (`<address of worker-0>`, `<run folder>`), and so are
//! outputs of upstream tasks: `<output rows of pull>`.

mod lazy;

use std::ops::Range;

use cubeloom_domain::executor::Facts;
use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::{KubernetesFacts, KubernetesJob};
use cubeloom_domain::lowered::{Bindings, LocalJob};
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::plan::{Late, RunPlan};
use cubeloom_domain::slurm::{SlurmFacts, SlurmJob};
use cubeloom_domain::{Problem, TaskIx};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::lower::Refusal;
use crate::{Outputs, expand, job, lower};
use lazy::Lazy;

pub use lazy::{JobsOf, Tasks};

/// The submission of one task.
#[derive(Clone, Debug, Serialize)]
pub struct TaskPreview<L> {
    pub task: String,
    pub needs: Vec<String>,
    pub jobs: Jobs<L>,
}

/// The jobs of a task's instances.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Jobs<L> {
    /// One per instance, in order, in the format of the cluster.
    Known(L),
    /// Their number or content depends on upstream tasks; a message that says so.
    Later(String),
}

/// Every task of a plan, on this machine.
#[must_use]
pub fn all(plan: &RunPlan) -> Tasks<'_, LocalJob> {
    Tasks::new(plan, |job| Some(lower::preview(job)))
}

/// One task of a plan, with the jobs of these instances, as far as they exist. Each is plain data, as
/// submitted to the cluster with the bindings that `foresee` returns, or the refusal. Without bindings the
/// cluster is this machine.
#[must_use]
pub fn bound(
    plan: &RunPlan,
    ix: TaskIx,
    instances: Range<usize>,
    foresee: impl Fn(&Job) -> Result<Option<Bindings>, Failure>,
) -> TaskPreview<Vec<Result<Value, Failure>>> {
    let lower = |job: &Job| -> Result<Value, Failure> {
        Ok(match foresee(job)? {
            Some(bindings) => json!(lower::lower(job, &bindings)?.object()),
            None => json!(lower::preview(job)),
        })
    };
    task(plan, ix, |outputs| Ok(jobs_with(plan, ix, instances.clone(), outputs)?.iter().map(lower).collect()))
}

/// The tasks without dependencies whose first job its cluster would refuse now, with the reasons.
#[must_use]
pub fn unbound(
    plan: &RunPlan,
    foresee: impl Fn(&Job) -> Result<Option<Bindings>, Failure>,
) -> Vec<(TaskIx, Failure)> {
    let firsts = (0u32..).map(TaskIx).zip(&plan.tasks).filter(|(_, task)| task.needs.is_empty());
    firsts
        .filter_map(|(ix, _)| {
            let job = first_job(plan, ix).ok().flatten()?;
            foresee(&job).err().map(|failure| (ix, failure))
        })
        .collect()
}

/// Every task of a plan for this Kubernetes cluster.
///
/// # Errors
/// All requests that the cluster cannot satisfy, with their positions in the document.
pub fn on_kubernetes<'a>(
    plan: &'a RunPlan,
    facts: &'a KubernetesFacts,
) -> Result<Tasks<'a, KubernetesJob>, Vec<Problem>> {
    on_cluster(plan, |job| lower::kubernetes::lower(job, facts))
}

/// Every task of a plan for this Slurm cluster.
///
/// # Errors
/// All requests that the cluster cannot satisfy, with their positions in the document.
pub fn on_slurm<'a>(plan: &'a RunPlan, facts: &'a SlurmFacts) -> Result<Tasks<'a, SlurmJob>, Vec<Problem>> {
    on_cluster(plan, |job| lower::slurm::lower(job, facts))
}

/// Lowers each job once here, so that lowering never fails later: lowering twice costs less than keeping all
/// results.
fn on_cluster<'a, J>(
    plan: &'a RunPlan,
    lower: impl Fn(&Job) -> Result<J, Vec<Refusal>> + 'a,
) -> Result<Tasks<'a, J>, Vec<Problem>> {
    let mut problems = Vec::new();
    for ix in indices(plan) {
        let refused = |jobs: &Lazy<'_>| jobs.iter().find_map(|job| lower(&job).err());
        if let Some(refusals) = jobs(plan, ix).ok().and_then(|jobs| refused(&jobs)) {
            problems.extend(lower::problems(ix, refusals));
        }
    }
    if problems.is_empty() { Ok(Tasks::new(plan, move |job| lower(job).ok())) } else { Err(problems) }
}

/// The requests of a plan's tasks that a cluster cannot satisfy, as far as they are known before the tasks
/// are ready.
pub(crate) fn refused(plan: &RunPlan, facts: &Facts) -> Vec<Problem> {
    if let Some(facts) = &facts.kubernetes {
        return refused_by(plan, |job| lower::kubernetes::lower(job, facts).err());
    }
    match &facts.slurm {
        Some(facts) => refused_by(plan, |job| lower::slurm::lower(job, facts).err()),
        None => Vec::new(),
    }
}

fn refused_by(plan: &RunPlan, refuse: impl Fn(&Job) -> Option<Vec<Refusal>>) -> Vec<Problem> {
    indices(plan)
        .flat_map(|ix| match first_job(plan, ix).ok().flatten().and_then(|job| refuse(&job)) {
            Some(refusals) => lower::problems(ix, refusals),
            None => Vec::new(),
        })
        .collect()
}

fn indices(plan: &RunPlan) -> impl Iterator<Item = TaskIx> {
    (0u32..).map(TaskIx).take(plan.tasks.len())
}

/// One task, with its lowered jobs if they are known.
fn task<L>(plan: &RunPlan, ix: TaskIx, jobs: impl Fn(&Outputs) -> Result<L, Failure>) -> TaskPreview<L> {
    let planned = plan.task(ix);
    let jobs = match with_placeholders(plan, ix, jobs) {
        Ok(_) if planned.asks => Jobs::Later("a person decides: no job is submitted".into()),
        Ok(_) if planned.calls => Jobs::Later("it starts a run of another pipeline: compile that one".into()),
        Ok(jobs) => Jobs::Known(jobs),
        Err(failure) => {
            Jobs::Later(format!("known after the tasks before it have ended ({})", failure.message))
        }
    };
    let needs = planned.needs.iter().map(|need| plan.task(*need).name.clone()).collect();
    TaskPreview { task: planned.name.clone(), needs, jobs }
}

/// The job of a task's first instance; `None` without items or workers.
///
/// # Errors
/// It depends on outputs of upstream tasks.
pub(crate) fn first_job(plan: &RunPlan, ix: TaskIx) -> Result<Option<Job>, Failure> {
    let first = with_placeholders(plan, ix, |outputs| jobs_with(plan, ix, 0..1, outputs))?;
    Ok(first.into_iter().next())
}

fn jobs(plan: &RunPlan, ix: TaskIx) -> Result<Lazy<'_>, Failure> {
    with_placeholders(plan, ix, |outputs| Lazy::new(plan, ix, outputs))
}

fn with_placeholders<L>(
    plan: &RunPlan,
    ix: TaskIx,
    with: impl Fn(&Outputs) -> Result<L, Failure>,
) -> Result<L, Failure> {
    // An argument may need a list where the placeholder is a text.
    let first = with(&placeholders(plan, ix, |text| json!(text)));
    first.or_else(|failure| with(&placeholders(plan, ix, |text| json!([text]))).map_err(|_| failure))
}

fn jobs_with(
    plan: &RunPlan,
    ix: TaskIx,
    instances: Range<usize>,
    outputs: &Outputs,
) -> Result<Vec<Job>, Failure> {
    let items = items(plan, ix, outputs)?;
    let job = |(at, item): (u32, &Value)| job_of(plan, ix, at, item, outputs);
    (0u32..).zip(&items).take(instances.end).skip(instances.start).map(job).collect()
}

/// The items that have a job each.
fn items(plan: &RunPlan, ix: TaskIx, outputs: &Outputs) -> Result<Vec<Value>, Failure> {
    if plan.task(ix).asks || plan.task(ix).calls { Ok(Vec::new()) } else { expand(plan, ix, outputs) }
}

fn job_of(plan: &RunPlan, ix: TaskIx, at: u32, item: &Value, outputs: &Outputs) -> Result<Job, Failure> {
    let item = plan.task(ix).for_each.is_some().then_some(item);
    job(plan, ix, at, item, 1, None, outputs)
}

/// Outputs of upstream tasks, by name, as far as this task's expressions use them.
fn placeholders(plan: &RunPlan, ix: TaskIx, form: impl Fn(String) -> Value) -> Outputs {
    let planned = plan.task(ix);
    let mut sources: Vec<String> = planned
        .arguments
        .values()
        .chain(planned.env.values())
        .filter_map(|value| if let Late::Source(source) = value { Some(source.to_string()) } else { None })
        .collect();
    sources.push(json!(planned.for_each).to_string());
    let read = |task: &TaskIx| {
        let name = &plan.task(*task).name;
        let object: Map<String, Value> = sources
            .iter()
            .flat_map(|source| output_names(source, name))
            .map(|output| (output.clone(), form(format!("<output {output} of {name}>"))))
            .collect();
        (name.clone(), Value::Object(object))
    };
    planned.reads.iter().map(read).collect()
}

/// The names after `.outputs.` where the text refers to the task, as in `tasks.a.outputs.x` and
/// `tasks['a-b'].outputs.x`.
fn output_names(source: &str, task: &str) -> Vec<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut names = Vec::new();
    for (at, found) in source.match_indices(".outputs.") {
        let before = source[..at].trim_end_matches(['\'', '"', ']', '\\']);
        if before.ends_with(task) {
            names.push(word(&source[at + found.len()..]));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_names_are_found_by_their_task() {
        let source = r#"{{ tasks.pull.outputs.rows }} {{ tasks["a-b"].outputs.n_1 + tasks.b.outputs.x }}"#;
        assert_eq!(output_names(source, "pull"), ["rows"]);
        assert_eq!(output_names(source, "a-b"), ["n_1"]);
        assert!(output_names(source, "c").is_empty());
    }
}
