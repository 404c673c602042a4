//! Allocations of jobs in the pools, and requests of pending ones.

use std::collections::{BTreeMap, BTreeSet};

use super::room::Rooms;
use super::tree::Tree;
use super::{Amounts, Pool, Queue, Resource};
use crate::clock::Timestamp;
use crate::ids::RunId;
use crate::resources::Amount;

/// A running or pending job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub run: RunId,
    pub task: String,
    pub instance: u32,
    pub project: String,
    pub pipeline: String,
    /// Its user.
    pub user: String,
    pub pool: Pool,
    /// Its amounts, without runs.
    pub amounts: Amounts,
    /// Time at which the allocation or the wait started.
    pub since: Timestamp,
}

/// Amounts of a job: its request, including typed GPUs, and its workers.
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
    /// Counts its GPUs as the only type that they can be in the pool, including those requested without a
    /// type.
    #[must_use]
    pub fn told(self, rooms: &Rooms) -> Self {
        let Some(room) = rooms.get(&self.pool) else { return self };
        let mut amounts = Amounts::default();
        let mut untyped = self.amounts.get(&Resource::Gpus).unwrap_or(0);
        let mut count = |asked: Option<&str>, amount: u64| {
            let sum = room.counts_as(asked).map(|kind| amounts.0.entry(Resource::GpusOf(kind.to_owned())));
            if let Some(sum) = sum {
                let sum = sum.or_default();
                *sum = sum.saturating_add(amount);
            }
        };
        for (resource, amount) in &self.amounts.0 {
            if let Resource::GpusOf(kind) = resource {
                untyped = untyped.saturating_sub(*amount);
                count(Some(kind), *amount);
            }
        }
        if untyped > 0 {
            count(None, untyped);
        }
        let plain = self.amounts.0.into_iter().filter(|(one, _)| !matches!(one, Resource::GpusOf(_)));
        amounts.0.extend(plain);
        Self { amounts, ..self }
    }

    /// Its amount of a resource. Typed GPUs match if their type contains the resource's: a job that requested
    /// `H100-SXM` counts for `gpus/H100`.
    #[must_use]
    pub fn amount(&self, resource: &Resource) -> u64 {
        let Resource::GpusOf(kind) = resource else { return self.amounts.get(resource).unwrap_or(0) };
        let kind = kind.to_lowercase();
        let is_of =
            |held: &Resource| matches!(held, Resource::GpusOf(asked) if asked.to_lowercase().contains(&kind));
        self.amounts.0.iter().filter(|(held, _)| is_of(held)).map(|(_, amount)| *amount).sum()
    }
}

/// Usage of a resource by these jobs in exactly this pool.
pub fn sum<'j>(jobs: impl Iterator<Item = &'j Job>, pool: &Pool, resource: &Resource) -> u64 {
    let of_pool = jobs.filter(|job| job.pool == *pool);
    if *resource == Resource::Runs {
        let runs: BTreeSet<&RunId> = of_pool.map(|job| &job.run).collect();
        return u64::try_from(runs.len()).unwrap_or(u64::MAX);
    }
    of_pool.map(|job| job.amount(resource)).fold(0, u64::saturating_add)
}

/// Usage of a resource by project in exactly this pool. A run belongs to one project, so runs add up, too.
#[must_use]
pub fn by_project<'j>(jobs: &'j [Job], pool: &Pool, resource: &Resource) -> BTreeMap<&'j str, u64> {
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    let mut runs: BTreeSet<&RunId> = BTreeSet::new();
    for job in jobs.iter().filter(|job| job.pool == *pool) {
        let amount = match resource {
            Resource::Runs => u64::from(runs.insert(&job.run)),
            _ => job.amount(resource),
        };
        let sum = found.entry(&job.project).or_default();
        *sum = sum.saturating_add(amount);
    }
    found
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
