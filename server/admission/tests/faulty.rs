//! Unhealthy GPUs that no job gets.

#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use std::collections::BTreeMap;

use common::{Case, at, job};
use cubeloom_admission::{Ask, NodeRoom, Prospect, Spec, Tried, Whose, sentence};
use cubeloom_domain::faulty::{FaultyCard, FaultyCards};
use cubeloom_domain::waiting::WaitRule;

/// One node of four GPUs, the third of which is unhealthy.
fn case() -> Case {
    let mut case = Case::new(4, Vec::new());
    let (has, others) = (Ask::of(1 << 40, 1 << 50, 0, 4), Ask::of(0, 0, 0, 1));
    case.desk.set_nodes(vec![NodeRoom { has, others, ..NodeRoom::default() }], at(0));
    let card = FaultyCard { index: 2, uuid: "GPU-2".into(), xid: 79 };
    case.desk.set_faulty(Some(FaultyCards { all: 4, cards: vec![card] }));
    case
}

#[test]
fn what_asks_for_faulty_cards_waits_and_keeps_nothing_from_others() {
    let mut case = case();
    let whose = Whose { project: "project", person: "person" };
    case.wait(job("large", 4));
    case.wait(job("small", 2));
    assert_eq!(case.pass(0), ["small"]);
    let why = case.why("large", 1);
    assert_eq!((why.rule, why.holders.len(), why.shortages[0].free), (WaitRule::Faulty, 0, 1), "{why:?}");
    let said = "requests 4 GPUs, 1 is free; 1 of 4 GPUs is unhealthy: XID 79 on GPU 2";
    assert_eq!(sentence(&why, whose), said);
    // A job that waits for GPUs in use is informed of it, too.
    case.wait(job("pair", 2));
    assert!(case.pass(1).is_empty());
    let why = case.why("pair", 2);
    assert_eq!((why.rule, why.holders.len(), why.faulty.is_some()), (WaitRule::Capacity, 1, true), "{why:?}");
    case.end("small", 3);
    assert_eq!(case.pass(3), ["pair"]);
    // The GPU has recovered.
    case.end("pair", 4);
    case.desk.set_nodes(Vec::new(), at(4));
    case.desk.set_faulty(None);
    assert_eq!(case.pass(4), ["large"]);
}

#[test]
fn who_waits_for_cards_of_another_type_is_told_of_no_faulty_ones() {
    let mut case = Case::new(0, Vec::new());
    let typed = |cards: &[(&str, u64)], most: u64| Ask {
        cards: cards.iter().map(|(name, count)| (Some((*name).into()), *count)).collect(),
        ..Ask::of(most, most, 0, 0)
    };
    let all = typed(&[("H100", 2), ("A100", 2)], 1 << 40);
    case.desk.set_room(all.clone(), BTreeMap::new());
    let others = typed(&[("A100", 1)], 0);
    case.desk.set_nodes(vec![NodeRoom { has: all, others, ..NodeRoom::default() }], at(0));
    let card = FaultyCard { index: 3, uuid: "GPU-3".into(), xid: 79 };
    case.desk.set_faulty(Some(FaultyCards { all: 4, cards: vec![card] }));
    let asks = |key: &str, kind: &str, count: u64| Spec { fixed: typed(&[(kind, count)], 0), ..job(key, 0) };
    case.wait(asks("pair", "H100", 2));
    case.wait(asks("one", "A100", 1));
    assert_eq!(case.pass(0), ["pair", "one"]);
    for (key, kind, is_told) in [("next", "H100", false), ("other", "A100", true)] {
        case.wait(asks(key, kind, 1));
        let why = case.why(key, 1);
        assert_eq!((why.rule, why.faulty.is_some()), (WaitRule::Capacity, is_told), "{why:?}");
        case.end(key, 1);
    }
}

#[test]
fn what_found_no_part_of_a_card_is_not_let_in_again_until_it_is_tried_again() {
    let mut case = case();
    let whose = Whose { project: "project", person: "person" };
    case.wait(job("part", 0));
    assert_eq!(case.pass(0), ["part"]);
    let part = case.id("part");
    case.desk.unbegin(part, at(0));
    case.wait(job("part", 0));
    let part = case.id("part");
    case.desk.put_off(part);
    case.wait(job("other", 0));
    assert_eq!(case.pass(1), ["other"], "it keeps nobody waiting");
    let why = case.why("part", 1);
    assert_eq!((why.rule, why.holders.len(), why.faulty.is_some()), (WaitRule::Faulty, 0, true), "{why:?}");
    let said = "requests a GPU fraction, and no GPU has that much free; \
                1 of 4 GPUs is unhealthy: XID 79 on GPU 2";
    assert_eq!(sentence(&why, whose), said);
    case.desk.try_again();
    assert_eq!(case.pass(2), ["part"]);
}

#[test]
fn nobody_says_when_it_starts_nor_that_it_never_does() {
    let case = case();
    let tried = |count: u64| vec![Tried { spec: job("tried", count), is_first: true }];
    let what_if = |count: u64| case.desk.what_if(tried(count), at(1), 7, &mut || true);
    assert_eq!(what_if(3), [Prospect::Starts]);
    let found = what_if(4);
    assert!(
        matches!(&found[..], [Prospect::Waits { why, start: None, .. }] if why.rule == WaitRule::Faulty),
        "{found:?}"
    );
    assert!(matches!(&what_if(5)[..], [Prospect::Never(_)]), "that many there are not");
}
