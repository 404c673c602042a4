//! `jax`: workers; the first is the coordinator. The variables are those of Kubeflow's JAXJob.

use std::collections::BTreeMap;

use cubeloom_domain::job::SuccessRule;

use super::{Crew, Framework, Identity, Member, RoleRule, variables};
use crate::lower::kubernetes;

pub const FRAMEWORK: Framework = Framework {
    name: "jax",
    roles: &[RoleRule { name: "worker", min: 1, max: u32::MAX }],
    elastic_role: None,
    by_address: false,
    divided: &["worker"],
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
        settings: settings(member),
        ..Identity::default()
    }
}

/// JAX allocates three quarters of a GPU's memory at start. Processes that share a GPU each get their part of
/// that.
fn settings(member: &Member) -> BTreeMap<String, String> {
    let mut settings = variables([("PYTHONUNBUFFERED", "1".into())]);
    if let Some(each) = member.resources.processes_per_gpu.filter(|each| *each > 1) {
        settings.insert("XLA_PYTHON_CLIENT_MEM_FRACTION".into(), format!("{:.3}", 0.75 / f64::from(each)));
    }
    settings
}
