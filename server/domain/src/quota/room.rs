//! What the pools have: the nodes of each cluster, and of each of its node groups.

use std::collections::BTreeMap;

use super::{Pool, Resource};
use crate::executor::{Facts, NodeFacts};

/// Pools that there are, and what each has.
pub type Rooms = BTreeMap<Pool, Room>;

/// What a pool has. Of one whose nodes are not known (its cluster is away, it grows on demand) nothing is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Room {
    nodes: usize,
    cpu: u64,
    memory: u64,
    /// The products' names, in lower case.
    cards: Vec<String>,
}

impl Room {
    /// What these nodes have together.
    pub fn of<'n>(nodes: impl IntoIterator<Item = &'n NodeFacts>) -> Self {
        let mut room = Self::default();
        for node in nodes {
            room.nodes += 1;
            room.cpu = room.cpu.saturating_add(node.cpu.0);
            room.memory = room.memory.saturating_add(node.memory.0);
            room.cards.extend(node.gpus.iter().map(|card| card.name.to_lowercase()));
        }
        room
    }

    /// How much of a resource there is; none where that is not known, or without a bound.
    #[must_use]
    pub fn get(&self, resource: &Resource) -> Option<u64> {
        if self.nodes == 0 {
            return None;
        }
        match resource {
            Resource::Cpu => Some(self.cpu),
            Resource::Memory => Some(self.memory),
            Resource::Gpus => u64::try_from(self.cards.len()).ok(),
            Resource::GpusOf(kind) => {
                let kind = kind.to_lowercase();
                u64::try_from(self.cards.iter().filter(|name| name.contains(&kind)).count()).ok()
            }
            Resource::Pods | Resource::Runs => None,
        }
    }
}

/// The pools of a cluster: the whole of it, and its node groups.
#[must_use]
pub fn rooms(facts: &Facts) -> Rooms {
    let pool = |node_group| Pool { cluster: facts.cluster.clone(), node_group };
    let of = |group: &String| Room::of(facts.nodes.iter().filter(|node| node.groups.contains(group)));
    let groups = facts.node_groups.iter().map(|group| (pool(Some(group.clone())), of(group)));
    groups.chain([(pool(None), Room::of(&facts.nodes))]).collect()
}
