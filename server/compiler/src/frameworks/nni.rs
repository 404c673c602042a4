//! `nni`: a manager that runs an experiment, and workers that run its trials until they are stopped. Index
//! and addresses are set as for `indexed`. The manager passes NNI's variables on with each trial.

use cubeloom_domain::job::SuccessRule;

use super::{Crew, Framework, Identity, Member, RoleRule, indexed};
use crate::lower::kubernetes;

pub const FRAMEWORK: Framework = Framework {
    name: "nni",
    roles: &[RoleRule { name: "manager", min: 1, max: 1 }, RoleRule { name: "trial", min: 1, max: u32::MAX }],
    elastic_role: None,
    by_address: false,
    divided: &[],
    success: |_| SuccessRule::Role("manager".into()),
    identity,
    operator: Some(&kubernetes::frameworkcontroller::OPERATOR),
};

fn identity(crew: &Crew<'_>, member: &Member) -> Identity {
    let mut identity = indexed::numbered(member);
    for role in ["manager", "trial"] {
        identity.variables.extend(indexed::addresses(crew, role));
    }
    identity
}
