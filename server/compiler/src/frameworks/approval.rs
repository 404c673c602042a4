//! `approval`: no workers at all. The task waits until a user approves or rejects it. The arguments
//! `message`, `approvers`, `four_eyes` and `on_rejection` define the question; [`crate::question`] reads
//! them.

use cubeloom_domain::job::SuccessRule;

use super::{Framework, Identity};

pub const FRAMEWORK: Framework = Framework {
    name: "approval",
    roles: &[],
    elastic_role: None,
    by_address: false,
    divided: &[],
    success: |_| SuccessRule::AllWorkers,
    identity: |_, _| Identity::default(),
    operator: None,
};
