//! Usage of jobs and its cost. All values are integers, so that parts add up to the total exactly.
//!
//! An attempt counts from the moment its workers run to the moment the last of them is gone, split into UTC
//! days.

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

/// The owner that an attempt is accounted to, set when it is created and stored with it. Where it is counted
/// is in its pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The user that it runs as.
    pub user: String,
    /// The task template's name, without its version.
    pub template: String,
    /// GPU fractions of its workers, in thousandths of a GPU. Whole GPUs are in the amount.
    pub card_parts: u64,
}

impl Account {
    #[must_use]
    pub fn of(job: &Job) -> Self {
        let template = job.template.split_once('@').map_or(job.template.as_str(), |(name, _)| name);
        let roles = job.roles.iter().map(|role| (&role.resources, role.replicas));
        Self { user: job.user.clone(), template: template.to_owned(), card_parts: card_parts(roles) }
    }

    /// The account of a plan's task, for this user.
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

/// The requested part of a GPU, in thousandths: a fraction, or MIG slices of which a GPU has seven. For a
/// request by GPU memory the GPU is unknown, so it counts as none.
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

/// Totals of usage. Times are in seconds multiplied by the resource's smallest unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Requested CPU: millicores times seconds.
    pub cpu: i64,
    /// Requested memory: MiB times seconds.
    pub memory: i64,
    /// Allocated GPUs: thousandths of a GPU times seconds.
    pub gpu: i64,
    /// Used CPU, in the same unit.
    pub used_cpu: i64,
    /// Peak memory usage times the run time, in the same unit.
    pub used_memory: i64,
    /// Busy GPUs, in the same unit as the allocated ones.
    pub used_gpu: i64,
    /// GPUs of attempts with measured GPU usage, in the same unit.
    pub measured_gpu: i64,
    /// Number of attempts that ended.
    pub attempts: i64,
    /// Number of failed ones. A preempted attempt has not failed.
    pub failed: i64,
    pub cost: Cost,
}

/// Cost by resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    pub cpu: Money,
    pub memory: Money,
    pub gpu: Money,
}

impl Cost {
    #[must_use]
    pub fn total(self) -> Money {
        self.cpu.plus(self.memory).plus(self.gpu)
    }

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

    /// Clamps the values to a believable maximum, so that sums fit into the database whatever a cluster
    /// reports.
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

    /// Requested memory in GiB-hours.
    #[must_use]
    pub fn memory_hours(&self) -> f64 {
        hours(self.memory, 1024.0)
    }

    /// Allocated GPU-hours.
    #[must_use]
    pub fn gpu_hours(&self) -> f64 {
        hours(self.gpu, 1000.0)
    }

    /// Used CPU-hours.
    #[must_use]
    pub fn used_cpu_hours(&self) -> f64 {
        hours(self.used_cpu, 1000.0)
    }

    /// Used memory in GiB-hours.
    #[must_use]
    pub fn used_memory_hours(&self) -> f64 {
        hours(self.used_memory, 1024.0)
    }

    /// Whether at least part of the used CPU was measured: every program uses some.
    #[must_use]
    pub fn cpu_is_measured(&self) -> bool {
        self.used_cpu > 0 || self.cpu == 0
    }

    /// Busy GPU-hours.
    #[must_use]
    pub fn used_gpu_hours(&self) -> f64 {
        hours(self.used_gpu, 1000.0)
    }

    /// GPU-hours of attempts with measured GPU usage.
    #[must_use]
    pub fn measured_gpu_hours(&self) -> f64 {
        hours(self.measured_gpu, 1000.0)
    }

    /// Whether GPU usage was measured for at least part of the time. An idle GPU is measured, too.
    #[must_use]
    pub fn gpu_is_measured(&self) -> bool {
        self.measured_gpu > 0 || self.gpu == 0
    }

    /// Whether at least part of the used memory was measured.
    #[must_use]
    pub fn memory_is_measured(&self) -> bool {
        self.used_memory > 0 || self.memory == 0
    }
}

#[expect(clippy::cast_precision_loss, reason = "hours are shown, never added up again")]
fn hours(seconds: i64, parts: f64) -> f64 {
    seconds as f64 / (parts * 3600.0)
}

/// Keys that usage can be grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// UTC day.
    Day,
    Project,
    /// The user that it ran as.
    User,
    /// Project and pipeline.
    Pipeline,
    Template,
    /// Cluster and node group.
    NodeGroup,
}

/// The key of a usage row. Fields that it is not grouped by are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line {
    pub day: Day,
    pub project: String,
    /// The user that it ran as.
    pub user: String,
    pub pipeline: String,
    pub template: String,
    pub cluster: String,
    /// Empty for the cluster's other nodes.
    pub node_group: String,
}

impl Line {
    /// The key of its group.
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
