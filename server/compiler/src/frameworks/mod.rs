//! Frameworks: how the workers of a job learn who they are, and when the job has succeeded.
//!
//! One file each; nothing else in the project matches on a framework's name. docs/adding-a-framework.md is the
//! checklist.

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
    /// Its name, as templates write it.
    pub name: &'static str,
    /// The roles that it knows, in the order of ranks.
    pub roles: &'static [RoleRule],
    /// The role that can grow and shrink while the job runs.
    pub elastic_role: Option<&'static str>,
    /// Whether its workers are told apart by their addresses alone, so that no two may be where they share one.
    pub by_address: bool,
    /// The roles of which a worker may be several processes, each told who it is as a worker is: `processes_per_gpu`.
    pub divided: &'static [&'static str],
    /// When a job has succeeded.
    pub success: fn(&Shape) -> SuccessRule,
    /// What a worker is told.
    pub identity: fn(&Crew<'_>, &Member) -> Identity,
    /// The operator that runs it on Kubernetes, where there is one.
    pub operator: Option<&'static Operator>,
}

/// How often a role can be there.
pub struct RoleRule {
    /// Name.
    pub name: &'static str,
    /// At least so many workers.
    pub min: u32,
    /// At most so many.
    pub max: u32,
}

/// Which roles a job has, and whether it is elastic.
pub struct Shape<'a> {
    /// The roles that have workers.
    pub roles: &'a [&'a str],
    /// Whether it is elastic.
    pub elastic: bool,
    /// Whether the first of its elastic workers gives the others their work.
    pub leader: bool,
}

/// All workers of a job, in rank order.
pub struct Crew<'a> {
    /// The name of the attempt on the cluster: the same for all workers, and never used twice.
    pub id: &'a str,
    /// The workers.
    pub members: &'a [Member],
    /// The roles, also one of which another cluster has the workers.
    pub roles: &'a [JobRole],
    /// How few and how many workers.
    pub elastic: Option<ElasticRange>,
    /// Whether all of them are on one machine, each with a loopback address.
    pub one_machine: bool,
}

impl Crew<'_> {
    /// The workers of one role, in order.
    pub fn of_role<'c>(&'c self, role: &'c str) -> impl Iterator<Item = &'c Member> {
        self.members.iter().filter(move |member| member.role == role)
    }

    /// The addresses of one role, with commas.
    pub fn addresses(&self, role: &str) -> String {
        self.of_role(role).map(|member| member.address.as_str()).collect::<Vec<_>>().join(",")
    }
}

/// One worker, as others see it. Texts, for in a preview they are placeholders.
pub struct Member {
    /// Its role.
    pub role: String,
    /// Its index in the role.
    pub index: u32,
    /// Rank across all roles.
    pub rank: u32,
    /// Its address.
    pub address: String,
    /// A port that is its own.
    pub port: String,
    /// More of them, for its processes but the first.
    pub ports: Vec<String>,
    /// Its folder.
    pub folder: String,
    /// What it gets.
    pub resources: Resources,
}

/// What a worker is told by its framework.
#[derive(Debug, Default)]
pub struct Identity {
    /// Who it is and where the others are: nobody else may set these.
    pub variables: BTreeMap<String, String>,
    /// Settings that the task's own `env` can change.
    pub settings: BTreeMap<String, String>,
    /// Files in its folder, by relative path.
    pub files: BTreeMap<String, String>,
}

/// Names and values as a map.
fn variables<const N: usize>(pairs: [(&str, String); N]) -> BTreeMap<String, String> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Every framework.
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

/// The framework of this name.
pub fn find(name: &str) -> Option<&'static Framework> {
    ALL.into_iter().find(|framework| framework.name == name)
}

/// Whether the workers of a task's role may be several processes each: `processes_per_gpu`. An elastic group agrees on its
/// ranks itself.
#[must_use]
pub fn may_be_divided(plan: &RunPlan, task: &PlannedTask, role: &str) -> bool {
    let framework = find(&plan.template_of(task).framework);
    task.elastic.is_none() && framework.is_some_and(|framework| framework.divided.contains(&role))
}

/// The names of all frameworks.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.into_iter().map(|framework| framework.name)
}

/// Who does a task.
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
    /// Who does its tasks.
    pub fn doer(&self) -> Doer {
        match self.name {
            _ if !self.roles.is_empty() => Doer::Workers,
            name if name == approval::FRAMEWORK.name => Doer::Person,
            _ => Doer::Run,
        }
    }

    /// Whether its tasks have workers.
    pub fn has_workers(&self) -> bool {
        self.doer() == Doer::Workers
    }

    /// Whether a job never has more than one worker.
    pub fn is_single(&self) -> bool {
        self.roles.iter().map(|rule| rule.max).fold(0, u32::saturating_add) == 1
    }

    /// Whether a role may have several workers.
    pub fn may_be_many(&self, role: &str) -> bool {
        self.roles.iter().any(|rule| rule.name == role && rule.max > 1)
    }

    /// Where a role stands in the order of ranks; `None` when it is not known.
    pub fn position(&self, role: &str) -> Option<usize> {
        self.roles.iter().position(|rule| rule.name == role)
    }
}
