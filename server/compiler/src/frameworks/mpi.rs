//! `mpi`: a launcher that runs `mpirun`, and workers that host the ranks.
//!
//! The launcher finds the workers in a hostfile. A token that only the executor knows (`CUBELOOM_JOB_TOKEN`)
//! lets it start a process in a worker. The token is a secret, and compiled output is stored and shown.

use std::collections::BTreeMap;

use cubeloom_domain::job::SuccessRule;

use super::{Crew, Framework, Identity, Member, RoleRule, variables};
use crate::lower::kubernetes;

pub const FRAMEWORK: Framework = Framework {
    name: "mpi",
    roles: ROLES,
    elastic_role: None,
    by_address: true,
    divided: &[],
    success: |_| SuccessRule::Role("launcher".into()),
    identity,
    operator: Some(&kubernetes::mpi::OPERATOR),
};

/// The role that starts the ranks, and the role that hosts them.
pub(super) const ROLES: &[RoleRule] =
    &[RoleRule { name: "launcher", min: 1, max: 1 }, RoleRule { name: "worker", min: 1, max: u32::MAX }];

/// The hostfile's path in the worker's folder.
const HOSTFILE: &str = "hostfile";

pub(super) fn identity(crew: &Crew<'_>, member: &Member) -> Identity {
    let line = |worker: &Member| {
        let slots = (worker.resources.cpu.0 / 1000).max(1);
        format!("{} slots={slots}\n", worker.address)
    };
    // On one machine every worker is on the loopback interface, which Open MPI skips by default.
    let loopback =
        [("OMPI_MCA_btl_tcp_if_include", "lo".into()), ("OMPI_MCA_oob_tcp_if_include", "lo".into())];
    Identity {
        variables: variables([
            ("MPI_HOST", crew.addresses("worker")),
            ("OMPI_MCA_orte_default_hostfile", format!("{}/{HOSTFILE}", member.folder)),
        ]),
        settings: if crew.one_machine { variables(loopback) } else { BTreeMap::new() },
        files: [(HOSTFILE.to_owned(), crew.of_role("worker").map(line).collect())].into(),
    }
}
