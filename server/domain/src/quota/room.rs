//! Capacity of the pools: the nodes of each cluster, and of each of its node groups.

use std::collections::BTreeMap;

use super::{Pool, Resource};
use crate::executor::{Facts, NodeFacts};

/// Capacity by pool.
pub type Rooms = BTreeMap<Pool, Room>;

/// Capacity of a pool. Unknown if its nodes are (its cluster is unreachable or scales on demand).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Room {
    nodes: usize,
    cpu: u64,
    memory: u64,
    /// Number of GPUs of each product.
    cards: BTreeMap<String, u64>,
}

impl Room {
    /// Total of these nodes.
    pub fn of<'n>(nodes: impl IntoIterator<Item = &'n NodeFacts>) -> Self {
        let mut room = Self::default();
        for node in nodes {
            room.nodes += 1;
            room.cpu = room.cpu.saturating_add(node.cpu.0);
            room.memory = room.memory.saturating_add(node.memory.0);
            for card in &node.gpus {
                *room.cards.entry(card.name.clone()).or_default() += 1;
            }
        }
        room
    }

    /// What GPUs of this requested type, or of any type, count as here: see [`counts_as`].
    #[must_use]
    pub fn counts_as<'n>(&'n self, asked: Option<&'n str>) -> Option<&'n str> {
        counts_as(asked, self.cards.keys().map(String::as_str))
    }

    /// Capacity of a resource. `None` if unknown or unlimited.
    #[must_use]
    pub fn get(&self, resource: &Resource) -> Option<u64> {
        if self.nodes == 0 {
            return None;
        }
        match resource {
            Resource::Cpu => Some(self.cpu),
            Resource::Memory => Some(self.memory),
            Resource::Gpus => Some(self.cards.values().sum()),
            Resource::GpusOf(kind) => {
                let of_kind = self.cards.iter().filter(|(name, _)| is_of(name, kind));
                Some(of_kind.map(|(_, count)| count).sum())
            }
            Resource::Pods | Resource::Runs => None,
        }
    }
}

/// Whether a product's name contains a type, ignoring case.
fn is_of(product: &str, kind: &str) -> bool {
    product.to_lowercase().contains(&kind.to_lowercase())
}

/// What a GPU of this requested type, or of any type, counts as, given these products without duplicates. It
/// counts as the product if only one matches, and otherwise as the requested type. A product without a name
/// may be any.
pub fn counts_as<'n>(asked: Option<&'n str>, products: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let can_be = |name: &&str| name.is_empty() || asked.is_none_or(|kind| is_of(name, kind));
    let mut able = products.filter(can_be);
    match (able.next(), able.next()) {
        (Some(only), None) if !only.is_empty() => Some(only),
        _ => asked,
    }
}

/// The pools of a cluster: the whole cluster, and its node groups.
#[must_use]
pub fn rooms(facts: &Facts) -> Rooms {
    let pool = |node_group| Pool { cluster: facts.cluster.clone(), node_group };
    let of = |group: &String| Room::of(facts.nodes.iter().filter(|node| node.groups.contains(group)));
    let groups = facts.node_groups.iter().map(|group| (pool(Some(group.clone())), of(group)));
    groups.chain([(pool(None), Room::of(&facts.nodes))]).collect()
}
