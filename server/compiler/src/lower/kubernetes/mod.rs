//! Lowering for Kubernetes: a job becomes the object of the operator that runs its framework, else a Job of Volcano or
//! of Kubernetes itself. Plain data: what is written here is applied as it is.
//!
//! `way` chooses the object from the cluster's facts; `pod` makes the template that every way shares; one file each
//! makes an object. docs/kubernetes.md says what becomes what, and why.

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

/// A job on its way to its objects.
struct Frame<'a> {
    /// Where it is scaled by what its objects say, with as many workers as it may ever have: who its pods are stays.
    job: &'a Job,
    /// How many workers each of its roles has now.
    replicas: Vec<u32>,
    facts: &'a KubernetesFacts,
    framework: &'static Framework,
    way: Way,
    /// The job's name on the cluster.
    name: String,
}

/// The objects of a job.
///
/// # Errors
/// What this cluster cannot give, all of it.
pub fn lower(job: &Job, facts: &KubernetesFacts) -> Result<KubernetesJob, Vec<Refusal>> {
    let mut notes = Notes::default();
    let Some(framework) = frameworks::find(&job.framework) else {
        notes.refuse("template", format!("this version does not know the framework `{}`", job.framework));
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

/// Whether an elastic job of this form is given single workers, and gives them back, by a change of its objects: nobody else
/// decides when its pods start.
fn scales(way: Way, facts: &KubernetesFacts) -> bool {
    matches!(way, Way::Indexed) && are_ours(facts)
}

/// Whether elastic jobs get their workers from Cubeloom: Volcano gives them itself, and Kueue lets in whole jobs only.
fn are_ours(facts: &KubernetesFacts) -> bool {
    facts.volcano.is_none() && facts.kueue.is_none()
}
