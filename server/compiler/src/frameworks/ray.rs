//! `ray`: a head and workers that join it. The head's program starts Ray, waits for the given number of
//! workers, and runs the task's command as a Ray job. The task succeeds when the Ray job succeeds.
//!
//! `RAY_ADDRESS` is KubeRay's. Under KubeRay the task's programs also start Ray, with the command from the
//! operator (`KUBERAY_GEN_RAY_START_CMD`). A head with that variable stays until it is stopped, because the
//! operator asks it for the result of the Ray job.

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
