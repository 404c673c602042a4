//! Recent usage of projects, and how long it counts. Clusters have eight GPUs.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::BTreeMap;

use common::{Case, at, group, job, project};
use cubeloom_admission::{Ask, HeldBefore, Spec};
use cubeloom_domain::quota::Quota;

const DAY: u64 = 24 * 3600;

fn of(project: &str, spec: Spec) -> Spec {
    Spec { project: project.into(), ..spec }
}

/// All GPUs for the first day.
fn greedy() -> HeldBefore {
    HeldBefore { project: "greedy".into(), until: at(DAY), gpus: 8.0, cpu: 8000.0, ..HeldBefore::default() }
}

/// A scheduler that has run all the time, and one of a server that started at this second.
fn both(second: u64) -> [Case; 2] {
    let mut old = Case::new(8, Vec::new());
    old.wait(of("greedy", job("long", 8)));
    assert_eq!(old.pass(0), ["long"]);
    old.end("long", DAY);
    let mut new = Case::new(8, Vec::new());
    new.desk.held_before(&greedy(), at(second));
    [old, new]
}

/// Which of the two is next, while the other one holds this many GPUs.
fn next(case: &mut Case, holds: u64, second: u64) -> String {
    case.wait_since(of("other", job("holds", holds)), second);
    assert_eq!(case.pass(second), ["holds"]);
    for project in ["other", "greedy"] {
        case.wait_since(of(project, job(project, 5)), second);
    }
    let started = case.pass(second + 1);
    assert_eq!(started.len(), 1);
    started[0].clone()
}

#[test]
fn after_a_half_life_half_of_it_counts_also_after_a_restart() {
    // All eight GPUs for a day count as four at its end, as two a day later, and as one after another day.
    for (day, more) in [(1, 3), (2, 1)] {
        for mut case in both(day * DAY) {
            assert_eq!(next(&mut case, more, day * DAY), "other", "{more} GPUs are less, on day {day}");
        }
    }
    for (day, less) in [(2, 3), (3, 2)] {
        for mut case in both(day * DAY) {
            assert_eq!(next(&mut case, less, day * DAY), "greedy", "{less} GPUs are more, on day {day}");
        }
    }
}

#[test]
fn it_counts_for_the_groups_above_and_stays_when_pools_or_queues_come() {
    let queues =
        || vec![group("all", None, Quota::default()), project("greedy", Some("all"), Quota::default())];
    let mut case = Case::new(8, queues());
    case.desk.held_before(&greedy(), at(DAY));
    // Usage of a pool that no longer exists counts nowhere.
    let gone =
        HeldBefore { project: "other".into(), node_group: Some("gone".into()), gpus: 80.0, ..greedy() };
    case.desk.held_before(&gone, at(DAY));
    let groups = BTreeMap::from([("fast".to_owned(), Ask::of(1 << 40, 1 << 50, 0, 4))]);
    case.desk.set_room(Ask::of(1 << 40, 1 << 50, 0, 8), groups);
    let more = [queues(), vec![project("sibling", Some("all"), Quota::default())]].concat();
    case.desk.set_queues(&std::sync::Arc::new(more));
    // Its sibling in the same group has no usage.
    case.wait_since(of("sibling", job("sibling", 5)), DAY);
    case.wait_since(of("greedy", job("greedy", 5)), DAY);
    case.wait_since(of("other", job("other", 5)), DAY + 1);
    assert_eq!(case.pass(DAY + 1), ["other"], "its group held nothing");
    case.end("other", DAY + 2);
    assert_eq!(case.pass(DAY + 2), ["sibling"]);
}

#[test]
fn it_counts_for_a_project_of_which_nothing_is_said_also_when_the_cluster_says_later_what_it_has() {
    let mut case = Case::new(8, Vec::new());
    assert!(case.desk.held_before(&greedy(), at(DAY)));
    let fast = HeldBefore { node_group: Some("fast".into()), ..greedy() };
    assert!(!case.desk.held_before(&fast, at(DAY)), "it is not known yet");
    let groups = BTreeMap::from([("fast".to_owned(), Ask::of(1 << 40, 1 << 50, 0, 4))]);
    case.desk.set_room(Ask::of(1 << 40, 1 << 50, 0, 8), groups);
    assert!(case.desk.held_before(&fast, at(DAY)));
    assert_eq!(next(&mut case, 3, DAY), "other", "three GPUs are less than what it held");
}
