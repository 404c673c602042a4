//! `approval`: no workers at all. A person does the task: it waits until somebody says yes or no. What is asked stands in
//! the arguments `message`, `approvers`, `four_eyes` and `on_rejection`, which [`crate::question`] reads.

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
