//! Enough is free in total, but on no nodes.

#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use common::{Case, elastic, job, project};
use cubeloom_admission::{Ask, NodeRoom, Prospect, Spec, Tried, Whose, sentence};
use cubeloom_domain::quota::{Amounts, Quota, Resource};
use cubeloom_domain::waiting::WaitRule;

use common::at;

fn cpus(count: u64) -> Ask {
    Ask::of(1000 * count, 0, 1, 0)
}

/// A gang of this many workers with this many CPUs each.
fn gang(key: &str, workers: u32, each: u64) -> Spec {
    let fixed = Ask { pods: workers.into(), ..cpus(each * u64::from(workers)) };
    Spec { fixed, gang: vec![(cpus(each), workers)], ..job(key, 0) }
}

/// Nodes of 8 CPUs: foreign usage of each, and usage by jobs.
fn nodes(taken: &[(u64, &[(&str, u64)])]) -> Vec<NodeRoom> {
    let node = |(others, ours): &(u64, &[(&str, u64)])| NodeRoom {
        groups: vec!["big".into()],
        has: cpus(8),
        others: cpus(*others),
        ours: ours.iter().map(|(key, count)| ((*key).to_owned(), cpus(*count))).collect(),
    };
    taken.iter().map(node).collect()
}

fn case(taken: &[(u64, &[(&str, u64)])]) -> Case {
    let mut case = Case::new(0, Vec::new());
    let all = Ask { pods: 0, ..cpus(8 * taken.len() as u64) };
    case.desk.set_room(all.clone(), BTreeMap::from([("big".to_owned(), all)]));
    case.desk.set_nodes(nodes(taken), at(0));
    case
}

#[test]
fn a_gang_starts_only_where_its_workers_fit_on_single_nodes() {
    let mut case = case(&[(0, &[]), (0, &[]), (0, &[])]);
    for key in ["a", "b", "c"] {
        case.wait(gang(key, 1, 4));
    }
    assert_eq!(case.pass(0), ["a", "b", "c"]);
    // Each is on its own node, and four CPUs are free on each.
    case.desk.set_nodes(nodes(&[(0, &[("a", 4)]), (0, &[("b", 4)]), (0, &[("c", 4)])]), at(0));
    let tried = vec![Tried { spec: gang("tried", 2, 6), is_first: true }];
    let prospects = case.desk.what_if(tried, at(1), 1, &mut || true);
    assert!(matches!(&prospects[..], [Prospect::Waits { why, .. }] if why.rule == WaitRule::Scattered));
    case.wait(gang("pair", 2, 6));
    assert!(case.pass(1).is_empty());
    let why = case.why("pair", 2);
    assert_eq!((why.rule, why.holders.len(), why.shortages.len()), (WaitRule::Scattered, 2, 0), "{why:?}");
    let said = sentence(&why, Whose { project: "project", person: "person" });
    assert!(said.starts_with("enough is free in total"), "{said}");
    // Its total is reserved.
    case.wait(gang("small", 1, 1));
    assert!(case.pass(3).is_empty(), "twelve of twelve are kept");
    case.end("a", 4);
    assert!(case.pass(4) == ["small"], "one node is free");
    case.end("b", 5);
    assert_eq!(case.pass(5), ["pair"]);
}

#[test]
fn what_others_take_is_not_free() {
    let mut case = case(&[(4, &[]), (4, &[]), (4, &[])]);
    case.wait(gang("large", 1, 13));
    case.wait(gang("pair", 2, 6));
    case.wait(gang("small", 3, 4));
    assert_eq!(case.pass(0), ["small"], "what helps nobody is not kept for those that wait for others");
    assert_eq!(case.why("large", 1).rule, WaitRule::NeverFits, "it fits on no node");
    assert_eq!(case.why("pair", 1).rule, WaitRule::Scattered);
    case.wait(gang("one", 1, 1));
    assert!(case.pass(2).is_empty(), "nothing is free");
    assert_eq!((case.why("one", 3).rule, case.why("one", 3).shortages[0].held), (WaitRule::Capacity, 24_000));
    case.end("small", 3);
    assert_eq!(case.pass(3), ["one"], "others are on all nodes still");
    case.desk.set_nodes(nodes(&[(0, &[("one", 1)]), (0, &[]), (4, &[])]), at(0));
    assert_eq!(case.pass(4), ["pair"]);
}

#[test]
fn a_gang_that_no_nodes_have_room_for_never_starts_and_keeps_nothing_from_others() {
    let mut case = case(&[(0, &[]), (0, &[]), (0, &[])]);
    case.wait(gang("four", 4, 6));
    case.wait(Spec { node_group: Some("big".into()), ..gang("three", 3, 6) });
    assert_eq!(case.pass(0), ["three"]);
    let why = case.why("four", 1);
    assert_eq!((why.rule, why.shortages.len()), (WaitRule::NeverFits, 0));
    let whose = Whose { project: "project", person: "person" };
    assert_eq!(sentence(&why, whose), "requests 4 x 6 CPU, and the cluster's nodes have 3 x 8 CPU");
    // A shortage in total is reported the same way, and with the name of a node group.
    case.wait(Spec { node_group: Some("big".into()), ..gang("five", 5, 8) });
    let why = case.why("five", 1);
    assert_eq!((why.rule, why.shortages.len()), (WaitRule::NeverFits, 1));
    assert_eq!(
        sentence(&why, whose),
        "requests 5 x 8 CPU, and the nodes of the node group `big` have 3 x 8 CPU"
    );
}

#[test]
fn an_elastic_job_gets_no_worker_for_which_there_is_no_node() {
    let mut case = case(&[(0, &[]), (0, &[])]);
    let mut grows = Spec { gang: vec![(cpus(3), 1)], fixed: cpus(3), ..elastic("grows", 1, 9) };
    grows.elastic.as_mut().unwrap().each = cpus(3);
    case.wait(grows);
    assert_eq!(case.pass(0), ["grows"]);
    assert_eq!(case.workers("grows"), 3, "two on each node, though sixteen CPUs are five times three");
}

#[test]
fn workers_that_its_scheduler_has_lent_a_job_keep_nobody_away() {
    let mut case = case(&[(0, &[]), (0, &[])]);
    case.wait(gang("lent", 1, 2));
    case.pass(0);
    case.desk.set_nodes(nodes(&[(0, &[("lent", 2)]), (0, &[("lent", 8)])]), at(0));
    case.wait(gang("pair", 2, 6));
    assert_eq!(case.pass(1), ["pair"]);
}

#[test]
fn a_job_that_nobody_here_has_known_for_a_minute_is_anothers() {
    let taken: [(u64, &[(&str, u64)]); 2] = [(0, &[("of-another", 6)]), (1, &[("own", 4)])];
    let mut case = case(&taken);
    case.wait(gang("own", 1, 4));
    assert_eq!(case.pass(0), ["own"]);
    assert!(!case.desk.set_nodes(nodes(&taken), at(59)), "it may be taken up, or have just ended");
    assert!(case.desk.set_nodes(nodes(&taken), at(60)));
    case.wait(gang("pair", 2, 3));
    assert!(case.pass(60).is_empty());
    let why = case.why("pair", 60);
    assert_eq!((why.rule, why.shortages[0].held), (WaitRule::Capacity, 11_000));
    // It was an attempt of this server after all: no longer foreign usage.
    case.desk.hold(gang("of-another", 1, 6), 0, at(0), at(61));
    assert!(case.desk.set_nodes(nodes(&taken), at(61)));
    assert_eq!(case.why("pair", 61).shortages[0].held, 11_000, "it is counted once");
    assert!(case.desk.set_nodes(nodes(&[(0, &[]), (0, &[("own", 4)])]), at(62)));
    case.desk.check().unwrap();
}

#[test]
fn a_node_that_is_told_no_more_takes_nobody_with_it() {
    let mut case = case(&[(0, &[]), (0, &[])]);
    case.wait(gang("a", 1, 8));
    case.wait(gang("b", 1, 8));
    assert_eq!(case.pass(0), ["a", "b"]);
    // The second was on the node that is drained.
    case.desk.set_nodes(nodes(&[(0, &[("a", 8)])]), at(0));
    case.wait(gang("next", 1, 8));
    assert!(case.pass(1).is_empty());
    assert_eq!(case.why("next", 2).rule, WaitRule::Capacity);
    case.end("b", 3);
    case.desk.set_nodes(nodes(&[(0, &[("a", 8)]), (0, &[])]), at(0));
    assert_eq!(case.pass(3), ["next"]);
}

#[test]
fn room_is_kept_for_one_job_that_finds_no_node_not_for_all_of_them() {
    let held = ["a", "b", "c", "d"];
    let mut case = case(&[(0, &[]), (0, &[]), (0, &[]), (0, &[])]);
    held.iter().for_each(|key| case.wait(gang(key, 1, 4)));
    assert_eq!(case.pass(0), held);
    case.desk
        .set_nodes(nodes(&[(0, &[("a", 4)]), (0, &[("b", 4)]), (0, &[("c", 4)]), (0, &[("d", 4)])]), at(0));
    ["five", "too"].iter().for_each(|key| case.wait(gang(key, 1, 5)));
    ["s", "t"].iter().for_each(|key| case.wait(gang(key, 1, 4)));
    assert_eq!(case.pass(1), ["s", "t"], "five of sixteen are kept, not ten");
    assert_eq!(
        (case.why("five", 1).rule, case.why("too", 1).rule),
        (WaitRule::Scattered, WaitRule::Scattered)
    );
}

/// Four nodes with a job of four CPUs on each, the first with this timeout; and a job that needs five.
fn halves(first_takes: Option<Duration>) -> Case {
    let mut case = case(&[(0, &[]), (0, &[]), (0, &[]), (0, &[])]);
    case.wait(Spec { timeout: first_takes, ..gang("a", 1, 4) });
    ["b", "c", "d"].iter().for_each(|key| case.wait(gang(key, 1, 4)));
    assert_eq!(case.pass(0), ["a", "b", "c", "d"]);
    case.desk
        .set_nodes(nodes(&[(0, &[("a", 4)]), (0, &[("b", 4)]), (0, &[("c", 4)]), (0, &[("d", 4)])]), at(0));
    case.wait(gang("five", 1, 5));
    ["s", "t", "u"].iter().for_each(|key| case.wait(gang(key, 1, 4)));
    assert_eq!(case.pass(0), ["s", "t"], "five of sixteen are kept");
    case
}

#[test]
fn room_is_kept_for_a_job_that_finds_no_node_for_a_bounded_time_and_longer_the_next_time() {
    let mut case = halves(None);
    assert_eq!(case.last.as_ref().unwrap().again, Some(at(3600)));
    assert!(case.pass(3599).is_empty());
    assert_eq!(case.pass(3600), ["u"], "nobody knows whether any node becomes free");
    case.end("u", 3601);
    assert_eq!(case.why("five", 3601).rule, WaitRule::Scattered);
    case.wait(gang("v", 1, 4));
    assert_eq!(case.pass(3 * 3600 - 1), ["v"]);
    case.end("v", 3 * 3600);
    case.wait(gang("w", 1, 4));
    assert!(case.pass(3 * 3600).is_empty() && case.pass(7 * 3600 - 1).is_empty());
    case.end("b", 7 * 3600 - 1);
    case.end("t", 7 * 3600 - 1);
    assert_eq!(case.pass(7 * 3600 - 1), ["five", "w"]);
}

#[test]
fn who_ends_before_a_job_finds_a_node_starts_in_what_is_kept_for_it() {
    let mut case = halves(Some(Duration::from_secs(600)));
    case.end("s", 1);
    case.end("u", 1);
    let takes = |key, seconds| Spec { timeout: Some(Duration::from_secs(seconds)), ..gang(key, 1, 4) };
    // With one of four, the rest is what is reserved: six.
    case.wait(gang("rest", 1, 4));
    assert_eq!(case.pass(1), ["rest"]);
    let ours: [&[(&str, u64)]; 4] =
        [&[("a", 4)], &[("b", 4), ("t", 4)], &[("c", 4), ("rest", 4)], &[("d", 4)]];
    case.desk.set_nodes(nodes(&ours.map(|ours| (0, ours))), at(0));
    case.wait(takes("long", 700));
    assert!(case.pass(2).is_empty(), "the node of the first is free before that");
    case.wait(takes("short", 500));
    assert_eq!(case.pass(3), ["short"]);
    case.end("short", 503);
    case.end("a", 600);
    assert_eq!(case.pass(600), ["five", "long"]);
}

#[test]
fn nobody_gives_way_to_a_job_that_finds_no_node_afterwards() {
    let mut case = case(&[(0, &[]), (0, &[])]);
    case.wait(gang("here", 1, 1));
    case.wait(gang("there", 1, 1));
    let mut grows = Spec { gang: vec![(cpus(1), 1)], fixed: cpus(1), ..elastic("grows", 1, 20) };
    grows.elastic.as_mut().unwrap().each = cpus(1);
    case.wait(grows);
    case.pass(0);
    assert_eq!(case.workers("grows"), 13, "with its first worker it has the rest");
    case.desk
        .set_nodes(nodes(&[(0, &[("here", 1), ("grows", 7)]), (0, &[("there", 1), ("grows", 7)])]), at(0));
    case.wait(gang("whole", 1, 8));
    assert!(case.pass(1).is_empty() && case.victims().is_empty(), "{:?}", case.victims());
    // On a node of its own it helps.
    case.end("here", 2);
    case.desk.set_nodes(nodes(&[(0, &[("grows", 7)]), (0, &[("there", 1), ("grows", 7)])]), at(0));
    case.pass(2);
    assert!(!case.victims().is_empty());
}

/// Usage of each of three nodes, or more. All of it is guaranteed to `project`, and lent to others.
fn lent(taken: &[(&str, u64)]) -> Case {
    let mut case = Case::new(0, Vec::new());
    let all = Ask { pods: 0, ..cpus(8 * taken.len() as u64) };
    case.desk.set_room(all, BTreeMap::new());
    let guarantee = Amounts::from_iter([(Resource::Cpu, 8000 * taken.len() as u64)]);
    let quota = Quota { guarantee, ..Quota::default() };
    case.desk.set_queues(&Arc::new(vec![project("project", None, quota)]));

    for (key, count) in taken.iter().filter(|(_, count)| *count > 0) {
        let project = if *count == 8 { "guests" } else { "project" };
        case.wait(Spec { project: project.into(), ..gang(key, 1, *count) });
        assert_eq!(case.pass(0), [*key]);
    }
    let ours: Vec<Vec<(&str, u64)>> =
        taken.iter().map(|one| if one.1 > 0 { vec![*one] } else { Vec::new() }).collect();
    let told: Vec<(u64, &[(&str, u64)])> = ours.iter().map(|ours| (0, ours.as_slice())).collect();
    case.desk.set_nodes(nodes(&told), at(0));

    case
}

#[test]
fn nobody_gives_way_for_nodes_that_the_same_pass_gives_to_another() {
    let mut case = lent(&[("", 0), ("x", 8), ("h", 4)]);
    case.wait(gang("first", 1, 4));
    // Without `x`, sixteen are free: four, eight and four.
    case.wait(gang("pair", 2, 8));
    assert_eq!(case.pass(1), ["first"]);
    assert!(case.victims().is_empty(), "{:?}", case.victims());
    // If the first ends before it was on any node, two nodes are free.
    case.end("first", 2);
    case.pass(2);
    assert_eq!(case.victims(), ["x"]);
}

#[test]
fn nobody_gives_way_for_nodes_that_others_leave_to_another() {
    let mut case = lent(&[("x", 8), ("y", 8), ("z", 8), ("h", 4), ("i", 4)]);
    case.wait(gang("pair", 2, 8));
    // Eight are free on two nodes, besides what the first pair gets.
    case.wait(gang("next", 2, 8));
    assert!(case.pass(1).is_empty());
    assert_eq!(case.victims().len(), 2, "{:?}", case.victims());
    // One of those nodes is enough, together with the last one.
    case.end("h", 2);
    case.pass(2);
    assert_eq!(case.victims().len(), 1, "{:?}", case.victims());
}
