//! Lowering: a job and its bindings become plain data that one kind of cluster takes as it is.

mod common;
mod compatibility;
pub mod kubernetes;
mod local;
mod substitute;
mod worker;

use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::{Bindings, LocalJob, Lowered};

/// What the cluster takes; its kind follows from the bindings.
#[must_use]
pub fn lower(job: &Job, bindings: &Bindings) -> Lowered {
    match bindings {
        Bindings::Local(bindings) => Lowered::Local(local::lower(job, &local::Places::bound(job, bindings))),
        Bindings::None => Lowered::None,
    }
}

/// What would be submitted to this machine: byte for byte the same, but for placeholders such as
/// `<address of worker-0>` where only submission knows the value.
#[must_use]
pub fn preview(job: &Job) -> LocalJob {
    local::lower(job, &local::Places::placeholders(job))
}
