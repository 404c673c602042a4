//! Frameworks: how the workers of a job learn their identity, and when the job has succeeded.
//!
//! One file each; no other code matches on a framework's name. docs/adding-a-framework.md is the checklist.

mod approval;
mod horovod;
mod indexed;
mod jax;
mod kaldi;
mod mpi;
mod mxnet;
mod nni;
mod paddle;
mod pipeline;
mod pytorch;
mod ray;
mod single;
pub mod spark;
mod tensorflow;
mod xgboost;

use std::collections::BTreeMap;

use cubeloom_domain::job::{JobRole, SuccessRule};
use cubeloom_domain::pipeline::ElasticRange;
use cubeloom_domain::plan::{PlannedTask, RunPlan};
use cubeloom_domain::resources::Resources;

use crate::lower::kubernetes::Operator;

/// A contract between the platform and a distributed program.
pub struct Framework {
    /// The name in templates.
    pub name: &'static str,
    /// The supported roles, in rank order.
    pub roles: &'static [RoleRule],
    /// The role that can grow and shrink while the job runs.
    pub elastic_role: Option<&'static str>,
    /// Whether only the addresses distinguish its workers, so that no two may run where they share one.
    pub by_address: bool,
    /// The roles whose workers may be several processes (`processes_per_gpu`), each with an identity like a
    /// worker's.
    pub divided: &'static [&'static str],
    pub success: fn(&Shape) -> SuccessRule,
    /// The variables, settings and files of a worker.
    pub identity: fn(&Crew<'_>, &Member) -> Identity,
    /// The operator that runs it on Kubernetes, if any.
    pub operator: Option<&'static Operator>,
}

/// How many workers a role may have.
pub struct RoleRule {
    pub name: &'static str,
    pub min: u32,
    pub max: u32,
}

/// The roles of a job, and whether it is elastic.
pub struct Shape<'a> {
    /// The roles that have workers.
    pub roles: &'a [&'a str],
    pub elastic: bool,
    /// Whether the first elastic worker distributes work to the others.
    pub leader: bool,
}

/// All workers of a job, in rank order.
pub struct Crew<'a> {
    /// The name of the attempt on the cluster: the same for all workers, and never reused.
    pub id: &'a str,
    pub members: &'a [Member],
    /// The roles, including one whose workers run on another cluster.
    pub roles: &'a [JobRole],
    /// Minimum and maximum number of elastic workers.
    pub elastic: Option<ElasticRange>,
    /// Whether all workers are on one machine, each with a loopback address.
    pub one_machine: bool,
}

impl Crew<'_> {
    /// The workers of one role, in order.
    pub fn of_role<'c>(&'c self, role: &'c str) -> impl Iterator<Item = &'c Member> {
        self.members.iter().filter(move |member| member.role == role)
    }

    /// The addresses of one role, separated by commas.
    pub fn addresses(&self, role: &str) -> String {
        self.of_role(role).map(|member| member.address.as_str()).collect::<Vec<_>>().join(",")
    }
}

/// One worker, as others see it. The fields are texts, because a preview has placeholders.
pub struct Member {
    pub role: String,
    pub index: u32,
    /// Rank across all roles.
    pub rank: u32,
    pub address: String,
    /// A port that only this worker uses.
    pub port: String,
    /// More such ports, for its processes after the first.
    pub ports: Vec<String>,
    pub folder: String,
    pub resources: Resources,
}

/// The identity of a worker, from its framework.
#[derive(Debug, Default)]
pub struct Identity {
    /// The worker's identity and the others' addresses: only the platform sets these.
    pub variables: BTreeMap<String, String>,
    /// Settings that the task's own `env` can change.
    pub settings: BTreeMap<String, String>,
    /// Files in its folder, by relative path.
    pub files: BTreeMap<String, String>,
}

fn variables<const N: usize>(pairs: [(&str, String); N]) -> BTreeMap<String, String> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

pub const ALL: [&Framework; 16] = [
    &single::FRAMEWORK,
    &indexed::FRAMEWORK,
    &mpi::FRAMEWORK,
    &horovod::FRAMEWORK,
    &xgboost::FRAMEWORK,
    &pytorch::FRAMEWORK,
    &tensorflow::FRAMEWORK,
    &jax::FRAMEWORK,
    &paddle::FRAMEWORK,
    &mxnet::FRAMEWORK,
    &ray::FRAMEWORK,
    &spark::FRAMEWORK,
    &kaldi::FRAMEWORK,
    &nni::FRAMEWORK,
    &approval::FRAMEWORK,
    &pipeline::FRAMEWORK,
];

pub fn find(name: &str) -> Option<&'static Framework> {
    ALL.into_iter().find(|framework| framework.name == name)
}

/// Whether the workers of a task's role may be several processes each: `processes_per_gpu`. An elastic group
/// agrees on its ranks itself.
#[must_use]
pub fn may_be_divided(plan: &RunPlan, task: &PlannedTask, role: &str) -> bool {
    let framework = find(&plan.template_of(task).framework);
    task.elastic.is_none() && framework.is_some_and(|framework| framework.divided.contains(&role))
}

pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.into_iter().map(|framework| framework.name)
}

/// What performs a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doer {
    /// Workers of its own.
    Workers,
    /// A user.
    Person,
    /// A run of another pipeline.
    Run,
}

impl Framework {
    /// What performs its tasks.
    pub fn doer(&self) -> Doer {
        match self.name {
            _ if !self.roles.is_empty() => Doer::Workers,
            name if name == approval::FRAMEWORK.name => Doer::Person,
            _ => Doer::Run,
        }
    }

    pub fn has_workers(&self) -> bool {
        self.doer() == Doer::Workers
    }

    /// Whether a job always has a single worker.
    pub fn is_single(&self) -> bool {
        self.roles.iter().map(|rule| rule.max).fold(0, u32::saturating_add) == 1
    }

    /// Whether a role may have several workers.
    pub fn may_be_many(&self, role: &str) -> bool {
        self.roles.iter().any(|rule| rule.name == role && rule.max > 1)
    }

    /// The position of a role in rank order; `None` for an unknown role.
    pub fn position(&self, role: &str) -> Option<usize> {
        self.roles.iter().position(|rule| rule.name == role)
    }
}
