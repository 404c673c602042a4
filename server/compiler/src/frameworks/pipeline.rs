//! `pipeline`: no workers of its own. The task is a run of another pipeline, which has its own tasks. The
//! arguments `pipeline`, `version`, `file` and `parameters` select it; [`crate::job`] reads them.

use cubeloom_domain::job::SuccessRule;

use super::{Framework, Identity};

pub const FRAMEWORK: Framework = Framework {
    name: "pipeline",
    roles: &[],
    elastic_role: None,
    by_address: false,
    divided: &[],
    success: |_| SuccessRule::AllWorkers,
    identity: |_, _| Identity::default(),
    operator: None,
};
