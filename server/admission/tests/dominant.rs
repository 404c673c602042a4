//! Several resources: which one counts in a share, and GPUs by type.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::BTreeMap;

use common::{Case, job, project};
use cubeloom_admission::{Ask, Spec};
use cubeloom_domain::quota::{Amounts, Quota, Resource};
use cubeloom_domain::waiting::WaitRule;

fn of(project: &str, spec: Spec) -> Spec {
    Spec { project: project.into(), ..spec }
}

/// Four GPUs of each of two types.
fn typed(records: Vec<cubeloom_domain::quota::QueueRecord>) -> Case {
    let mut case = Case::new(8, records);
    let cards = vec![(Some("NVIDIA-H100-80GB-HBM3".into()), 4), (Some("NVIDIA-A100-SXM4-40GB".into()), 4)];
    case.desk.set_room(Ask { cards, ..Ask::of(1 << 40, 1 << 50, 0, 0) }, BTreeMap::new());
    case
}

fn h100(key: &str, count: u64) -> Spec {
    let cards = vec![(Some("H100".into()), count)];
    Spec { fixed: Ask { cards, ..Ask::of(1000, 0, 1, 0) }, ..job(key, 0) }
}

fn amount(count: u64) -> Amounts {
    Amounts::from_iter([(Resource::GpusOf("H100".into()), count)])
}

/// The example of Ghodsi et al., "Dominant Resource Fairness" (NSDI 2011). Of 9 CPUs and 18 GB, tasks of one
/// CPU and four GB get three slots, and those of three CPUs and one GB get two. By CPU alone the first would
/// get six; by memory alone the second would get three.
#[test]
fn each_project_is_measured_by_what_it_takes_most_of() {
    let mut case = Case::new(0, Vec::new());
    case.desk.set_room(Ask::of(9000, 18 << 30, 0, 0), BTreeMap::new());
    for at in 0..9 {
        let memory = Ask::of(1000, 4 << 30, 1, 0);
        case.wait(of("memory", Spec { fixed: memory, ..job(&format!("m{at}"), 0) }));
        case.wait(of("cores", Spec { fixed: Ask::of(3000, 1 << 30, 1, 0), ..job(&format!("c{at}"), 0) }));
    }
    let started = case.pass(0);
    let count = |first: char| started.iter().filter(|key| key.starts_with(first)).count();
    assert_eq!((count('m'), count('c')), (3, 2), "{started:?}");
}

#[test]
fn a_limit_on_cards_of_a_type_holds_back_those_alone_and_is_told() {
    let limited = Quota { limit: amount(2), ..Quota::default() };
    let mut case = typed(vec![project("team", None, limited)]);
    case.wait(of("team", h100("two", 2)));
    assert_eq!(case.pass(0), ["two"]);
    case.wait(of("team", h100("third", 1)));
    case.wait(of("team", job("any", 2)));
    case.wait(of("guest", h100("others", 2)));
    let mut started = case.pass(1);
    started.sort();
    assert_eq!(
        started,
        ["any", "others"],
        "GPUs of any type, and those of others, are no matter of the limit"
    );
    let why = case.why("third", 2);
    let short = &why.shortages[0];
    assert_eq!((why.rule, short.resource.to_string().as_str()), (WaitRule::Limit, "gpus/H100"));
    assert_eq!((short.asked, short.held, short.limit), (1, 2, Some(2)));
    assert_eq!(why.holders.iter().map(|holder| holder.key.as_str()).collect::<Vec<_>>(), ["two"]);
    case.end("two", 3);
    assert_eq!(case.pass(3), ["third"]);
    case.wait(of("team", h100("wide", 3)));
    case.pass(4);
    assert_eq!(case.why("wide", 4).rule, WaitRule::NeverFits);
}

#[test]
fn a_guarantee_of_cards_of_a_type_comes_back() {
    let mut case = typed(vec![project("owner", None, Quota { guarantee: amount(3), ..Quota::default() })]);
    case.wait(of("guest", h100("first", 2)));
    case.wait(of("guest", h100("second", 2)));
    case.wait(of("guest", job("any", 3)));
    assert_eq!(case.pass(0).len(), 3);
    case.wait(of("owner", h100("mine", 2)));
    assert!(case.pass(1).is_empty(), "one GPU is free, of the other type");
    assert_eq!(case.victims(), ["second"], "not the newest, which has none of them");
    case.end("second", 2);
    assert_eq!(case.pass(2), ["mine"]);
    case.wait(h100("more", 1));
    case.pass(3);
    let why = case.why("more", 3);
    let short = &why.shortages[0];
    assert_eq!((why.rule, short.resource.to_string().as_str()), (WaitRule::Capacity, "gpus/H100"));
    assert_eq!((short.asked, short.free), (1, 0));
}
