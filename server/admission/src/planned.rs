//! What a desk is told of a task as it was planned.

use cubeloom_domain::history::RunTime;
use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::resources::Resources;

use crate::amounts::Ask;
use crate::job::{Elastic, Length, Spec};

impl Spec {
    /// What a task asks for, where and how urgently. `scales` is whether the cluster's own scheduler gives elastic jobs
    /// their workers: then only the least of them is asked for.
    #[must_use]
    pub fn planned(task: &PlannedTask, scales: bool) -> Self {
        let elastic = task.elastic.filter(|_| !scales).and_then(|range| {
            let each = Ask::workers([(&task.roles.last()?.resources, 1)].into_iter());
            Some(Elastic { each, min: range.min, max: range.max, scales: false })
        });
        let fixed = match &elastic {
            Some(_) => Ask::workers(others(task)),
            None => Ask::workers(task.least()),
        };
        Self {
            name: task.name.clone(),
            node_group: task.placement.node_group.clone(),
            priority: task.priority,
            fixed,
            elastic,
            named: task.limits.clone(),
            timeout: task.timeout.map(|limit| limit.0),
            ..Self::default()
        }
    }
}

impl Ask {
    /// What workers ask for together.
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

/// The workers of the roles before the elastic one.
fn others(task: &PlannedTask) -> impl Iterator<Item = (&Resources, u32)> {
    let count = task.roles.len().saturating_sub(1);
    task.roles.iter().take(count).map(|role| (&role.resources, role.replicas))
}
