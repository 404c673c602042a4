//! Impact of another queue tree.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::sync::Arc;

use common::{Case, at, cards, elastic, job, project};
use cubeloom_admission::{Requeued, Spec};
use cubeloom_domain::quota::{Amounts, QueueRecord, Quota, Resource};

fn of(project: &str, spec: Spec) -> Spec {
    Spec { project: project.into(), ..spec }
}

fn limited(count: u64) -> Quota {
    Quota { limit: Amounts::from_iter([(Resource::Gpus, count)]), ..Quota::default() }
}

/// Eight GPUs, and jobs that start one after the other.
fn case(records: Vec<QueueRecord>, running: Vec<Spec>) -> Case {
    let mut case = Case::new(8, records);
    for (second, spec) in (0..).zip(running) {
        let key = spec.key.clone();
        case.wait_since(spec, second);
        assert_eq!(case.pass(second), [key]);
    }
    case
}

fn requeued(case: &Case, before: &[QueueRecord], after: &[QueueRecord]) -> Requeued {
    let (holding, waiting) = (case.desk.holding(), case.desk.waiting());
    let found = case.desk.requeued(&Arc::new(before.to_vec()), &Arc::new(after.to_vec()), at(100));
    assert_eq!(
        (case.desk.holding(), case.desk.waiting()),
        (holding, waiting),
        "the desk itself is left alone"
    );
    found
}

fn keys<const N: usize>(keys: [&str; N]) -> std::collections::BTreeSet<String> {
    keys.into_iter().map(Into::into).collect()
}

fn trees() -> ([QueueRecord; 2], [QueueRecord; 2]) {
    let tree = [project("a", None, cards(8)), project("b", None, Quota::default())];
    let moved = [project("a", None, cards(4)), project("b", None, cards(4))];
    (tree, moved)
}

#[test]
fn cards_that_are_moved_are_given_back_by_the_newest_and_let_who_waits_start() {
    let (tree, moved) = trees();
    let running = || vec![of("a", job("old", 4)), of("a", job("middle", 2)), of("a", job("new", 2))];
    let mut all = case(tree.to_vec(), running());
    // No job is pending: nothing is preempted.
    assert_eq!(requeued(&all, &tree, &moved), Requeued::default());
    all.wait_since(of("b", job("waits", 3)), 50);
    let found = requeued(&all, &tree, &moved);
    assert_eq!((found.give_back, found.start), (keys(["middle", "new"]), keys(["waits"])));
    // One GPU would be enough: the newest job alone.
    let mut one = case(tree.to_vec(), running());
    one.wait_since(of("b", job("waits", 1)), 50);
    let found = requeued(&one, &tree, &moved);
    assert_eq!((found.give_back, found.start), (keys(["new"]), keys(["waits"])));
}

#[test]
fn what_would_start_anyhow_is_no_effect_of_it() {
    let (tree, moved) = trees();
    let mut case = case(tree.to_vec(), vec![of("a", job("runs", 4))]);
    case.wait_since(of("b", job("waits", 2)), 50);
    assert_eq!(requeued(&case, &tree, &moved), Requeued::default());
}

#[test]
fn elastic_workers_go_under_either_tree() {
    let (tree, moved) = trees();
    let mut case = Case::new(8, tree.to_vec());
    case.wait_since(of("a", elastic("grows", 2, 8)), 0);
    case.pass(0);
    case.wait_since(of("b", job("waits", 4)), 50);
    assert_eq!(requeued(&case, &tree, &moved), Requeued::default());
    // If no job may hold what `b` requests, none is preempted either.
    let closed = [project("a", None, cards(4)), project("b", None, limited(0))];
    let found = requeued(&case, &closed, &moved);
    assert_eq!((found.give_back, found.start), (keys(["grows"]), keys(["waits"])));
}

#[test]
fn a_lower_limit_leaves_the_newest_over_it_and_a_higher_one_lets_start() {
    let (tight, wide) = ([project("a", None, limited(2))], [project("a", None, limited(6))]);
    let mut lowered = case(wide.to_vec(), vec![of("a", job("old", 2)), of("a", job("new", 3))]);
    lowered.wait_since(of("a", job("waits", 1)), 50);
    let found = requeued(&lowered, &wide, &tight);
    assert_eq!((found.over, found.wait, found.give_back), (keys(["new"]), keys(["waits"]), keys([])));
    let mut raised = case(tight.to_vec(), vec![of("a", job("old", 2))]);
    raised.wait_since(of("a", job("waits", 1)), 50);
    raised.wait_since(of("a", job("large", 9)), 51);
    let found = requeued(&raised, &tight, &wide);
    assert_eq!((found.start, found.give_back), (keys(["waits"]), keys([])));
}
