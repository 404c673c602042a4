//! `xgboost`: a master, which runs the tracker, and workers. The variables are those of Kubeflow's XGBoostJob.

use cubeloom_domain::job::SuccessRule;

use super::{Crew, Framework, Identity, Member, RoleRule, variables};
use crate::lower::kubernetes;

pub const FRAMEWORK: Framework = Framework {
    name: "xgboost",
    roles: &[RoleRule { name: "master", min: 1, max: 1 }, RoleRule { name: "worker", min: 0, max: u32::MAX }],
    elastic_role: None,
    by_address: false,
    divided: &[],
    success: |_| SuccessRule::Role("master".into()),
    identity,
    operator: Some(&kubernetes::xgboost::OPERATOR),
};

fn identity(crew: &Crew<'_>, member: &Member) -> Identity {
    let Some(master) = crew.members.first() else { return Identity::default() };
    Identity {
        variables: variables([
            ("MASTER_ADDR", master.address.clone()),
            ("MASTER_PORT", master.port.clone()),
            ("WORLD_SIZE", crew.members.len().to_string()),
            ("RANK", member.rank.to_string()),
        ]),
        settings: variables([("PYTHONUNBUFFERED", "1".into())]),
        ..Identity::default()
    }
}
