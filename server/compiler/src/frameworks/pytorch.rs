//! `pytorch`: a master and workers, or, when elastic, only workers; worker 0 then hosts the rendezvous.
//!
//! The variables are those of Kubeflow's PyTorchJob; torchrun takes each of its options from `PET_<OPTION>`.

use cubeloom_domain::job::SuccessRule;
use cubeloom_domain::pipeline::ElasticRange;

use super::{Crew, Framework, Identity, Member, RoleRule, Shape, variables};
use crate::lower::kubernetes;

pub const FRAMEWORK: Framework = Framework {
    name: "pytorch",
    roles: &[RoleRule { name: "master", min: 0, max: 1 }, RoleRule { name: "worker", min: 0, max: u32::MAX }],
    elastic_role: Some("worker"),
    by_address: false,
    divided: &["master", "worker"],
    success,
    identity,
    operator: Some(&kubernetes::pytorch::OPERATOR),
};

fn success(shape: &Shape<'_>) -> SuccessRule {
    if shape.roles.contains(&"master") {
        SuccessRule::Role("master".into())
    } else if shape.elastic {
        SuccessRule::AnyWorker
    } else {
        SuccessRule::AllWorkers
    }
}

fn identity(crew: &Crew<'_>, member: &Member) -> Identity {
    let Some(first) = crew.members.first() else { return Identity::default() };
    let variables = match crew.elastic {
        Some(range) => elastic(crew, first, range),
        None => fixed(crew, first, member),
    };
    let settings = super::variables([("PYTHONUNBUFFERED", "1".into())]);
    Identity { variables, settings, ..Identity::default() }
}

/// The platform assigns fixed ranks.
fn fixed(crew: &Crew<'_>, first: &Member, member: &Member) -> std::collections::BTreeMap<String, String> {
    let (world, rank) = (crew.members.len().to_string(), member.rank.to_string());
    variables([
        ("MASTER_ADDR", first.address.clone()),
        ("MASTER_PORT", first.port.clone()),
        ("WORLD_SIZE", world.clone()),
        ("RANK", rank.clone()),
        ("PET_MASTER_ADDR", first.address.clone()),
        ("PET_MASTER_PORT", first.port.clone()),
        ("PET_NNODES", world),
        ("PET_NODE_RANK", rank),
    ])
}

/// The rendezvous assigns ranks, again after each change.
fn elastic(
    crew: &Crew<'_>,
    first: &Member,
    range: ElasticRange,
) -> std::collections::BTreeMap<String, String> {
    variables([
        ("PET_NNODES", format!("{}:{}", range.min, range.max)),
        ("PET_RDZV_BACKEND", "c10d".into()),
        ("PET_RDZV_ENDPOINT", format!("{}:{}", first.address, first.port)),
        ("PET_RDZV_ID", crew.id.to_owned()),
    ])
}
