//! Lowering: a job and its bindings become plain data that one kind of cluster accepts unchanged.

mod common;
mod compatibility;
pub mod kubernetes;
mod local;
mod notes;
mod preflight;
mod processes;
pub mod slurm;
mod substitute;
mod told;
mod worker;

use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::{Bindings, LocalJob, Lowered};
use cubeloom_domain::outcome::{Failure, FailureKind};

pub use notes::Refusal;
pub(crate) use notes::problems;

/// The job in the cluster's format; the bindings decide its kind.
///
/// # Errors
/// A failure of kind `CouldNotStart`: the cluster cannot provide what the job requests.
pub fn lower(job: &Job, bindings: &Bindings) -> Result<Lowered, Failure> {
    Ok(match bindings {
        Bindings::Local(bindings) => Lowered::Local(local::lower(job, &local::Places::bound(job, bindings))),
        Bindings::Kubernetes(bound) => {
            Lowered::Kubernetes(kubernetes::lower(job, &bound.facts).map_err(refused)?)
        }
        Bindings::Slurm(bound) => Lowered::Slurm(Box::new(slurm::bound(job, bound).map_err(refused)?)),
        // The executor that starts runs reads the job itself.
        Bindings::Run { .. } | Bindings::None => Lowered::None,
    })
}

fn refused(refusals: Vec<Refusal>) -> Failure {
    let sentences: Vec<String> = refusals.into_iter().map(|refusal| refusal.message).collect();
    Failure::new(FailureKind::CouldNotStart, sentences.join("; "))
}

/// The submission to this machine, byte for byte, except for placeholders such as `<address of worker-0>` for
/// values known only at submission.
#[must_use]
pub fn preview(job: &Job) -> LocalJob {
    local::lower(job, &local::Places::placeholders(job))
}
