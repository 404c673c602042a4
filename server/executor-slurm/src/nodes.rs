//! What the nodes have. Pure: `scontrol`'s text to values.

use std::collections::HashMap;

use cubeloom_domain::executor::{Facts, GpuFacts, NodeFacts};
use cubeloom_domain::slurm::SlurmFacts;
use cubeloom_domain::{Bytes, Cpu};

/// The kind of these clusters.
pub const KIND: &str = "slurm";

/// States in which a node takes no jobs now.
const OUT: [&str; 10] = [
    "DOWN",
    "DRAIN",
    "DRAINED",
    "DRAINING",
    "FAIL",
    "FAILING",
    "ERROR",
    "UNKNOWN",
    "FUTURE",
    "NOT_RESPONDING",
];

/// What is there, by the lines of `scontrol --oneliner show nodes` and by what an administrator says. Nodes that take no jobs
/// are none; neither is what several jobs cannot tell apart: shards of cards, which are asked for by their number.
pub fn read(text: &str, name: &str, facts: &SlurmFacts) -> Facts {
    let nodes: Vec<NodeFacts> = text.lines().filter_map(|line| node(line, facts)).collect();
    Facts {
        cluster: name.to_owned(),
        kind: KIND.into(),
        nodes,
        node_groups: facts.node_groups.keys().cloned().collect(),
        slurm: Some(facts.clone()),
        ..Facts::default()
    }
}

fn node(line: &str, facts: &SlurmFacts) -> Option<NodeFacts> {
    // The few values that hold spaces (`OS`, `Reason`) are none of those that are read.
    let fields: HashMap<&str, &str> =
        line.split_whitespace().filter_map(|word| word.split_once('=')).collect();
    let name = (*fields.get("NodeName")?).to_owned();
    let states = fields.get("State").copied().unwrap_or_default();
    // `IDLE+DRAIN`, `DOWN*`
    if states.ends_with('*') || states.trim_end_matches('*').split('+').any(|state| OUT.contains(&state)) {
        return None;
    }
    let number = |field: &str| fields.get(field).and_then(|value| value.parse::<u64>().ok());
    let cores = number("CPUEfctv").or_else(|| number("CPUTot")).unwrap_or(0);
    let memory = number("RealMemory").unwrap_or(0).saturating_sub(number("MemSpecLimit").unwrap_or(0));
    let list = |field: &str| fields.get(field).copied().unwrap_or_default().split(',').collect::<Vec<_>>();
    let (partitions, features) = (list("Partitions"), list("AvailableFeatures"));
    let is_of = |(_, group): &(&String, &cubeloom_domain::slurm::SlurmNodeGroup)| {
        let partition = group.partition.as_ref().or(facts.partition.as_ref());
        partition.is_none_or(|partition| partitions.contains(&partition.as_str()))
            && group.features.iter().all(|feature| features.contains(&feature.as_str()))
    };
    Some(NodeFacts {
        cpu: Cpu(cores.saturating_mul(1000)),
        memory: Bytes(memory.saturating_mul(1 << 20)),
        gpus: cards(&name, fields.get("Gres").copied().unwrap_or_default()),
        groups: facts.node_groups.iter().filter(is_of).map(|(name, _)| name.clone()).collect(),
        name,
        ..NodeFacts::default()
    })
}

/// The cards of `gpu:a100:2(S:0-1),gpu:h100:2,shard:16`. Slurm knows no more of them than their type.
fn cards(node: &str, gres: &str) -> Vec<GpuFacts> {
    let mut found = Vec::new();
    for one in gres.split(',') {
        let plain = one.split('(').next().unwrap_or_default();
        let (kind, count) = match plain.split(':').collect::<Vec<_>>()[..] {
            ["gpu", kind, count] => (kind, count),
            ["gpu", count] => ("gpu", count),
            _ => continue,
        };
        for _ in 0..count.parse::<u32>().unwrap_or(0) {
            found.push(GpuFacts {
                uuid: format!("{node}/gpu/{}", found.len()),
                name: kind.to_owned(),
                memory: Bytes(0),
            });
        }
    }
    found
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
        let facts = read(text, "hall", &facts);
        assert_eq!((facts.kind.as_str(), facts.cluster.as_str()), ("slurm", "hall"));
        let names: Vec<&str> = facts.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["n1", "n2"]);
        let first = &facts.nodes[0];
        assert_eq!((first.cpu, first.memory), (Cpu(15_000), Bytes(64_000 << 20)));
        let cards: Vec<&str> = first.gpus.iter().map(|card| card.name.as_str()).collect();
        assert_eq!(cards, ["a100", "a100", "h100"]);
        assert_eq!(first.gpus[2].uuid, "n1/gpu/2");
        assert_eq!((first.groups.join(" "), facts.nodes[1].groups.len()), ("cards fast".to_owned(), 0));
    }
}
