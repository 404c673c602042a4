//! What jobs hold of the pools, and what waiting ones ask for.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::Tree;
use super::{Amounts, Pool, Queue, Resource};
use crate::clock::Timestamp;
use crate::ids::RunId;
use crate::resources::Amount;

/// A job that holds something, or waits for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its run.
    pub run: RunId,
    /// Its task's name.
    pub task: String,
    /// Its instance.
    pub instance: u32,
    /// Its project.
    pub project: String,
    /// Its pipeline.
    pub pipeline: String,
    /// Whose it is.
    pub user: String,
    /// Of which pool.
    pub pool: Pool,
    /// How much; of runs it says nothing.
    pub amounts: Amounts,
    /// Since when it holds it, or waits.
    pub since: Timestamp,
}

/// Amounts of a job: what it asks for, the cards of a type among them, and its workers.
#[must_use]
pub fn amounts(amount: Amount, cards: &BTreeMap<String, u32>, workers: u32) -> Amounts {
    let typed = cards.iter().map(|(kind, count)| (Resource::GpusOf(kind.clone()), u64::from(*count)));
    let plain = [
        (Resource::Cpu, amount.cpu.0),
        (Resource::Memory, amount.memory.0),
        (Resource::Gpus, u64::from(amount.gpus)),
        (Resource::Pods, u64::from(workers)),
    ];
    plain.into_iter().chain(typed).filter(|(_, amount)| *amount > 0).collect()
}

impl Job {
    /// How much of a resource it holds. Cards of a type are those whose type has the resource's in it: of `gpus/H100` a
    /// job that asked for `H100-SXM` holds some.
    #[must_use]
    pub fn amount(&self, resource: &Resource) -> u64 {
        let Resource::GpusOf(kind) = resource else { return self.amounts.get(resource).unwrap_or(0) };
        let kind = kind.to_lowercase();
        let is_of =
            |held: &Resource| matches!(held, Resource::GpusOf(asked) if asked.to_lowercase().contains(&kind));
        self.amounts.0.iter().filter(|(held, _)| is_of(held)).map(|(_, amount)| *amount).sum()
    }
}

/// How much of a resource these jobs hold together of exactly this pool.
pub fn sum<'j>(jobs: impl Iterator<Item = &'j Job>, pool: &Pool, resource: &Resource) -> u64 {
    let of_pool = jobs.filter(|job| job.pool == *pool);
    if *resource == Resource::Runs {
        let runs: BTreeSet<&RunId> = of_pool.map(|job| &job.run).collect();
        return u64::try_from(runs.len()).unwrap_or(u64::MAX);
    }
    of_pool.map(|job| job.amount(resource)).fold(0, u64::saturating_add)
}

/// The jobs of a queue: those of a project, or of all projects in a group.
pub fn of_queue<'j>(jobs: &'j [Job], tree: &Tree<'_>, queue: &Queue) -> impl Iterator<Item = &'j Job> {
    let projects: BTreeSet<&str> = match queue {
        Queue::Project(name) => [name.as_str()].into(),
        Queue::Group(_) => {
            tree.projects().filter(|project| tree.is_within(project, queue)).map(Queue::name).collect()
        }
    };
    let projects: BTreeSet<String> = projects.into_iter().map(ToOwned::to_owned).collect();
    jobs.iter().filter(move |job| projects.contains(&job.project))
}
