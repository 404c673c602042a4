//! Settings of a cluster that name things which no node has. Pure: turns Slurm's nodes into findings.

use cubeloom_domain::clusters::{Finding, Subject};
use cubeloom_domain::slurm::{SlurmCards, SlurmFacts, SlurmNodeGroup};

use crate::nodes::{SeenNode, resources};

/// A wrong setting: its field, and the reason.
pub fn wrong(field: impl Into<String>, why: impl Into<String>) -> Finding {
    Finding { subject: Subject::Setting, name: field.into(), found: false, detail: Some(why.into()) }
}

/// Partitions, features, GPU types and generic resources in the settings that no node has. Nodes that
/// currently accept no jobs count, too.
pub fn absent(seen: &[SeenNode], facts: &SlurmFacts) -> Vec<Finding> {
    let partition = facts.partition.iter().filter(|name| !seen.iter().any(|node| is_in(node, Some(*name))));
    let partition = partition.map(|name| wrong("facts.partition", no_partition(name)));
    let groups = facts.node_groups.iter().flat_map(|(name, group)| of_group(seen, facts, name, group));
    let unknown = |feature: &String| !seen.iter().any(|node| node.features.contains(feature));
    let features = facts.features.iter().filter(|(_, feature)| unknown(feature));
    let features = features.map(|(selector, feature)| {
        wrong(format!("facts.features.{selector}"), format!("no node has the feature `{feature}`"))
    });
    let rdma = facts.rdma.iter().filter(|name| !has_resource(seen, name));
    let rdma = rdma.map(|name| wrong("facts.rdma", no_resource(name)));
    let cards = facts.cards.iter().flat_map(|cards| of_cards(seen, cards));
    partition.chain(groups).chain(features).chain(rdma).chain(cards).collect()
}

fn is_in(node: &SeenNode, partition: Option<&String>) -> bool {
    partition.is_none_or(|partition| node.partitions.contains(partition))
}

fn no_partition(name: &str) -> String {
    format!("the partition `{name}` has no nodes")
}

fn no_resource(name: &str) -> String {
    format!("no node has the generic resource `{name}`")
}

fn has_resource(seen: &[SeenNode], name: &str) -> bool {
    seen.iter().any(|node| resources(&node.gres).any(|(resource, ..)| resource == name))
}

/// What is wrong with a node group.
fn of_group(seen: &[SeenNode], facts: &SlurmFacts, name: &str, group: &SlurmNodeGroup) -> Vec<Finding> {
    let field = |key: &str| format!("facts.node_groups.{name}.{key}");
    let partition = group.partition.as_ref().or(facts.partition.as_ref());
    let there: Vec<&SeenNode> = seen.iter().filter(|node| is_in(node, partition)).collect();
    if there.is_empty() {
        // The partition for all jobs is reported separately.
        let own = group.partition.iter();
        return own.map(|partition| wrong(field("partition"), no_partition(partition))).collect();
    }
    let unknown = |feature: &&String| !there.iter().any(|node| node.features.contains(*feature));
    let sentence = |feature: &String| match partition {
        Some(partition) => format!("no node of the partition `{partition}` has the feature `{feature}`"),
        None => format!("no node has the feature `{feature}`"),
    };
    let unknown = group.features.iter().filter(unknown);
    let found: Vec<Finding> = unknown.map(|feature| wrong(field("features"), sentence(feature))).collect();
    let has_all = |node: &&SeenNode| group.features.iter().all(|feature| node.features.contains(feature));
    if found.is_empty() && !there.iter().any(has_all) {
        return vec![wrong(field("features"), "no node has all of these features together")];
    }
    found
}

/// What is wrong with the settings for requesting GPUs.
fn of_cards(seen: &[SeenNode], cards: &SlurmCards) -> Vec<Finding> {
    let mut types: Vec<&str> = seen
        .iter()
        .flat_map(|node| resources(&node.gres))
        .filter(|(resource, ..)| *resource == "gpu")
        .filter_map(|(_, kind, _)| kind)
        .collect();
    types.sort_unstable();
    types.dedup();
    let told = |wanted: &String| match types[..] {
        [] => format!("no node has GPUs of the type `{wanted}`"),
        _ => format!("no node has GPUs of the type `{wanted}`; there are: {}", types.join(", ")),
    };
    let absent = cards.types.iter().filter(|wanted| !types.contains(&wanted.as_str()));
    let mut found: Vec<Finding> = absent.map(|wanted| wrong("facts.cards.types", told(wanted))).collect();
    if cards.shards.is_some() && !has_resource(seen, "shard") {
        found.push(wrong("facts.cards.shards", no_resource("shard")));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::lines;

    const NODES: &str = "NodeName=n1 AvailableFeatures=ssd,ib Gres=gpu:a100:2(S:0-1),shard:8,rdma:4 State=IDLE Partitions=all,cards\n\
        NodeName=n2 AvailableFeatures=cpu Gres=gpu:h100:1 State=DOWN* Partitions=all\n\
        NodeName=n3 AvailableFeatures=(null) Gres=(null) State=IDLE Partitions=all\n";

    fn facts() -> SlurmFacts {
        SlurmFacts {
            partition: Some("all".into()),
            node_groups: [group("cards", Some("cards"), &["ssd", "ib"]), group("any", None, &[])].into(),
            features: [("disk=ssd".to_owned(), "ssd".to_owned())].into(),
            cards: Some(SlurmCards { types: vec!["a100".into(), "h100".into()], shards: Some(4) }),
            rdma: Some("rdma".into()),
            ..SlurmFacts::default()
        }
    }

    fn group(name: &str, partition: Option<&str>, features: &[&str]) -> (String, SlurmNodeGroup) {
        let features = features.iter().map(|feature| (*feature).to_owned()).collect();
        let partition = partition.map(ToOwned::to_owned);
        (name.to_owned(), SlurmNodeGroup { partition, features, ..SlurmNodeGroup::default() })
    }

    /// The findings: each field, and the reason.
    fn told(facts: &SlurmFacts) -> Vec<(String, String)> {
        let found = absent(&lines(NODES), facts);
        assert!(found.iter().all(|one| one.subject == Subject::Setting && !one.found), "{found:?}");
        found.into_iter().map(|one| (one.name, one.detail.unwrap_or_default())).collect()
    }

    #[track_caller]
    fn assert_told(facts: &SlurmFacts, expected: &[(&str, &str)]) {
        let told = told(facts);
        let told: Vec<(&str, &str)> =
            told.iter().map(|(field, why)| (field.as_str(), why.as_str())).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn what_some_node_has_is_there_also_while_that_takes_no_jobs() {
        assert_told(&facts(), &[]);
        assert_told(&SlurmFacts::default(), &[]);
    }

    #[test]
    fn a_partition_or_a_feature_that_no_node_has_is_named_with_its_field() {
        let none = "the partition `old` has no nodes";
        let wrong = SlurmFacts { partition: Some("old".into()), ..facts() };
        assert_told(&wrong, &[("facts.partition", none)]);
        let groups = [
            group("away", Some("old"), &["ssd"]),
            group("both", None, &["ssd", "cpu"]),
            group("fast", Some("cards"), &["cpu"]),
            group("slow", None, &["tape"]),
        ];
        let wrong = SlurmFacts { node_groups: groups.into(), ..facts() };
        assert_told(
            &wrong,
            &[
                ("facts.node_groups.away.partition", none),
                ("facts.node_groups.both.features", "no node has all of these features together"),
                ("facts.node_groups.fast.features", "no node of the partition `cards` has the feature `cpu`"),
                ("facts.node_groups.slow.features", "no node of the partition `all` has the feature `tape`"),
            ],
        );
        let features = [("disk=tape".to_owned(), "tape".to_owned())].into();
        let groups = [group("slow", None, &["tape"])].into();
        let wrong = SlurmFacts { features, node_groups: groups, partition: None, ..facts() };
        let tape = "no node has the feature `tape`";
        assert_told(&wrong, &[("facts.node_groups.slow.features", tape), ("facts.features.disk=tape", tape)]);
    }

    #[test]
    fn a_card_or_a_generic_resource_that_no_node_has_is_named_with_what_there_is() {
        let cards = |types: &[&str]| SlurmCards {
            types: types.iter().map(|one| (*one).to_owned()).collect(),
            shards: Some(2),
        };
        let wrong = SlurmFacts { cards: Some(cards(&["h100", "v100"])), rdma: Some("ib".into()), ..facts() };
        assert_told(
            &wrong,
            &[
                ("facts.rdma", "no node has the generic resource `ib`"),
                ("facts.cards.types", "no node has GPUs of the type `v100`; there are: a100, h100"),
            ],
        );
        let plain = lines("NodeName=n1 Gres=gpu:2 Partitions=all\n");
        let facts = SlurmFacts { cards: Some(cards(&["a100"])), ..SlurmFacts::default() };
        let found = absent(&plain, &facts);
        let fields: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(fields, ["facts.cards.types", "facts.cards.shards"]);
        assert_eq!(found[0].detail.as_deref(), Some("no node has GPUs of the type `a100`"));
    }
}
