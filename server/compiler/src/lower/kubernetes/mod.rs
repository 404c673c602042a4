//! Lowering for Kubernetes: a job becomes a manifest of the operator that runs its framework, else a Job of
//! Volcano or of Kubernetes itself. Plain data: the executor applies it unchanged.
//!
//! `way` chooses the kind of manifest from the cluster's facts; `pod` builds the template that all kinds
//! share; one file each builds a manifest. docs/kubernetes.md documents each mapping and its reason.

pub(crate) mod amounts;
mod batch;
mod facts;
pub mod frameworkcontroller;
mod gang;
pub mod jax;
mod kai;
mod meta;
pub mod mpi;
mod operator;
mod outlook;
pub mod paddle;
mod placement;
mod pod;
mod pods;
pub mod pytorch;
pub mod ray;
pub mod spark;
mod submission;
pub mod tensorflow;
mod variables;
mod volcano;
mod volumes;
mod way;
pub(crate) mod words;
pub mod xgboost;

use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::{KubernetesFacts, KubernetesJob};

pub use facts::{FULL_CLUSTER, read_facts};
pub use operator::Operator;
pub use outlook::{Outlook, outlook};

use super::notes::{self, Notes, Refusal};
use crate::frameworks::{self, Framework};
use way::Way;

/// A job during lowering.
struct Frame<'a> {
    /// If changes of its manifests scale it, the job has the maximum number of workers: the identity of its
    /// pods stays.
    job: &'a Job,
    /// The current number of workers of each role.
    replicas: Vec<u32>,
    facts: &'a KubernetesFacts,
    framework: &'static Framework,
    way: Way,
    /// The job's name on the cluster.
    name: String,
}

/// The manifests of a job.
///
/// # Errors
/// All requests that this cluster cannot satisfy.
pub fn lower(job: &Job, facts: &KubernetesFacts) -> Result<KubernetesJob, Vec<Refusal>> {
    let mut notes = Notes::default();
    let Some(framework) = frameworks::find(&job.framework) else {
        notes.refuse("template", format!("this version does not support the framework `{}`", job.framework));
        return Err(notes.refusals);
    };
    let way = way::choose(job, framework, facts, &mut notes);
    let replicas = job.roles.iter().map(|role| role.replicas).collect();
    let whole = scales(way, facts).then(|| job.clone().at_most());
    let job = whole.as_ref().unwrap_or(job);
    let frame = Frame { job, replicas, facts, framework, way, name: job.key.object_name() };
    gang::explain(&frame, &mut notes);
    let (roles, files) = pods::of(&frame, &mut notes);
    let mut objects: Vec<_> = meta::config_map(&frame, &files).into_iter().collect();
    match frame.way {
        Way::Pod => objects.extend(roles.iter().map(|role| pod::bare(&frame, role))),
        Way::Job => objects.extend(roles.iter().map(|role| batch::job(&frame, role))),
        Way::Indexed => objects.extend(batch::indexed(&frame, &roles)),
        Way::Volcano => objects.push(volcano::job(&frame, &roles)),
        Way::Operator(operator) => {
            objects.extend(operator.service.then(|| batch::service(&frame)));
            objects.push((operator.object)(&frame, &roles));
        }
    }
    if notes.refusals.is_empty() {
        Ok(KubernetesJob { key: job.key.clone(), decisions: notes.decisions, objects })
    } else {
        Err(notes.refusals)
    }
}

/// Whether a change of its manifests adds and removes single workers of an elastic job: nothing else decides
/// when its pods start.
fn scales(way: Way, facts: &KubernetesFacts) -> bool {
    matches!(way, Way::Indexed) && are_ours(facts)
}

/// Whether Cubeloom scales elastic jobs: Volcano scales them itself, and Kueue admits only whole jobs.
fn are_ours(facts: &KubernetesFacts) -> bool {
    facts.volcano.is_none() && facts.kueue.is_none()
}
