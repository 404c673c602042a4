//! `single`: one worker, which needs no variables.

use cubeloom_domain::job::SuccessRule;

use super::{Framework, Identity, RoleRule};

pub const FRAMEWORK: Framework = Framework {
    name: "single",
    roles: &[RoleRule { name: "worker", min: 1, max: 1 }],
    elastic_role: None,
    by_address: false,
    divided: &[],
    success: |_| SuccessRule::AllWorkers,
    identity: |_, _| Identity::default(),
    operator: None,
};
