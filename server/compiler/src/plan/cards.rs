//! Whether nodes have the GPUs that workers request: whole ones of a type, shares, or slices by profile.

use std::collections::BTreeMap;

use cubeloom_domain::Bytes;
use cubeloom_domain::executor::{GpuFacts, NodeFacts};
use cubeloom_domain::plan::PlannedRole;
use cubeloom_domain::resources::{GpuRequest, Resources};

/// Whether a node has enough GPUs of the right type, or one with enough memory.
pub fn has_cards(resources: &Resources, node: &NodeFacts) -> bool {
    let Some(gpu) = &resources.gpu else { return true };
    let wanted = gpu.count.unwrap_or(1);
    let slices = gpu.mig_profile().and_then(|profile| node.mig.get(&profile));
    let shares = if gpu.count.is_none() { node.vgpus } else { 0 };
    let whole = node.gpus.iter().filter(|card| is_of(gpu, card)).count();
    slices.is_some_and(|slices| *slices >= wanted) || shares >= wanted || whole >= wanted as usize
}

/// Whether a GPU is of the requested type, and large enough. Without feature discovery the size of a node's
/// GPUs is unknown: its scheduler decides.
fn is_of(gpu: &GpuRequest, card: &GpuFacts) -> bool {
    let unknown = card.memory == Bytes(0);
    gpu.kind.as_ref().is_none_or(|kind| card.name.to_lowercase().contains(&kind.to_lowercase()))
        && gpu.memory.is_none_or(|memory| unknown || card.memory >= memory)
}

/// The reason why no node has the GPUs.
pub fn lack(gpu: &GpuRequest, nodes: &[&NodeFacts]) -> String {
    let profile = gpu.mig_profile().filter(|profile| nodes.iter().any(|node| node.mig.contains_key(profile)));
    let most = nodes.iter().map(|node| match &profile {
        Some(profile) => node.mig.get(profile).copied().unwrap_or(0) as usize,
        None => node.gpus.len(),
    });
    let most = most.max().unwrap_or(0);
    match &gpu.kind {
        Some(kind) => format!("no node has the requested {kind} GPUs (the most on one node: {most})"),
        None => format!("no node has the requested GPUs (the most on one node: {most})"),
    }
}

/// The first profile with fewer slices on the nodes than all workers need: the required and the existing
/// number. `count` returns how many workers of a role start together.
pub fn short_of_slices(
    roles: &[PlannedRole],
    count: impl Fn(&PlannedRole) -> u32,
    nodes: &[&NodeFacts],
) -> Option<(String, String)> {
    let mut needed: BTreeMap<String, u32> = BTreeMap::new();
    for role in roles {
        let Some(gpu) = &role.resources.gpu else { continue };
        let Some(profile) = gpu.mig_profile() else { continue };
        *needed.entry(profile).or_default() += count(role).saturating_mul(gpu.count.unwrap_or(1));
    }
    needed.into_iter().find_map(|(profile, needed)| {
        let slices = nodes.iter().filter_map(|node| node.mig.get(&profile));
        // If no node reports a number, GPUs are partitioned uniformly and allocated as whole ones.
        let has = slices.copied().reduce(u32::saturating_add)?;
        let slices = |count: u32| format!("{count} slices `{profile}` of GPUs");
        (needed > has).then(|| (slices(needed), slices(has)))
    })
}
