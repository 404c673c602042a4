//! What jobs held and used, and what that costs: whole numbers only, so that parts add up to the whole exactly.
//!
//! An attempt is counted from the moment its workers run to the moment the last of it is gone, in days of UTC.

pub mod budget;
pub mod day;
pub mod money;
mod planned;
pub mod price;
pub mod statement;
mod stay;

use serde::{Deserialize, Serialize};

pub use day::{BadDay, Day, Month, Period};
pub use money::{BadMoney, Money};
pub use price::{Price, PriceList, Rates};
pub use stay::Stay;

use crate::job::Job;
use crate::plan::{PlannedTask, RunPlan};
use crate::resources::{GpuRequest, Resources};

/// Whom an attempt is counted for: known when it is made, kept with it. Where it is counted, its pool says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// User that it runs for.
    pub user: String,
    /// The task template's name, without its version.
    pub template: String,
    /// Parts of cards that its workers share with others, in thousandths of a card; whole cards are in the amount.
    pub card_parts: u64,
}

impl Account {
    /// The account of a job.
    #[must_use]
    pub fn of(job: &Job) -> Self {
        let template = job.template.split_once('@').map_or(job.template.as_str(), |(name, _)| name);
        let roles = job.roles.iter().map(|role| (&role.resources, role.replicas));
        Self { user: job.user.clone(), template: template.to_owned(), card_parts: card_parts(roles) }
    }

    /// The account of a task of a plan, for somebody.
    #[must_use]
    pub fn planned(user: &str, plan: &RunPlan, task: &PlannedTask) -> Self {
        let template = plan.templates.get(task.template as usize);
        Self {
            user: user.to_owned(),
            template: template.map(|template| template.name.clone()).unwrap_or_default(),
            card_parts: card_parts(task.roles.iter().map(|role| (&role.resources, role.replicas))),
        }
    }
}

fn card_parts<'r>(roles: impl Iterator<Item = (&'r Resources, u32)>) -> u64 {
    let parts = |(resources, workers): (&Resources, u32)| {
        let part = resources.gpu.as_ref().map_or(0, card_part);
        part.saturating_mul(u64::from(workers))
    };
    roles.map(parts).fold(0, u64::saturating_add)
}

/// The part of a card that is asked for, in thousandths: a fraction, or slices of MIG, of which a card has seven. Of an
/// amount of a card's memory nobody knows the card, so it counts as none.
fn card_part(gpu: &GpuRequest) -> u64 {
    if let Some(fraction) = gpu.fraction {
        // A fraction is over 0 and under 1.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to 1000")]
        return (fraction.clamp(0.0, 1.0) * 1000.0).round() as u64;
    }
    let Some(profile) = gpu.mig_profile() else { return 0 };
    let slices = profile.rsplit_once("c.").map_or(profile.as_str(), |(_, whole)| whole);
    let slices: u64 = slices.split_once('g').and_then(|(size, _)| size.parse().ok()).unwrap_or(0);
    u64::from(gpu.count.unwrap_or(1)).saturating_mul(slices.min(7) * 1000 / 7)
}

/// What is counted under one name. Times are in seconds times the smallest part of what they are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// CPU that was asked for: thousandths of a core times seconds.
    pub cpu: i64,
    /// Memory that was asked for: MiB times seconds.
    pub memory: i64,
    /// Cards that were held: thousandths of a card times seconds.
    pub gpu: i64,
    /// CPU that was used, in the same unit.
    pub used_cpu: i64,
    /// Memory that was used at the peak, for as long as the job ran, in the same unit.
    pub used_memory: i64,
    /// Cards that worked, in the same unit as those that were held.
    pub used_gpu: i64,
    /// Cards that were held by attempts of which it was measured whether they worked, in the same unit.
    pub measured_gpu: i64,
    /// Number of attempts that ended.
    pub attempts: i64,
    /// Those of them that failed; one whose place was needed for another did not.
    pub failed: i64,
    /// Cost.
    pub cost: Cost,
}

/// What something costs, by what it is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// CPU.
    pub cpu: Money,
    /// Memory.
    pub memory: Money,
    /// Cards.
    pub gpu: Money,
}

impl Cost {
    /// Total.
    #[must_use]
    pub fn total(self) -> Money {
        self.cpu.plus(self.memory).plus(self.gpu)
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            cpu: self.cpu.plus(other.cpu),
            memory: self.memory.plus(other.memory),
            gpu: self.gpu.plus(other.gpu),
        }
    }
}

impl Figures {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            cpu: self.cpu.saturating_add(other.cpu),
            memory: self.memory.saturating_add(other.memory),
            gpu: self.gpu.saturating_add(other.gpu),
            used_cpu: self.used_cpu.saturating_add(other.used_cpu),
            used_memory: self.used_memory.saturating_add(other.used_memory),
            used_gpu: self.used_gpu.saturating_add(other.used_gpu),
            measured_gpu: self.measured_gpu.saturating_add(other.measured_gpu),
            attempts: self.attempts.saturating_add(other.attempts),
            failed: self.failed.saturating_add(other.failed),
            cost: self.cost.plus(other.cost),
        }
    }

    /// The same where it is believable, so that sums of it fit into the database whatever a cluster has told.
    #[must_use]
    pub fn bounded(self) -> Self {
        let most = |amount: i64| amount.clamp(0, 1 << 50);
        let cost = Cost {
            cpu: Money(most(self.cost.cpu.0)),
            memory: Money(most(self.cost.memory.0)),
            gpu: Money(most(self.cost.gpu.0)),
        };
        Self {
            cpu: most(self.cpu),
            memory: most(self.memory),
            gpu: most(self.gpu),
            used_cpu: most(self.used_cpu),
            used_memory: most(self.used_memory),
            used_gpu: most(self.used_gpu),
            measured_gpu: most(self.measured_gpu),
            cost,
            ..self
        }
    }

    /// Requested CPU cores multiplied by hours.
    #[must_use]
    pub fn cpu_hours(&self) -> f64 {
        hours(self.cpu, 1000.0)
    }

    /// GiB times hours that were asked for.
    #[must_use]
    pub fn memory_hours(&self) -> f64 {
        hours(self.memory, 1024.0)
    }

    /// Cards times hours.
    #[must_use]
    pub fn gpu_hours(&self) -> f64 {
        hours(self.gpu, 1000.0)
    }

    /// Cores times hours that were used.
    #[must_use]
    pub fn used_cpu_hours(&self) -> f64 {
        hours(self.used_cpu, 1000.0)
    }

    /// GiB times hours that were used.
    #[must_use]
    pub fn used_memory_hours(&self) -> f64 {
        hours(self.used_memory, 1024.0)
    }

    /// Whether the CPU that was used was measured, of some of it at least: what runs uses some.
    #[must_use]
    pub fn cpu_is_measured(&self) -> bool {
        self.used_cpu > 0 || self.cpu == 0
    }

    /// Cards times hours at work.
    #[must_use]
    pub fn used_gpu_hours(&self) -> f64 {
        hours(self.used_gpu, 1000.0)
    }

    /// Cards times hours that were held while it was measured whether they worked.
    #[must_use]
    pub fn measured_gpu_hours(&self) -> f64 {
        hours(self.measured_gpu, 1000.0)
    }

    /// Whether it was measured what cards did, of some of them at least. An idle card is measured, too.
    #[must_use]
    pub fn gpu_is_measured(&self) -> bool {
        self.measured_gpu > 0 || self.gpu == 0
    }

    /// Whether the memory that was used was, of some of it at least.
    #[must_use]
    pub fn memory_is_measured(&self) -> bool {
        self.used_memory > 0 || self.memory == 0
    }
}

#[expect(clippy::cast_precision_loss, reason = "hours are shown, never added up again")]
fn hours(seconds: i64, parts: f64) -> f64 {
    seconds as f64 / (parts * 3600.0)
}

/// What usage can be grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The day, UTC.
    Day,
    /// Project.
    Project,
    /// User that it ran for.
    User,
    /// The project and its pipeline.
    Pipeline,
    /// Task template.
    Template,
    /// The cluster and its node group.
    NodeGroup,
}

/// What a line of usage is of. As a group, what it is not grouped by is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line {
    /// The day.
    pub day: Day,
    /// Project.
    pub project: String,
    /// User that it ran for.
    pub user: String,
    /// Pipeline.
    pub pipeline: String,
    /// Task template.
    pub template: String,
    /// Cluster.
    pub cluster: String,
    /// The node group; empty for the cluster's other nodes.
    pub node_group: String,
}

impl Line {
    /// The group that it belongs to.
    #[must_use]
    pub fn group(&self, by: &[By]) -> Self {
        let mut group = Self::default();
        for by in by {
            match by {
                By::Day => group.day = self.day,
                By::Project => group.project.clone_from(&self.project),
                By::User => group.user.clone_from(&self.user),
                By::Template => group.template.clone_from(&self.template),
                By::Pipeline => {
                    group.project.clone_from(&self.project);
                    group.pipeline.clone_from(&self.pipeline);
                }
                By::NodeGroup => {
                    group.cluster.clone_from(&self.cluster);
                    group.node_group.clone_from(&self.node_group);
                }
            }
        }
        group
    }
}

#[cfg(test)]
mod tests;
