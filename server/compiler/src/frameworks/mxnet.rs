//! `mxnet`: a scheduler, servers that hold the parameters, workers that train. The variables are those of
//! ps-lite.
//!
//! Scheduler and servers end when all workers have signed off; one that has not ended by then is stopped.

use cubeloom_domain::job::SuccessRule;

use super::{Crew, Framework, Identity, Member, RoleRule, variables};

pub const FRAMEWORK: Framework = Framework {
    name: "mxnet",
    roles: &[
        RoleRule { name: "scheduler", min: 1, max: 1 },
        RoleRule { name: "server", min: 1, max: u32::MAX },
        RoleRule { name: "worker", min: 1, max: u32::MAX },
    ],
    elastic_role: None,
    by_address: false,
    divided: &["worker"],
    success: |_| SuccessRule::Role("worker".into()),
    identity,
    operator: None,
};

fn identity(crew: &Crew<'_>, member: &Member) -> Identity {
    let Some(scheduler) = crew.members.first() else { return Identity::default() };
    let mut told = variables([
        ("DMLC_ROLE", member.role.clone()),
        ("DMLC_PS_ROOT_URI", scheduler.address.clone()),
        ("DMLC_PS_ROOT_PORT", scheduler.port.clone()),
        ("DMLC_NUM_SERVER", crew.of_role("server").count().to_string()),
        ("DMLC_NUM_WORKER", crew.of_role("worker").count().to_string()),
    ]);
    if member.role == "worker" {
        told.insert("DMLC_WORKER_ID".into(), member.index.to_string());
    }
    let mut settings = variables([]);
    if crew.one_machine {
        // ps-lite selects a network interface itself, and skips the loopback interface.
        settings.insert("DMLC_INTERFACE".into(), "lo".into());
        settings.insert("DMLC_NODE_HOST".into(), member.address.clone());
    }
    Identity { variables: told, settings, ..Identity::default() }
}
