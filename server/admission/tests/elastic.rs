//! Which jobs get workers beyond their minimum. Clusters have twelve GPUs unless a test says otherwise.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Case, at, cards, elastic, group, job, project};
use cubeloom_admission::{Ask, Elastic, NodeRoom, Spec, Victim};
use cubeloom_domain::quota::Quota;

fn of(project: &str, spec: Spec) -> Spec {
    Spec { project: project.into(), ..spec }
}

/// GPUs of an elastic job of `common`, including its first worker's.
fn holds(case: &Case, key: &str) -> u32 {
    case.workers(key) + 1
}

/// Completes the shrinking that the last cycle requested.
fn give_back(case: &mut Case, second: u64) {
    for victim in case.last.clone().unwrap().victims {
        let Victim::Workers { job, keeps, .. } = victim else { panic!("{victim:?} is a whole job") };
        case.desk.resized(job, keeps, at(second));
    }
}

/// `guest` has borrowed all twelve GPUs except the minimum of `owner`, which is guaranteed six.
fn all_is_borrowed(guarantee: u64) -> Case {
    let mut case = Case::new(12, vec![project("owner", None, cards(guarantee))]);
    case.wait(of("guest", elastic("borrows", 1, 12)));
    assert_eq!(case.pass(0), ["borrows"]);
    assert_eq!(holds(&case, "borrows"), 12);
    case.wait_since(of("owner", elastic("mine", 1, 12)), 1);
    case.pass(1);
    give_back(&mut case, 2);
    assert_eq!(case.pass(2), ["mine"]);
    case
}

#[test]
fn borrowed_workers_come_back_for_what_runs_with_less_than_is_guaranteed_to_it() {
    let mut case = all_is_borrowed(6);
    let told = case.last.clone().unwrap();
    assert!(matches!(told.victims[..], [Victim::Workers { keeps: 5, .. }]), "{told:?}");
    assert_eq!(holds(&case, "mine"), 1, "not before they have gone");
    case.pass(3);
    assert!(case.victims().is_empty(), "what is on its way is not asked for again");
    // They go one after the other. A job that gave up a worker does not take what is free.
    case.desk.resized(case.id("borrows"), 8, at(4));
    case.pass(4);
    assert_eq!((holds(&case, "mine"), holds(&case, "borrows")), (3, 9));
    case.desk.resized(case.id("borrows"), 5, at(5));
    case.pass(5);
    assert_eq!((holds(&case, "mine"), holds(&case, "borrows")), (6, 6));
    // Nothing oscillates, even after all cool-downs.
    for second in [6, 400, 4000] {
        case.pass(second);
        let pass = case.last.as_ref().unwrap();
        assert!(pass.victims.is_empty() && pass.grows.is_empty(), "{pass:?}");
    }
    // The job that gave up a worker gets it back when it is free, but not before its cool-down ends.
    case.end("mine", 4001);
    case.pass(4001);
    assert_eq!(holds(&case, "borrows"), 12);
}

#[test]
fn without_a_guarantee_what_runs_takes_nothing_from_others() {
    let case = all_is_borrowed(1);
    assert!(case.victims().is_empty());
    assert_eq!((holds(&case, "mine"), holds(&case, "borrows")), (1, 11));
}

#[test]
fn whole_jobs_do_not_go_for_more_workers_and_who_has_given_back_is_owed_none_for_a_while() {
    let mut case = Case::new(8, vec![project("owner", None, cards(6))]);
    case.wait(of("guest", job("whole", 6)));
    case.wait(of("owner", elastic("mine", 1, 6)));
    assert_eq!(case.pass(0).len(), 2);
    assert_eq!(holds(&case, "mine"), 2);
    assert!(case.victims().is_empty());
    // A job of its own project takes a worker; it is not reclaimed from others at once.
    case.wait_since(of("owner", job("next", 1)), 1);
    case.pass(1);
    assert_eq!(case.victims(), ["mine"]);
    give_back(&mut case, 2);
    assert_eq!(case.pass(2), ["next"]);
    case.end("whole", 3);
    case.wait_since(of("guest", elastic("fills", 1, 6)), 3);
    assert_eq!(case.pass(3), ["fills"]);
    assert_eq!(holds(&case, "fills"), 6);
    case.pass(300);
    assert!(case.victims().is_empty());
    case.pass(301);
    assert_eq!(case.victims(), ["fills"]);
    give_back(&mut case, 302);
    case.pass(302);
    assert_eq!((holds(&case, "mine"), holds(&case, "fills")), (5, 2), "with the other job, six");
}

#[test]
fn a_waiting_job_goes_before_workers_that_are_guaranteed() {
    let mut case = Case::new(8, vec![project("owner", None, cards(6))]);
    case.wait(of("guest", elastic("borrows", 1, 6)));
    case.wait(of("guest", job("beside", 2)));
    assert_eq!(case.pass(0).len(), 2);
    case.wait_since(of("owner", elastic("mine", 1, 6)), 1);
    case.wait_since(of("guest", job("waits", 2)), 2);
    case.pass(2);
    let told = case.last.clone().unwrap();
    assert!(matches!(told.victims[..], [Victim::Workers { keeps: 2, .. }]), "what both need: {told:?}");
    give_back(&mut case, 3);
    case.pass(3);
    assert!(case.ids.keys().all(|key| case.desk.workers(case.id(key)).is_some()), "all hold something");
    assert_eq!(case.victims(), ["borrows"], "now it is owed what its guest has beyond its least");
}

#[test]
fn siblings_give_back_within_their_group() {
    let queues = vec![
        group("both", None, cards(8)),
        project("large", Some("both"), cards(6)),
        project("small", Some("both"), cards(2)),
    ];
    let mut case = Case::new(12, queues);
    case.wait(of("small", elastic("sibling", 1, 8)));
    case.wait(of("other", elastic("beside", 4, 4)));
    assert_eq!(case.pass(0).len(), 2);
    assert_eq!(holds(&case, "sibling"), 8);
    case.wait_since(of("large", elastic("owed", 1, 9)), 1);
    case.pass(1);
    give_back(&mut case, 2);
    assert_eq!(case.pass(2), ["owed"]);
    give_back(&mut case, 3);
    case.pass(3);
    assert_eq!((holds(&case, "owed"), holds(&case, "sibling"), holds(&case, "beside")), (6, 2, 4));
}

#[test]
fn what_is_free_goes_to_what_is_guaranteed_then_by_priority_and_weight() {
    let heavy = Quota { weight: 200, ..Quota::default() };
    let mut case = Case::new(17, vec![project("heavy", None, heavy), project("owner", None, cards(5))]);
    // One project has three jobs, the other one: projects share, not jobs.
    for key in ["l1", "l2", "l3"] {
        case.wait(of("light", elastic(key, 1, 17)));
    }
    case.wait(of("heavy", elastic("heavy", 1, 17)));
    case.wait(of("owner", elastic("owned", 1, 5)));
    assert_eq!(case.pass(0).len(), 5);
    let light: u32 = ["l1", "l2", "l3"].map(|key| holds(&case, key)).iter().sum();
    assert_eq!((holds(&case, "owned"), holds(&case, "heavy"), light), (5, 8, 4));
    let mut case = Case::new(9, vec![project("owner", None, cards(3))]);
    case.wait(of("guest", Spec { priority: 5, ..elastic("urgent", 1, 5) }));
    case.wait(of("guest", elastic("usual", 1, 9)));
    case.wait(of("owner", elastic("owned", 1, 9)));
    assert_eq!(case.pass(0).len(), 3);
    assert_eq!((holds(&case, "owned"), holds(&case, "urgent"), holds(&case, "usual")), (3, 5, 1));
}

#[test]
fn workers_that_make_no_room_on_a_node_are_not_told_to_go() {
    // Two nodes of six GPUs. A worker of the owner takes four, one of the guest takes one.
    let node = |ours: &[(&str, u64)]| NodeRoom {
        groups: Vec::new(),
        has: Ask::of(1 << 40, 1 << 50, 1 << 20, 6),
        others: Ask::of(0, 0, 0, 0),
        ours: ours.iter().map(|(key, count)| ((*key).to_owned(), Ask::of(1000, 0, 1, *count))).collect(),
    };
    let mut case = Case::new(12, vec![project("owner", None, cards(8))]);
    case.desk.set_nodes(vec![node(&[]), node(&[])], at(0));
    let large = |key: &str| {
        let each = Ask::of(1000, 0, 1, 4);
        let elastic = Elastic { each: each.clone(), min: 0, max: 2, scales: true };
        Spec { elastic: Some(elastic), fixed: each.clone(), gang: vec![(each, 1)], ..job(key, 4) }
    };
    case.wait(of("guest", elastic("borrows", 1, 8)));
    assert_eq!(case.pass(0), ["borrows"]);
    case.desk.set_nodes(vec![node(&[("borrows", 2)]), node(&[("borrows", 6)])], at(1));
    case.wait_since(of("owner", large("mine")), 1);
    assert_eq!(case.pass(1), ["mine"]);
    assert_eq!((holds(&case, "borrows"), case.workers("mine")), (8, 0));
    assert!(case.victims().is_empty(), "{:?}", case.last);
    case.desk.set_nodes(vec![node(&[("mine", 4), ("borrows", 2)]), node(&[("borrows", 6)])], at(2));
    // However long it waits, no job shrinks: what becomes free would be too little on either node, and would
    // oscillate.
    for second in [2, 400, 4000] {
        case.pass(second);
        assert!(case.victims().is_empty(), "{:?}", case.last);
    }
}
