//! Cordoned nodes: no job goes there until they are uncordoned.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::ids::AttemptKey;
use crate::outcome::{FailureKind, Outcome};
use crate::record::AttemptRecord;
use crate::state::AttemptState;

/// A node of a cluster, by their names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeName {
    pub cluster: String,
    pub node: String,
}

/// An attempt that failed through its node: it lost a GPU, or the node itself, or its worker there failed its
/// preflight test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeFailure {
    #[serde(flatten)]
    pub of: NodeName,
    pub attempt: AttemptKey,
    /// When it was created.
    pub began: Timestamp,
    pub at: Timestamp,
    pub message: String,
    /// Whether a preflight test has shown that the node is at fault: one such failure is enough.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub sure: bool,
}

impl NodeFailure {
    /// The node failure of an attempt. `None` for every other end.
    #[must_use]
    pub fn of(record: &AttemptRecord) -> Option<Self> {
        let AttemptState::Ended { ended_at, outcome: Outcome::Failed(failure), .. } = &record.state else {
            return None;
        };
        let counts = matches!(failure.kind, FailureKind::Lost | FailureKind::Preflight);
        let node = failure.node.as_deref().filter(|_| counts)?;
        let tested = record.preflight.as_ref().filter(|_| failure.kind == FailureKind::Preflight);
        let blamed = tested.and_then(|preflight| preflight.tested.as_ref()?.blamed.as_ref());
        Some(Self {
            of: NodeName { cluster: record.pool.cluster.clone(), node: node.into() },
            attempt: record.key.clone(),
            began: record.created_at,
            at: *ended_at,
            message: failure.message.clone(),
            sure: blamed.is_some_and(|blamed| blamed.sure),
        })
    }
}

/// A cordoned node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeAside {
    pub of: NodeName,
    pub since: Timestamp,
    pub why: AsideReason,
}

/// Reason for cordoning a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum AsideReason {
    /// Attempts failed through it.
    Failures {
        /// Newest last.
        failures: Vec<NodeFailure>,
    },
    /// A user cordoned it.
    Person {
        user: String,
        /// Note by the user.
        note: String,
    },
}

impl NodeAside {
    /// A sentence that it is cordoned, and why.
    #[must_use]
    pub fn sentence(&self) -> String {
        let NodeName { cluster, node } = &self.of;
        format!("{node} of the cluster {cluster}: {}", self.why.sentence())
    }
}

impl AsideReason {
    /// The reason as a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Self::Failures { failures } => {
                let last = failures.last().map_or("", |failure| failure.message.as_str());
                match failures.len() {
                    1 => format!("an attempt failed because of it: {last}"),
                    count => format!("{count} attempts failed because of it, the last one: {last}"),
                }
            }
            Self::Person { user, note } => format!("by {user}: {note}"),
        }
    }
}

/// When nodes are cordoned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRule {
    /// After this many failures through a node. 0 means never.
    pub failures: usize,
    /// Within this time.
    pub within: Duration,
    /// Uncordoning is offered after this time.
    pub offer_after: Duration,
}

impl Default for NodeRule {
    fn default() -> Self {
        Self {
            failures: 3,
            within: Duration::from_secs(24 * 3600),
            offer_after: Duration::from_secs(24 * 3600),
        }
    }
}

/// At most one in this many nodes of a cluster is cordoned automatically, and always one if another
/// remains. If more nodes fail, the nodes are not the cause.
const ONE_IN: usize = 4;
/// Maximum number of failures listed as the reason: the newest ones.
const TOLD: usize = 10;
/// Maximum clock difference between a server and a cluster.
const APART: Duration = Duration::from_secs(5);

/// Number of nodes of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeCount {
    /// Nodes that accept jobs.
    pub usable: usize,
    /// Cordoned nodes.
    pub aside: usize,
}

impl NodeRule {
    /// The nodes to cordon now, given the recent failures. `aside` are the cordoned ones, and `nodes` has the
    /// number of nodes of each cluster.
    #[must_use]
    pub fn judge(
        &self,
        failures: &[NodeFailure],
        aside: &[NodeAside],
        nodes: &BTreeMap<String, NodeCount>,
        now: Timestamp,
    ) -> Vec<NodeAside> {
        if self.failures == 0 {
            return Vec::new();
        }
        let mut by_node: BTreeMap<&NodeName, Vec<&NodeFailure>> = BTreeMap::new();
        for failure in failures.iter().filter(|failure| now.since(failure.at) <= self.within) {
            by_node.entry(&failure.of).or_default().push(failure);
        }
        let is_aside: BTreeSet<&NodeName> = aside.iter().map(|one| &one.of).collect();
        let mut counts = nodes.clone();
        let mut found = Vec::new();
        for (of, failures) in by_node {
            let count = counts.entry(of.cluster.clone()).or_default();
            let most = ((count.usable + count.aside) / ONE_IN).max(1);
            let is_sure = failures.iter().any(|failure| failure.sure);
            let mut counted = one_after_another(failures);
            if (counted.len() < self.failures && !is_sure)
                || is_aside.contains(of)
                || count.aside >= most
                || count.usable < 2
            {
                continue;
            }
            (count.usable, count.aside) = (count.usable - 1, count.aside + 1);
            let failures =
                counted.split_off(counted.len().saturating_sub(TOLD)).into_iter().cloned().collect();
            found.push(NodeAside { of: of.clone(), since: now, why: AsideReason::Failures { failures } });
        }
        found
    }

    /// Whether uncordoning is offered: the node has had no failure for that time.
    #[must_use]
    pub fn offers(&self, aside: &NodeAside, now: Timestamp) -> bool {
        now.since(aside.since) >= self.offer_after
    }
}

/// Failures of attempts that began after the previous failure: attempts that end together with a node's
/// restart count once.
fn one_after_another(mut failures: Vec<&NodeFailure>) -> Vec<&NodeFailure> {
    failures.sort_by_key(|failure| failure.at);
    let mut counted: Vec<&NodeFailure> = Vec::new();
    for failure in failures {
        if counted.last().is_none_or(|last| failure.began.plus(APART) >= last.at) {
            counted.push(failure);
        }
    }
    counted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::RunId;

    const HOUR: i64 = 3_600_000_000;

    fn failure(node: &str, hour: i64, n: u32) -> NodeFailure {
        let run = RunId::new(Timestamp(1), 7);
        NodeFailure {
            of: NodeName { cluster: "far".into(), node: node.into() },
            attempt: AttemptKey { run, task: "train".into(), instance: 0, n },
            began: Timestamp(hour * HOUR - HOUR / 2),
            at: Timestamp(hour * HOUR),
            message: format!("worker-{n} lost its GPU"),
            sure: false,
        }
    }

    fn judged(failures: &[NodeFailure], aside: &[NodeAside], usable: usize, hour: i64) -> Vec<String> {
        let nodes = BTreeMap::from([("far".to_owned(), NodeCount { usable, aside: aside.len() })]);
        let found = NodeRule::default().judge(failures, aside, &nodes, Timestamp(hour * HOUR));
        found.into_iter().map(|one| one.of.node).collect()
    }

    #[test]
    fn three_failures_within_a_day_set_a_node_aside() {
        let mut failures = vec![failure("a", 1, 1), failure("a", 2, 2), failure("b", 2, 3)];
        assert_eq!(judged(&failures, &[], 8, 3), [""; 0]);
        failures.push(failure("a", 3, 4));
        assert_eq!(judged(&failures, &[], 8, 3), ["a"]);
        assert_eq!(judged(&failures, &[], 8, 26), [""; 0], "the first was longer ago than a day");
    }

    #[test]
    fn a_test_that_shows_that_it_is_the_node_is_enough() {
        let sure = NodeFailure { sure: true, ..failure("a", 1, 1) };
        assert_eq!(judged(&[sure.clone(), failure("b", 1, 2)], &[], 8, 2), ["a"]);
        assert_eq!(judged(&[sure], &[], 1, 2), [""; 0], "there is no other");
    }

    #[test]
    fn what_ends_at_one_stroke_counts_once() {
        let together = [1, 2, 3].map(|n| NodeFailure { began: Timestamp(HOUR), ..failure("a", 5, n) });
        assert_eq!(judged(&together, &[], 8, 6), [""; 0], "the node was started again");
        let [first, ..] = together;
        assert_eq!(judged(&[first, failure("a", 6, 4), failure("a", 7, 5)], &[], 8, 8), ["a"]);
    }

    #[test]
    fn what_is_aside_is_not_set_aside_again() {
        let failures = [failure("a", 1, 1), failure("a", 2, 2), failure("a", 3, 3)];
        let why = AsideReason::Person { user: "ada".into(), note: "a fan".into() };
        let aside = NodeAside { of: failures[0].of.clone(), since: Timestamp(0), why };
        assert_eq!(judged(&failures, &[aside], 7, 3), [""; 0]);
    }

    #[test]
    fn a_node_is_offered_again_after_a_day() {
        let why = AsideReason::Person { user: "ada".into(), note: "a fan".into() };
        let of = NodeName { cluster: "far".into(), node: "a".into() };
        let aside = NodeAside { of, since: Timestamp(HOUR), why };
        let offered = [24 * HOUR, 25 * HOUR - 1, 25 * HOUR, 26 * HOUR, 0]
            .map(|now| NodeRule::default().offers(&aside, Timestamp(now)));
        assert_eq!(offered, [false, false, true, true, false]);
    }

    #[test]
    fn the_reason_says_how_often_and_what_came_last() {
        let failures = vec![failure("a", 1, 1), failure("a", 2, 2), failure("a", 3, 3)];
        let nodes = BTreeMap::from([("far".to_owned(), NodeCount { usable: 3, aside: 0 })]);
        let found = NodeRule::default().judge(&failures, &[], &nodes, Timestamp(3 * HOUR));
        let sentence = "3 attempts failed because of it, the last one: worker-3 lost its GPU";
        assert_eq!(found[0].why.sentence(), sentence);
    }

    #[test]
    fn a_cluster_of_one_node_keeps_it() {
        let failures = [failure("a", 1, 1), failure("a", 2, 2), failure("a", 3, 3)];
        assert_eq!(judged(&failures, &[], 1, 3), [""; 0]);
        assert_eq!(judged(&failures, &[], 2, 3), ["a"]);
    }

    proptest! {
        #[test]
        fn at_most_a_quarter_of_a_cluster_is_set_aside(
            failing in proptest::collection::vec((0_usize..20, 0_i64..30), 0..120),
            nodes in 1_usize..20,
        ) {
            let failures: Vec<_> = failing
                .iter()
                .enumerate()
                .map(|(n, (node, hour))| failure(&format!("n{}", node % nodes), *hour, n as u32))
                .collect();
            let found = judged(&failures, &[], nodes, 30);
            prop_assert!(found.len() <= (nodes / ONE_IN).max(1));
            prop_assert!(found.len() < nodes);
        }
    }
}
