//! Limits what a role's workers get, so that the nodes can still hold all of them.

use cubeloom_domain::executor::{NodeFacts, able};
use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::resources::Amount;
use cubeloom_domain::sizing::{NoMore, Size, SizedRole};
use cubeloom_domain::{Bytes, Cpu};

use crate::recommend::keep_within;

/// Limits what the workers of a task's roles get above the request: to what the nodes can hold, and to what
/// its project may use. What limited a role's memory is recorded with it.
pub fn keep_possible(roles: &mut [SizedRole], task: &PlannedTask, nodes: &[NodeFacts], bound: Option<Size>) {
    let node_group = task.placement.node_group.as_deref();
    for (sized, (asked, count)) in roles.iter_mut().zip(task.least()) {
        let nodes: Vec<Amount> = able(nodes, asked, node_group).map(NodeFacts::amount).collect();
        let wanted = sized.gets.memory;
        keep_placeable(sized, count, asked.whole_gpus(), &nodes);
        if sized.gets.memory < wanted {
            sized.bounded = Some(NoMore::Nodes);
        }
    }
    if let Some(bound) = bound {
        let counts: Vec<u32> = task.least().map(|(_, count)| count).collect();
        let wanted: Vec<Bytes> = roles.iter().map(|sized| sized.gets.memory).collect();
        keep_within(roles, &counts, bound);
        // There is no quota if the bound is the total capacity.
        let is_quota = bound.memory < whole(nodes, node_group);
        let why = if is_quota { NoMore::Quota } else { NoMore::Nodes };
        for (sized, wanted) in roles.iter_mut().zip(wanted) {
            if sized.gets.memory < wanted {
                sized.bounded = Some(why);
            }
        }
    }
}

/// Total memory of the nodes of a node group, or of all.
fn whole(nodes: &[NodeFacts], node_group: Option<&str>) -> Bytes {
    let is_of_group =
        |node: &&NodeFacts| node_group.is_none_or(|name| node.groups.iter().any(|group| group == name));
    let memory = nodes.iter().filter(is_of_group).map(|node| node.memory.0);
    Bytes(memory.fold(0, u64::saturating_add))
}

/// Lowers what a role's workers get above the request, until the nodes can hold the required number of
/// workers with this many GPUs each. The request itself is never lowered, and nothing is if no node is known.
pub fn keep_placeable(role: &mut SizedRole, count: u32, cards: u32, nodes: &[Amount]) {
    let (asked, gets) = (role.asked, role.gets);
    let holds = |size: Size| {
        let workers = nodes.iter().map(|node| workers_on(node, size, cards));
        workers.fold(0, u64::saturating_add) >= u64::from(count)
    };
    if nodes.is_empty() || holds(gets) {
        return;
    }
    // Memory comes first: programs die without it, while with less CPU they only take longer.
    let least = gets.cpu.min(asked.cpu);
    let memory =
        most(asked.memory.0, gets.memory.0, |memory| holds(Size { cpu: least, memory: Bytes(memory) }));
    // Round a lowered amount to whole MiB. If only CPU is the bound, memory does not change.
    let is_lowered = memory > asked.memory.0 && memory < gets.memory.0;
    let memory = Bytes(if is_lowered { (memory >> 20 << 20).max(asked.memory.0) } else { memory });
    let cpu = Cpu(most(asked.cpu.0, gets.cpu.0, |cpu| holds(Size { cpu: Cpu(cpu), memory })));
    role.gets = Size { cpu, memory };
}

/// How many workers fit on an empty node.
fn workers_on(node: &Amount, size: Size, cards: u32) -> u64 {
    let times = |room: u64, each: u64| room.checked_div(each).unwrap_or(u64::MAX);
    times(node.memory.0, size.memory.0)
        .min(times(node.cpu.0, size.cpu.0))
        .min(times(u64::from(node.gpus), u64::from(cards)))
}

/// The maximum between `asked` and `gets` that is possible, at least `asked`. If a value is possible, all
/// lower ones must be.
fn most(asked: u64, gets: u64, is_possible: impl Fn(u64) -> bool) -> u64 {
    if gets <= asked || is_possible(gets) {
        return gets;
    }
    let (mut low, mut high) = (asked, gets);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_possible(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
