//! Outcome of hypothetical jobs.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::time::Duration;

use common::{Case, at, cards, group, job, project};
use cubeloom_admission::{Length, Prospect, Spec, Tried};
use cubeloom_domain::quota::{Amounts, Quota, Resource};
use cubeloom_domain::waiting::{Explanation, WaitRule};

fn first(spec: Spec) -> Tried {
    Tried { spec, is_first: true }
}

fn try_all(case: &Case, tried: Vec<Tried>) -> Vec<Prospect> {
    let before = case.desk.waiting();
    let found = case.desk.what_if(tried, at(100), 7, &mut || true);
    assert_eq!(case.desk.waiting(), before, "the desk itself is left alone");
    found
}

fn waits(prospect: &Prospect) -> &Explanation {
    match prospect {
        Prospect::Waits { why, .. } => why,
        other => panic!("{other:?}"),
    }
}

fn gpus(count: u64) -> Amounts {
    Amounts::from_iter([(Resource::Gpus, count)])
}

#[test]
fn where_there_is_room_it_starts() {
    let case = Case::new(8, Vec::new());
    assert_eq!(try_all(&case, vec![first(job("new", 8))]), [Prospect::Starts]);
}

#[test]
fn what_waits_names_those_that_hold_and_when_they_end() {
    let mut case = Case::new(8, Vec::new());
    let length = Length { median: Duration::from_secs(1000), spread: 0.1 };
    case.wait(Spec { length: Some(length), project: "other".into(), ..job("runs", 6) });
    case.pass(0);
    // It ends before the first one fits.
    let small = Spec { timeout: Some(Duration::from_secs(60)), ..job("small", 2) };
    let found = try_all(&case, vec![first(job("new", 4)), first(small)]);
    assert_eq!(found[1], Prospect::Starts);
    let why = waits(&found[0]);
    let short = &why.shortages[0];
    assert_eq!((why.rule, short.asked, short.limit), (WaitRule::Capacity, 4, Some(8)));
    assert_eq!(why.holders.iter().map(|holder| holder.key.as_str()).collect::<Vec<_>>(), ["runs"]);
    let Prospect::Waits { start: Some(start), .. } = &found[0] else { panic!("{:?}", found[0]) };
    assert!((800..1200).contains(&(start.p50.0 / 1_000_000)) && start.p50 <= start.p90, "{start:?}");
}

#[test]
fn tasks_of_one_run_wait_for_each_other() {
    let case = Case::new(8, Vec::new());
    let found = try_all(&case, vec![first(job("one", 8)), first(job("two", 8))]);
    assert_eq!(found[0], Prospect::Starts);
    assert_eq!(waits(&found[1]).holders[0].key, "one");
}

#[test]
fn what_is_larger_than_the_cluster_never_starts_also_when_it_comes_later() {
    let mut case = Case::new(8, Vec::new());
    case.wait(job("runs", 8));
    case.pass(0);
    let later = |key: &str, count: u64| Tried { spec: job(key, count), is_first: false };
    let found = try_all(&case, vec![later("fits", 8), later("huge", 24)]);
    assert_eq!(found[0], Prospect::Later);
    let Prospect::Never(why) = &found[1] else { panic!("{:?}", found[1]) };
    assert_eq!(
        (why.rule, why.shortages[0].asked, why.shortages[0].limit),
        (WaitRule::NeverFits, 24, Some(8))
    );
}

#[test]
fn quotas_and_caps_say_whose_they_are() {
    let limited = Quota { limit: gpus(4), ..Quota::default() };
    let capped = Quota { per_person: gpus(2), ..cards(0) };
    let records = vec![
        group("lab", None, limited),
        project("project", Some("lab"), capped),
        project("other", Some("lab"), cards(0)),
    ];
    let mut case = Case::new(8, records);
    case.wait(job("own", 2));
    case.pass(0);
    let found = try_all(&case, vec![first(job("more", 1)), first(job("huge", 3))]);
    assert_eq!(waits(&found[0]).rule, WaitRule::PersonsCap);
    let Prospect::Never(why) = &found[1] else { panic!("{:?}", found[1]) };
    assert_eq!((why.queue.as_ref().unwrap().name(), why.shortages[0].limit), ("project", Some(2)));
    let of_other = |count| first(Spec { project: "other".into(), ..job("theirs", count) });
    let found = try_all(&case, vec![of_other(3)]);
    let why = waits(&found[0]);
    assert_eq!((why.rule, why.queue.as_ref().unwrap().name()), (WaitRule::Limit, "lab"));
}

#[test]
fn estimates_are_left_out_when_they_take_too_long() {
    let mut case = Case::new(8, Vec::new());
    let length = Length { median: Duration::from_secs(1000), spread: 0.1 };
    case.wait(Spec { length: Some(length), ..job("runs", 8) });
    case.pass(0);
    let mut steps = 0;
    let mut go_on = || {
        steps += 1;
        steps < 3
    };
    let found = case.desk.what_if(vec![first(job("new", 8))], at(100), 7, &mut go_on);
    assert!(matches!(&found[..], [Prospect::Waits { start: None, .. }]), "{found:?}");
}

#[test]
fn a_job_that_may_never_come_in_time_has_no_estimate() {
    // Either of two jobs must end: the run time of one is unknown, and that of the other varies widely.
    let mut case = Case::new(8, Vec::new());
    let length = Length { median: Duration::from_secs(1000), spread: 0.1 };
    case.wait(Spec { length: Some(length), ..job("known", 4) });
    case.wait(job("unknown", 4));
    case.pass(0);
    let found = try_all(&case, vec![first(job("half", 4)), first(job("whole", 8))]);
    assert!(matches!(found[0], Prospect::Waits { start: Some(_), .. }), "{found:?}");
    assert!(matches!(found[1], Prospect::Waits { start: None, .. }), "{found:?}");
}

#[test]
fn a_job_far_beyond_its_history_says_nothing_of_its_end() {
    let mut case = Case::new(8, Vec::new());
    let length = Length { median: Duration::from_secs(100), spread: 0.1 };
    case.wait(Spec { length: Some(length), ..job("runs", 8) });
    case.pass(0);
    let start = |seconds: u64| {
        let found = case.desk.what_if(vec![first(job("new", 8))], at(seconds), 7, &mut || true);
        match &found[..] {
            [Prospect::Waits { start, .. }] => *start,
            other => panic!("{other:?}"),
        }
    };
    assert!(start(200).is_some_and(|start| start.p50 > at(200)));
    assert_eq!(start(2000), None);
}
