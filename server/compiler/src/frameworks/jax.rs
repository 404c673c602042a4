//! `jax`: workers, of which the first is the coordinator. The variables are those of Kubeflow's JAXJob.

use cubeloom_domain::job::SuccessRule;

use super::{Crew, Framework, Identity, Member, RoleRule, variables};
use crate::lower::kubernetes;

pub const FRAMEWORK: Framework = Framework {
    name: "jax",
    roles: &[RoleRule { name: "worker", min: 1, max: u32::MAX }],
    elastic_role: None,
    by_address: false,
    success: |_| SuccessRule::AllWorkers,
    identity,
    operator: Some(&kubernetes::jax::OPERATOR),
};

fn identity(crew: &Crew<'_>, member: &Member) -> Identity {
    let Some(first) = crew.members.first() else { return Identity::default() };
    Identity {
        variables: variables([
            ("COORDINATOR_ADDRESS", first.address.clone()),
            ("COORDINATOR_PORT", first.port.clone()),
            ("NUM_PROCESSES", crew.members.len().to_string()),
            ("PROCESS_ID", member.rank.to_string()),
        ]),
        settings: variables([("PYTHONUNBUFFERED", "1".into())]),
        ..Identity::default()
    }
}
