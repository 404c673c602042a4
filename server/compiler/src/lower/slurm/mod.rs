//! Lowering for Slurm: a job becomes one readable script for `sbatch`, and processes as on one machine.
//! Tokens replace values known only on the nodes.
//!
//! `component` groups workers with equal resources, `amounts` and `placement` derive the Slurm options,
//! `script` writes the script. docs/slurm.md documents each mapping and its reason.

mod amounts;
mod component;
mod container;
mod facts;
mod paths;
mod placement;
mod script;

use std::collections::BTreeMap;

use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::{LocalJob, LocalWorker, SlurmBindings};
use cubeloom_domain::slurm::{LINK_PORT, SlurmFacts, SlurmJob, tokens};

pub use facts::{FULL_CLUSTER, read_facts};

use super::local::{self, Places};
use super::notes::{Notes, Refusal};
use super::processes;
use crate::frameworks::{self, Framework};

/// Variables with the rendezvous port for the programs of templates.
const LINK_VARIABLES: [&str; 2] = ["CUBELOOM_LINK_PORT", "CUBELOOM_MPI_PORT"];

/// A job during lowering.
struct Frame<'a> {
    job: &'a Job,
    facts: &'a SlurmFacts,
    framework: &'static Framework,
}

/// The script of a job.
///
/// # Errors
/// All requests that this cluster cannot satisfy.
pub fn lower(job: &Job, facts: &SlurmFacts) -> Result<SlurmJob, Vec<Refusal>> {
    with(job, facts, Notes::default())
}

/// The script of a job, as bound to a cluster.
///
/// # Errors
/// All requests that the cluster cannot satisfy.
pub fn bound(job: &Job, bindings: &SlurmBindings) -> Result<SlurmJob, Vec<Refusal>> {
    let mut notes = Notes::default();
    if let Some(account) = &bindings.counted_as {
        notes.decide(format!(
            "it is submitted with `--account={account}`, the account of its project's quota, which overrides the script's"
        ));
    }
    with(job, &bindings.facts, notes)
}

fn with(job: &Job, facts: &SlurmFacts, mut notes: Notes) -> Result<SlurmJob, Vec<Refusal>> {
    let Some(framework) = frameworks::find(&job.framework) else {
        notes.refuse("template", format!("this version does not support the framework `{}`", job.framework));
        return Err(notes.refusals);
    };
    let facts = &facts.of_project(&job.project);
    let frame = Frame { job, facts, framework };
    explain(&frame, &mut notes);
    let components = component::all(&frame, &mut notes);
    let paths = paths::of(&frame, &mut notes);
    let container = container::of(&frame, &paths, &mut notes);
    if !notes.refusals.is_empty() {
        return Err(notes.refusals);
    }
    let folder = paths.attempt_dir.clone();
    let told = Job { env: variables(&frame), ..job.clone() };
    let mut lowered = local::lower(&told, &Places::tokens(&told, paths));
    refuse_ports(job, &lowered, &mut notes);
    if !notes.refusals.is_empty() {
        return Err(notes.refusals);
    }
    if let Some(container) = &container {
        lowered.workers.iter_mut().for_each(|worker| container.wrap(worker));
    }
    let image = container.as_ref().map(container::Container::lines).unwrap_or_default();
    Ok(SlurmJob {
        key: job.key.clone(),
        script: script::write(&frame, &components, &folder, &image, &notes.decisions),
        pulled: container.and_then(|container| container.pulled()),
        decisions: notes.decisions,
        job: lowered,
        folder,
    })
}

/// Refuses processes that each need a port if they outnumber the job's ports.
fn refuse_ports(job: &Job, lowered: &LocalJob, notes: &mut Notes) {
    let processes = job.processes();
    let table = |worker: &LocalWorker| {
        worker.env.get(processes::VARIABLE).is_some_and(|it| tokens::has_more_ports(it))
    };
    if processes > LINK_PORT && lowered.workers.iter().any(table) {
        notes.refuse(
            "resources/processes_per_gpu",
            format!("its {processes} processes each need a port, and a job has {LINK_PORT} on this cluster"),
        );
    }
}

/// Settings that the task may override, and the task's own variables.
fn variables(frame: &Frame<'_>) -> BTreeMap<String, String> {
    let link = LINK_VARIABLES.map(|name| (name.to_owned(), tokens::LINK.to_owned()));
    let mut env: BTreeMap<String, String> = link.into();
    env.extend(frame.facts.env.clone());
    env.extend(placement::group(frame).map(|group| group.env.clone()).unwrap_or_default());
    env.extend(frame.job.env.clone());
    env
}

/// Notes the differences from other clusters that do not depend on the workers' resources.
fn explain(frame: &Frame<'_>, notes: &mut Notes) {
    let job = frame.job;
    if let Some(python) = job.python.as_ref().filter(|python| !python.requirements.is_empty()) {
        let packages = python.requirements.join(", ");
        let in_image = job.image.is_some() && frame.facts.containers.is_some();
        notes.decide(if in_image {
            format!("the image must contain the Python packages, because nodes install none: {packages}")
        } else {
            format!("`{}` of the nodes must have its packages: {packages}", python.interpreter)
        });
    }
    if job.spare() > 0 {
        notes.decide(format!(
            "it starts with all of its {} workers and may lose {} of them; Slurm adds none while it runs",
            job.workers(),
            job.spare()
        ));
    }
    if job.workers() > LINK_PORT {
        notes.decide(format!(
            "at most {LINK_PORT} of its {} workers can be on one node, each with its own port",
            job.workers()
        ));
    }
    if job.timeout.is_none() {
        notes.decide("it has no timeout: the partition's limit applies");
    }
}
