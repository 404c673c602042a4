//! `indexed`: workers that know their index and the others' addresses, without a protocol of ours.
//!
//! The variables are those of Volcano's `svc` and `env` plugins and of Kubernetes' indexed Jobs. An elastic
//! job may lose workers. Either the first worker reassigns their work and knows when all is done, or other
//! workers take it without a leader.

use cubeloom_domain::job::SuccessRule;

use super::{Crew, Framework, Identity, Member, RoleRule, Shape, variables};

pub const FRAMEWORK: Framework = Framework {
    name: "indexed",
    roles: &[RoleRule { name: "worker", min: 1, max: u32::MAX }],
    elastic_role: Some("worker"),
    by_address: false,
    divided: &["worker"],
    success,
    identity,
    operator: None,
};

fn success(shape: &Shape<'_>) -> SuccessRule {
    match (shape.elastic, shape.leader) {
        (false, _) => SuccessRule::AllWorkers,
        (true, true) => SuccessRule::First("worker".into()),
        (true, false) => SuccessRule::AnyWorker,
    }
}

pub(super) fn identity(crew: &Crew<'_>, member: &Member) -> Identity {
    let mut identity = numbered(member);
    identity.variables.extend(addresses(crew, "worker"));
    identity
}

/// A worker's index in its role.
pub(super) fn numbered(member: &Member) -> Identity {
    let index = member.index.to_string();
    Identity {
        variables: variables([
            ("JOB_COMPLETION_INDEX", index.clone()),
            ("VC_TASK_INDEX", index.clone()),
            ("VK_TASK_INDEX", index),
        ]),
        ..Identity::default()
    }
}

/// The number of workers of a role, and their addresses.
pub(super) fn addresses(crew: &Crew<'_>, role: &str) -> [(String, String); 2] {
    let name = role.to_uppercase();
    [
        (format!("VC_{name}_NUM"), crew.of_role(role).count().to_string()),
        (format!("VC_{name}_HOSTS"), crew.addresses(role)),
    ]
}
