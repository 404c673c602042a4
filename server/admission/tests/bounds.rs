//! Bounds of queues, persons and concurrency limits, by example. Clusters have eight GPUs unless a test says
//! otherwise.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::BTreeMap;

use common::{Case, at, cards, group, job, project};
use cubeloom_admission::{Ask, NamedLimit, Spec};
use cubeloom_domain::quota::{Amounts, Queue, Quota, Resource};
use cubeloom_domain::waiting::WaitRule;

#[test]
fn what_is_not_lent_is_kept_free() {
    let owner = project("owner", None, Quota { lend: false, ..cards(4) });
    let mut case = Case::new(8, vec![owner]);
    case.wait(Spec { project: "guest".into(), ..job("four", 4) });
    case.wait(Spec { project: "guest".into(), ..job("one", 1) });
    assert_eq!(case.pass(0), ["four"]);
    let why = case.why("one", 1);
    assert_eq!((why.rule, why.shortages[0].free), (WaitRule::NotLent, 0));
    case.wait_since(Spec { project: "owner".into(), ..job("mine", 3) }, 20);
    assert_eq!(case.pass(20), ["mine"]);
    assert!(case.desk.keeps_what_is_not_lent());
}

#[test]
fn limits_hold_for_all_that_is_below() {
    let limited = Quota { limit: Amounts::from_iter([(Resource::Gpus, 5)]), ..Quota::default() };
    let records = vec![
        group("all", None, limited),
        project("one", Some("all"), Quota::default()),
        project("two", Some("all"), Quota::default()),
    ];
    let mut case = Case::new(8, records);
    case.wait(Spec { project: "one".into(), ..job("three", 3) });
    case.wait(Spec { project: "two".into(), ..job("four", 4) });
    case.wait(Spec { project: "other".into(), ..job("beside", 1) });
    let mut started = case.pass(30);
    started.sort();
    assert_eq!(started, ["beside", "three"]);
    let why = case.why("four", 30);
    assert_eq!((why.rule, why.queue), (WaitRule::Limit, Some(Queue::Group("all".into()))));
    assert_eq!((why.shortages[0].limit, why.shortages[0].held), (Some(5), 3));
    assert_eq!(why.holders[0].key, "three");
}

#[test]
fn who_may_not_borrow_holds_what_is_guaranteed() {
    let mut case = Case::new(8, vec![project("own", None, Quota { borrow: false, ..cards(3) })]);
    case.wait(Spec { project: "own".into(), ..job("three", 3) });
    case.wait(Spec { project: "own".into(), ..job("one", 1) });
    assert_eq!(case.pass(0), ["three"]);
    assert_eq!(case.why("one", 1).rule, WaitRule::NoBorrowing);
}

#[test]
fn a_persons_cap_keeps_nobody_else_away() {
    let capped = Quota { per_person: Amounts::from_iter([(Resource::Gpus, 2)]), ..Quota::default() };
    let mut case = Case::new(8, vec![project("team", None, capped)]);
    for at in 0..40 {
        case.wait(Spec { project: "team".into(), person: "many".into(), ..job(&format!("m{at}"), 1) });
    }
    case.wait(Spec { project: "team".into(), person: "one".into(), ..job("other", 2) });
    let started = case.pass(60);
    assert_eq!(started, ["m0", "m1", "other"]);
    let why = case.why("m2", 61);
    assert_eq!((why.rule, why.holders.len()), (WaitRule::PersonsCap, 1));
}

#[test]
fn runs_and_workers_are_counted() {
    let limit = Amounts::from_iter([(Resource::Runs, 1), (Resource::Pods, 3)]);
    let mut case = Case::new(8, vec![project("few", None, Quota { limit, ..Quota::default() })]);
    let of = |name: &str, run: u128| Spec { project: "few".into(), run, ..job(name, 1) };
    case.wait(of("a", 1));
    case.wait(of("b", 2));
    case.wait(of("c", 1));
    assert_eq!(case.pass(0), ["a", "c"]);
    let why = case.why("b", 1);
    assert_eq!((why.rule, why.shortages[0].resource.clone()), (WaitRule::Limit, Resource::Runs));
    assert_eq!(why.holders.len(), 2);
}

#[test]
fn a_node_group_has_its_own_quota_and_the_clusters_room() {
    let mut case = Case::new(8, Vec::new());
    let groups = BTreeMap::from([("fast".to_owned(), Ask::of(1 << 40, 1 << 50, 0, 4))]);
    case.desk.set_room(Ask::of(1 << 40, 1 << 50, 0, 8), groups);
    let fast = |name: &str, gpus: u64| Spec { node_group: Some("fast".into()), ..job(name, gpus) };
    case.wait(job("whole", 5));
    assert_eq!(case.pass(0), ["whole"]);
    case.wait(fast("three", 3));
    case.wait(fast("four", 4));
    assert_eq!(case.pass(1), ["three"], "the cluster has no more than three");
    let why = case.why("four", 2);
    assert_eq!(why.holders.len(), 2, "without the other one, the cluster has but three: {why:?}");
}

#[test]
fn a_named_limit_holds_across_projects_at_once_and_by_the_minute() {
    let mut case = Case::new(100, Vec::new());
    case.desk.set_named(vec![
        NamedLimit { name: "hdfs".into(), at_once: Some(2), a_minute: None },
        NamedLimit { name: "api".into(), at_once: None, a_minute: Some(3) },
    ]);
    let named = |key: &str, name: &str| Spec { named: vec![name.into()], project: key.into(), ..job(key, 1) };
    for at in 0..4 {
        case.wait(named(&format!("pull-{at}"), "hdfs"));
    }
    for at in 0..5 {
        case.wait(named(&format!("call-{at}"), "api"));
    }
    let started = case.pass(0);
    assert_eq!(started, ["pull-0", "pull-1", "call-0", "call-1", "call-2"]);
    let why = case.why("pull-2", 1);
    assert_eq!((why.rule, why.named.as_deref()), (WaitRule::NamedLimit, Some("hdfs")));
    assert_eq!(why.holders.len(), 1);
    for key in ["call-0", "call-1", "call-2"] {
        case.end(key, 30);
    }
    assert_eq!(case.pass(59), [""; 0], "three were called within this minute");
    assert_eq!(case.last.as_ref().unwrap().again, Some(at(60)));
    assert_eq!(case.pass(60), ["call-3", "call-4"]);
}

#[test]
fn what_was_not_started_after_all_is_no_start_of_the_minute() {
    let mut case = Case::new(1, Vec::new());
    case.desk.set_named(vec![NamedLimit { name: "api".into(), at_once: None, a_minute: Some(1) }]);
    let named = |key: &str| Spec { named: vec!["api".into()], ..job(key, 1) };
    case.wait(named("first"));
    case.wait(named("second"));
    assert_eq!(case.pass(0), ["first"]);
    case.end("first", 61);
    assert_eq!(case.pass(61), ["second"]);
    // Its cluster does not have the GPU back yet.
    let second = case.id("second");
    case.desk.unbegin(second, at(61));
    let used = |case: &Case| case.desk.named_use("api", at(61)).map(|used| (used.held, used.lately));
    assert_eq!(used(&case), Some((0, 0)));
    case.wait(named("second"));
    assert_eq!(case.pass(61), ["second"]);
    assert_eq!(used(&case), Some((1, 1)));
}

#[test]
fn cards_without_a_type_are_bound_as_what_they_can_only_be() {
    let h100 = Resource::GpusOf("H100".into());
    let limit = Quota { limit: Amounts::from_iter([(h100.clone(), 3)]), ..Quota::default() };
    let mut case = Case::new(0, vec![project("team", None, limit)]);
    let room = |products: &[&str]| Ask {
        cards: products.iter().map(|name| (Some((*name).into()), 8)).collect(),
        ..Ask::of(1 << 40, 1 << 50, 0, 0)
    };
    case.desk.set_room(room(&["NVIDIA-H100-80GB"]), BTreeMap::new());
    let team = |key: &str| Spec { project: "team".into(), ..job(key, 2) };
    case.wait(team("two"));
    case.wait(team("more"));
    assert_eq!(case.pass(0), ["two"]);
    let why = case.why("more", 1);
    assert_eq!((why.rule, &why.shortages[0].resource), (WaitRule::Limit, &h100));
    assert_eq!(case.desk.may_have(case.id("two"), &Ask::of(1000, 0, 1, 1), 9), 1);
    // GPUs of another model have appeared: which model the job has is unknown now.
    case.desk.set_room(room(&["NVIDIA-H100-80GB", "NVIDIA-A100-40GB"]), BTreeMap::new());
    assert_eq!(case.pass(2), ["more"]);
}
