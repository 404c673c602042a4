//! Resources of the nodes. Pure: turns Slurm's output into values.

use std::collections::{BTreeSet, HashMap};

use cubeloom_domain::executor::{Facts, GpuFacts, NodeFacts};
use cubeloom_domain::slurm::SlurmFacts;
use cubeloom_domain::spares::Member;
use cubeloom_domain::{Bytes, Cpu};

/// The kind of these clusters.
pub const KIND: &str = "slurm";

/// The state of a node that does not respond, which `scontrol` shows as a star.
const NOT_RESPONDING: &str = "NOT_RESPONDING";

/// States in which a node accepts no jobs.
const OUT: [&str; 10] =
    ["DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "ERROR", "UNKNOWN", "FUTURE", NOT_RESPONDING];

/// States in which a node has jobs.
const BUSY: [&str; 3] = ["ALLOCATED", "MIXED", "COMPLETING"];

/// A node, as Slurm reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenNode {
    pub name: String,
    /// All parts of its state, in capitals: `IDLE`, `DRAIN`.
    pub states: Vec<String>,
    /// CPUs available to jobs.
    pub cpus: u64,
    /// Memory available to jobs, in MiB.
    pub memory: u64,
    /// Its generic resources: `gpu:a100:2,shard:16`.
    pub gres: String,
    pub partitions: Vec<String>,
    pub features: Vec<String>,
}

/// The cluster's facts, from the nodes and the configuration. Leaves out nodes that accept no jobs. Also
/// leaves out resources without identity: GPU shards, which are requested by number.
pub fn read(seen: Vec<SeenNode>, name: &str, facts: &SlurmFacts) -> Facts {
    Facts {
        cluster: name.to_owned(),
        kind: KIND.into(),
        nodes: seen.into_iter().filter_map(|node| here(node, facts)).collect(),
        node_groups: facts.node_groups.keys().cloned().collect(),
        slurm: Some(facts.clone()),
        ..Facts::default()
    }
}

/// All nodes, for the choice of standby nodes.
pub fn members(seen: &[SeenNode], facts: &SlurmFacts) -> Vec<Member> {
    let member = |node: &SeenNode| Member {
        name: node.name.clone(),
        groups: groups(node, facts),
        is_well: !has_state(node, &OUT),
    };
    seen.iter().map(member).collect()
}

/// Nodes with jobs.
pub fn busy(seen: &[SeenNode]) -> BTreeSet<String> {
    seen.iter().filter(|node| has_state(node, &BUSY)).map(|node| node.name.clone()).collect()
}

fn has_state(node: &SeenNode, words: &[&str]) -> bool {
    node.states.iter().any(|state| words.contains(&state.as_str()))
}

/// The node groups of a node.
fn groups(node: &SeenNode, facts: &SlurmFacts) -> Vec<String> {
    let is_of = |(_, group): &(&String, &cubeloom_domain::slurm::SlurmNodeGroup)| {
        let partition = group.partition.as_ref().or(facts.partition.as_ref());
        partition.is_none_or(|partition| node.partitions.contains(partition))
            && group.features.iter().all(|feature| node.features.contains(feature))
    };
    facts.node_groups.iter().filter(is_of).map(|(name, _)| name.clone()).collect()
}

fn here(node: SeenNode, facts: &SlurmFacts) -> Option<NodeFacts> {
    if has_state(&node, &OUT) {
        return None;
    }
    Some(NodeFacts {
        cpu: Cpu(node.cpus.saturating_mul(1000)),
        memory: Bytes(node.memory.saturating_mul(1 << 20)),
        gpus: cards(&node.name, &node.gres),
        groups: groups(&node, facts),
        name: node.name,
        ..NodeFacts::default()
    })
}

/// Parses the lines of `scontrol --oneliner show nodes`.
pub fn lines(text: &str) -> Vec<SeenNode> {
    text.lines().filter_map(line).collect()
}

fn line(line: &str) -> Option<SeenNode> {
    // The few values with spaces (`OS`, `Reason`) are not read.
    let fields: HashMap<&str, &str> =
        line.split_whitespace().filter_map(|word| word.split_once('=')).collect();
    let text = |field: &str| fields.get(field).copied().unwrap_or_default();
    let number = |field: &str| fields.get(field).and_then(|value| value.parse::<u64>().ok());
    let list = |field: &str, by: char| text(field).split(by).map(ToOwned::to_owned).collect::<Vec<_>>();
    // `IDLE+DRAIN`, `DOWN*`
    let mut states = list("State", '+');
    if states.iter().any(|state| state.ends_with('*')) {
        states.push(NOT_RESPONDING.into());
    }
    Some(SeenNode {
        name: (*fields.get("NodeName")?).to_owned(),
        states,
        cpus: number("CPUEfctv").or_else(|| number("CPUTot")).unwrap_or(0),
        memory: number("RealMemory").unwrap_or(0).saturating_sub(number("MemSpecLimit").unwrap_or(0)),
        gres: text("Gres").to_owned(),
        partitions: list("Partitions", ','),
        features: list("AvailableFeatures", ','),
    })
}

/// The GPUs of `gpu:a100:2(S:0-1),gpu:h100:2,shard:16`. Slurm only knows their type.
fn cards(node: &str, gres: &str) -> Vec<GpuFacts> {
    let mut found = Vec::new();
    for (_, kind, count) in resources(gres).filter(|(name, ..)| *name == "gpu") {
        for _ in 0..count.parse::<u32>().unwrap_or(0) {
            found.push(GpuFacts {
                uuid: format!("{node}/gpu/{}", found.len()),
                name: kind.unwrap_or("gpu").to_owned(),
                memory: Bytes(0),
                xid: None,
            });
        }
    }
    found
}

/// Generic resources, each with its type, if any, and its amount.
pub fn resources(gres: &str) -> impl Iterator<Item = (&str, Option<&str>, &str)> {
    gres.split(',').filter_map(|one| {
        let plain = one.split('(').next().unwrap_or_default();
        match plain.split(':').collect::<Vec<_>>()[..] {
            [name, kind, count] => Some((name, Some(kind), count)),
            [name, count] => Some((name, None, count)),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::slurm::SlurmNodeGroup;

    use super::*;

    #[test]
    fn nodes_have_cores_memory_cards_and_groups_unless_they_are_out() {
        let group = |partition: &str, feature: &str| SlurmNodeGroup {
            partition: Some(partition.into()),
            features: [feature]
                .iter()
                .filter(|word| !word.is_empty())
                .map(|word| (*word).to_owned())
                .collect(),
            ..SlurmNodeGroup::default()
        };
        let facts = SlurmFacts {
            node_groups: [("cards".to_owned(), group("cards", "")), ("fast".to_owned(), group("all", "ib"))]
                .into(),
            ..SlurmFacts::default()
        };
        let text = "NodeName=n1 CPUAlloc=1 CPUEfctv=15 CPUTot=16 AvailableFeatures=ssd,ib Gres=gpu:a100:2(S:0-1),gpu:h100:1,shard:8 OS=Linux 6.1 #1 RealMemory=64000 State=MIXED Partitions=all,cards BootTime=x\n\
            NodeName=n2 CPUTot=8 RealMemory=100 State=IDLE Partitions=all AvailableFeatures=ssd Gres=(null)\n\
            NodeName=n3 CPUTot=8 State=IDLE+DRAIN Partitions=all\nNodeName=n4 CPUTot=8 State=DOWN* Partitions=all\n\
            NodeName=n5 CPUTot=8 State=IDLE* Partitions=all\n";
        let facts = read(lines(text), "hall", &facts);
        assert_eq!((facts.kind.as_str(), facts.cluster.as_str()), ("slurm", "hall"));
        let names: Vec<&str> = facts.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["n1", "n2"]);
        let first = &facts.nodes[0];
        assert_eq!((first.cpu, first.memory), (Cpu(15_000), Bytes(64_000 << 20)));
        let cards: Vec<&str> = first.gpus.iter().map(|card| card.name.as_str()).collect();
        assert_eq!(cards, ["a100", "a100", "h100"]);
        assert_eq!(first.gpus[2].uuid, "n1/gpu/2");
        let members = members(&lines(text), facts.slurm.as_ref().unwrap());
        let well: Vec<bool> = members.iter().map(|member| member.is_well).collect();
        assert_eq!(well, [true, true, false, false, false], "{members:?}");
        assert_eq!(members[0].groups, ["cards", "fast"]);
        assert_eq!(busy(&lines(text)), ["n1".to_owned()].into());
        assert_eq!((first.groups.join(" "), facts.nodes[1].groups.len()), ("cards fast".to_owned(), 0));
    }
}
