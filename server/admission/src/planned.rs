//! Converts a planned task to a job's spec.

use cubeloom_domain::executor::{Executor, Facts};
use cubeloom_domain::history::RunTime;
use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::resources::Resources;

use crate::amounts::Ask;
use crate::job::{Elastic, Length, Spec};

/// What scales the elastic jobs of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scaler {
    /// The cluster's own scheduler, between minimum and maximum. Only the minimum is requested here.
    Cluster,
    /// This scheduler, at start: jobs keep the workers that they got.
    #[default]
    AtStart,
    /// This scheduler, also while they run.
    Always,
}

impl Scaler {
    /// The scaler of a cluster with these facts.
    #[must_use]
    pub fn of(executor: &dyn Executor, facts: &Facts) -> Self {
        let kubernetes = facts.kubernetes.as_ref();
        match executor.scaling() {
            _ if kubernetes.is_some_and(|facts| facts.volcano.is_some()) => Self::Cluster,
            // Kueue admits whole jobs: a job that grows would be stopped and queued again.
            _ if kubernetes.is_some_and(|facts| facts.kueue.is_some()) => Self::AtStart,
            Some(_) => Self::Always,
            None => Self::AtStart,
        }
    }
}

impl Spec {
    /// A task's request, placement and priority.
    #[must_use]
    pub fn planned(task: &PlannedTask, scaling: Scaler) -> Self {
        let elastic = task.elastic.filter(|_| scaling != Scaler::Cluster).and_then(|range| {
            let each = Ask::workers([(&task.roles.last()?.resources, 1)].into_iter());
            let scales = scaling == Scaler::Always;
            Some(Elastic { each, min: range.min, max: range.max, scales })
        });
        let own: Vec<(&Resources, u32)> = match &elastic {
            Some(_) => others(task).collect(),
            None => task.least().collect(),
        };
        let fixed = Ask::workers(own.iter().copied());
        let alike = |(each, count): (&Resources, u32)| (Ask::workers([(each, 1)].into_iter()), count);
        let gang = own.into_iter().map(alike).collect();
        Self {
            name: task.name.clone(),
            node_group: task.placement.node_group.clone(),
            priority: task.priority,
            preempts: task.preempts,
            protected: task.protected,
            fixed,
            gang,
            elastic,
            named: task.limits.clone(),
            timeout: task.timeout.map(|limit| limit.0),
            ..Self::default()
        }
    }
}

impl Ask {
    /// Sum of the workers' requests.
    #[must_use]
    pub fn workers<'r>(workers: impl Iterator<Item = (&'r Resources, u32)>) -> Self {
        let mut sum = Self::default();
        for (each, count) in workers {
            let times = u64::from(count);
            sum.cpu = sum.cpu.saturating_add(each.cpu.0.saturating_mul(times));
            sum.memory = sum.memory.saturating_add(each.memory.0.saturating_mul(times));
            sum.pods += times;
            let cards = u64::from(each.whole_gpus()) * times;
            if cards > 0 {
                let kind = each.gpu.as_ref().and_then(|gpu| gpu.kind.as_deref());
                sum.cards.push((kind.map(Into::into), cards));
            }
        }
        sum
    }
}

impl From<RunTime> for Length {
    fn from(time: RunTime) -> Self {
        Self { median: time.median, spread: time.spread }
    }
}

/// Workers of the roles before the elastic one.
fn others(task: &PlannedTask) -> impl Iterator<Item = (&Resources, u32)> {
    let count = task.roles.len().saturating_sub(1);
    task.roles.iter().take(count).map(|role| (&role.resources, role.replicas))
}
