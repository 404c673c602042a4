//! Nodes that get no jobs: cordoned ones, and standby nodes of node groups.

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::slurm::SlurmFacts;
use cubeloom_domain::spares::{Member, spares};

use crate::nodes::{self, SeenNode};

/// State of these nodes.
#[derive(Default)]
pub struct KeptOff {
    aside: BTreeSet<String>,
    /// All nodes of Slurm, as last listed.
    members: Vec<Member>,
    spares: Vec<String>,
    /// Nodes that have jobs, or may have got some.
    used: BTreeSet<String>,
}

impl KeptOff {
    /// Replaces the set of cordoned nodes: standby nodes take their place.
    pub fn set_aside(&mut self, nodes: BTreeSet<String>, facts: &SlurmFacts) {
        self.aside = nodes;
        self.choose(facts);
    }

    /// Records the nodes that Slurm has now.
    pub fn saw(&mut self, seen: &[SeenNode], facts: &SlurmFacts) {
        if self.members.is_empty() {
            // An earlier server's standby nodes are not recorded: assume the empty ones.
            self.used = nodes::busy(seen);
            self.aside.extend(facts.aside_nodes.iter().cloned());
        }
        self.members = nodes::members(seen, facts);
        self.choose(facts);
    }

    fn choose(&mut self, facts: &SlurmFacts) {
        let wanted: BTreeMap<String, u32> =
            facts.node_groups.iter().map(|(name, group)| (name.clone(), group.spares)).collect();
        let well = |member: &Member| member.is_well && !self.aside.contains(&member.name);
        let members: Vec<Member> =
            self.members.iter().map(|member| Member { is_well: well(member), ..member.clone() }).collect();
        let used = self.used.iter().map(String::as_str).collect();
        self.spares = spares(&wanted, &members, &self.spares, &used);
        let works =
            members.into_iter().filter(|member| member.is_well && !self.spares.contains(&member.name));
        self.used = works.map(|member| member.name).collect();
    }

    /// Cordoned nodes, limited to those that Slurm has: it rejects a job that excludes an unknown one.
    pub fn aside(&self) -> Vec<String> {
        let is_there = |name: &&String| self.members.iter().any(|member| member.name == **name);
        self.aside.iter().filter(is_there).cloned().collect()
    }

    /// Standby nodes.
    pub fn spares(&self) -> &[String] {
        &self.spares
    }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::slurm::SlurmNodeGroup;

    use super::*;

    fn facts() -> SlurmFacts {
        let group = SlurmNodeGroup { partition: Some("all".into()), spares: 1, ..SlurmNodeGroup::default() };
        SlurmFacts { node_groups: [("all".to_owned(), group)].into(), ..SlurmFacts::default() }
    }

    /// The nodes `n1` to `n4` in these states.
    fn seen(states: [&str; 4]) -> Vec<SeenNode> {
        let node = |(at, state): (usize, &str)| SeenNode {
            name: format!("n{}", at + 1),
            states: vec![state.into()],
            partitions: vec!["all".into()],
            ..SeenNode::default()
        };
        states.into_iter().enumerate().map(node).collect()
    }

    #[test]
    fn a_spare_works_in_the_place_of_a_node_that_is_drained_or_set_aside() {
        let (mut kept, facts) = (KeptOff::default(), facts());
        kept.saw(&seen(["IDLE"; 4]), &facts);
        assert_eq!(kept.spares(), ["n4"]);
        kept.saw(&seen(["MIXED", "DRAIN", "MIXED", "IDLE"]), &facts);
        assert!(kept.spares().is_empty());
        // Once healthy again it becomes the standby node, because it is empty.
        kept.saw(&seen(["MIXED", "IDLE", "MIXED", "MIXED"]), &facts);
        assert_eq!(kept.spares(), ["n2"]);
        kept.set_aside(["n1".to_owned(), "gone".to_owned()].into(), &facts);
        assert!(kept.spares().is_empty(), "at once, not at the next look");
        assert_eq!(kept.aside(), ["n1"]);
        kept.set_aside(BTreeSet::new(), &facts);
        assert_eq!(kept.spares(), ["n1"]);
    }

    #[test]
    fn who_knows_nothing_of_before_keeps_an_empty_node_free() {
        let mut kept = KeptOff::default();
        kept.saw(&seen(["MIXED", "IDLE", "ALLOCATED", "MIXED"]), &facts());
        assert_eq!(kept.spares(), ["n2"]);
    }
}
