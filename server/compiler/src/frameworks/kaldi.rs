//! `kaldi`: a master that hands out work, and workers that take it until they are stopped. `CUBELOOM_ROLE`
//! has a worker's role. Its index, the others' addresses and the master's are set as for `indexed`.

use cubeloom_domain::job::SuccessRule;

use super::{Crew, Framework, Identity, Member, RoleRule, indexed};

pub const FRAMEWORK: Framework = Framework {
    name: "kaldi",
    roles: &[RoleRule { name: "master", min: 1, max: 1 }, RoleRule { name: "worker", min: 1, max: u32::MAX }],
    elastic_role: None,
    by_address: false,
    divided: &[],
    success: |_| SuccessRule::Role("master".into()),
    identity,
    operator: None,
};

fn identity(crew: &Crew<'_>, member: &Member) -> Identity {
    let mut identity = indexed::identity(crew, member);
    identity.variables.extend(indexed::addresses(crew, "master"));
    identity
}
