//! `ray`: a head and workers that join it. The head's program starts Ray, waits for the workers, and runs what the task
//! asks for as a job of Ray, by the number that it is told; when that has succeeded, the task has.
//!
//! `RAY_ADDRESS` is KubeRay's. There too the programs of the task start Ray, with the command that the operator tells
//! them (`KUBERAY_GEN_RAY_START_CMD`): a head that has that variable stays until it is stopped, for the operator asks it how
//! the job of Ray has ended.

use cubeloom_domain::job::SuccessRule;

use super::{Crew, Framework, Identity, Member, RoleRule, variables};
use crate::lower::kubernetes;

pub const FRAMEWORK: Framework = Framework {
    name: "ray",
    roles: &[RoleRule { name: "head", min: 1, max: 1 }, RoleRule { name: "worker", min: 0, max: u32::MAX }],
    elastic_role: None,
    by_address: false,
    divided: &[],
    success: |_| SuccessRule::Role("head".into()),
    identity,
    operator: Some(&kubernetes::ray::OPERATOR),
};

fn identity(crew: &Crew<'_>, _: &Member) -> Identity {
    let Some(head) = crew.members.first() else { return Identity::default() };
    Identity {
        variables: variables([
            ("RAY_ADDRESS", format!("{}:{}", head.address, head.port)),
            ("RAY_JOB_SUBMISSION_ID", crew.id.to_owned()),
        ]),
        settings: variables([("RAY_USAGE_STATS_ENABLED", "0".into())]),
        ..Identity::default()
    }
}
