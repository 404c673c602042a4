//! `tensorflow`: a chief, workers, parameter servers (`ps`) and an evaluator, all optional. `TF_CONFIG` is
//! that of Kubeflow's TFJob.
//!
//! Parameter servers never end by themselves. The job succeeds when the chief succeeds, or without a chief
//! the first worker, which then leads. Everything still running is stopped.

use std::collections::BTreeMap;

use cubeloom_domain::job::SuccessRule;
use serde_json::json;

use super::{Crew, Framework, Identity, Member, RoleRule, Shape, variables};
use crate::lower::kubernetes;

pub const FRAMEWORK: Framework = Framework {
    name: "tensorflow",
    roles: &[
        RoleRule { name: "chief", min: 0, max: 1 },
        RoleRule { name: "worker", min: 0, max: u32::MAX },
        RoleRule { name: "ps", min: 0, max: u32::MAX },
        RoleRule { name: "evaluator", min: 0, max: 1 },
    ],
    elastic_role: None,
    by_address: false,
    divided: &["worker"],
    success,
    identity,
    operator: Some(&kubernetes::tensorflow::OPERATOR),
};

fn success(shape: &Shape<'_>) -> SuccessRule {
    if shape.roles.contains(&"chief") {
        SuccessRule::Role("chief".into())
    } else if shape.roles.contains(&"worker") {
        SuccessRule::First("worker".into())
    } else {
        SuccessRule::AllWorkers
    }
}

fn identity(crew: &Crew<'_>, member: &Member) -> Identity {
    let mut settings = variables([]);
    if member.resources.processes_per_gpu.is_some_and(|each| each > 1) {
        // Otherwise the first process on a GPU takes all of its memory.
        settings.insert("TF_FORCE_GPU_ALLOW_GROWTH".into(), "true".into());
    }
    // A single worker gets no variables, as with the operator: TensorFlow then looks for no others.
    if crew.members.len() < 2 {
        return Identity { settings, ..Identity::default() };
    }
    let mut cluster: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for other in crew.members {
        cluster.entry(&other.role).or_default().push(format!("{}:{}", other.address, other.port));
    }
    let task = json!({"type": member.role, "index": member.index});
    let config = json!({"cluster": cluster, "task": task, "environment": "cloud"});
    Identity { variables: variables([("TF_CONFIG", config.to_string())]), settings, ..Identity::default() }
}
