//! `paddle`: workers that communicate with each other, or masters that hold the parameters and workers that
//! train. The variables are those of Kubeflow's PaddleJob; `paddle.distributed.launch` takes its options from
//! them.
//!
//! As in the operator, masters decide success if there are any: they end when the training has ended.

use cubeloom_domain::job::SuccessRule;

use super::{Crew, Framework, Identity, Member, RoleRule, Shape, variables};
use crate::lower::kubernetes;

pub const FRAMEWORK: Framework = Framework {
    name: "paddle",
    roles: &[
        RoleRule { name: "master", min: 0, max: u32::MAX },
        RoleRule { name: "worker", min: 0, max: u32::MAX },
    ],
    elastic_role: None,
    by_address: false,
    divided: &[],
    success,
    identity,
    operator: Some(&kubernetes::paddle::OPERATOR),
};

fn success(shape: &Shape<'_>) -> SuccessRule {
    if shape.roles.contains(&"master") { SuccessRule::Role("master".into()) } else { SuccessRule::AllWorkers }
}

fn identity(crew: &Crew<'_>, member: &Member) -> Identity {
    let Some(first) = crew.members.first() else { return Identity::default() };
    let mut told = variables([
        ("PADDLE_JOB_ID", crew.id.to_owned()),
        ("PADDLE_MASTER", format!("{}:{}", first.address, first.port)),
        ("PADDLE_NNODES", crew.members.len().to_string()),
    ]);
    if crew.of_role("master").next().is_some() {
        let part = if member.role == "master" { "PADDLE_SERVER_NUM" } else { "PADDLE_TRAINER_NUM" };
        told.insert(part.into(), "1".into());
    }
    let mut settings = variables([("PYTHONUNBUFFERED", "1".into())]);
    if crew.one_machine {
        // Otherwise it resolves the machine's name, whose address all workers share here.
        settings.insert("POD_IP".into(), member.address.clone());
    }
    Identity { variables: told, settings, ..Identity::default() }
}
