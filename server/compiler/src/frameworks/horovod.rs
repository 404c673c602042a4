//! `horovod`: like `mpi`, with Horovod configured to take ranks from MPI and to communicate through it.

use cubeloom_domain::job::SuccessRule;

use super::{Crew, Framework, Identity, Member, mpi, variables};
use crate::lower::kubernetes;

pub const FRAMEWORK: Framework = Framework {
    name: "horovod",
    roles: mpi::ROLES,
    elastic_role: None,
    by_address: true,
    divided: &[],
    success: |_| SuccessRule::Role("launcher".into()),
    identity,
    operator: Some(&kubernetes::mpi::OPERATOR),
};

fn identity(crew: &Crew<'_>, member: &Member) -> Identity {
    let mut identity = mpi::identity(crew, member);
    // A program may use NCCL on GPUs instead, so these are settings.
    identity
        .settings
        .extend(variables([("HOROVOD_CONTROLLER", "mpi".into()), ("HOROVOD_CPU_OPERATIONS", "mpi".into())]));
    if crew.one_machine {
        identity.settings.insert("HOROVOD_GLOO_IFACE".into(), "lo".into());
    }
    identity
}
