//! Preemption by priority. Clusters have eight GPUs unless a test says otherwise.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Case, at, cards, elastic, job, project};
use cubeloom_admission::{Preemption, Spec, Victim};
use cubeloom_domain::waiting::WaitRule;

const HOUR: u64 = 3600;

fn of(project: &str, spec: Spec) -> Spec {
    Spec { project: project.into(), ..spec }
}

/// A job of a preempting class.
fn urgent(key: &str, gpus: u64) -> Spec {
    Spec { priority: 100, preempts: true, ..job(key, gpus) }
}

fn with_priority(key: &str, gpus: u64, priority: i32) -> Spec {
    Spec { priority, ..job(key, gpus) }
}

/// A cluster full of these jobs, each a second newer than the one before.
fn full_of(jobs: impl IntoIterator<Item = Spec>) -> Case {
    let mut case = Case::new(8, Vec::new());
    for (second, spec) in (0..).zip(jobs) {
        let key = spec.key.clone();
        case.wait_since(spec, second);
        assert_eq!(case.pass(second), [key]);
    }
    case
}

#[test]
fn the_lowest_and_then_the_newest_are_preempted_and_no_more_than_needed() {
    let low = |key: &str, priority| with_priority(key, 2, priority);
    let mut case = full_of([low("old", 0), low("lower", -1), low("high", 50), low("new", 0)]);
    case.wait_since(urgent("urgent", 3), 10);
    assert!(case.pass(10).is_empty(), "they have their grace period");
    assert_eq!(case.victims(), ["lower", "new"]);
    for victim in &case.last.as_ref().unwrap().victims {
        assert!(matches!(victim, Victim::Whole { why: Preemption::Outranked, .. }), "{victim:?}");
    }
    let (why, by) = case.desk.preempted(case.id("new")).unwrap();
    assert_eq!((why, by.name.as_str()), (Preemption::Outranked, "urgent"));
    assert_eq!(case.why("urgent", 11).rule, WaitRule::Leaving);
    case.end("lower", 11);
    assert!(case.pass(11).is_empty(), "two of three");
    assert!(case.victims().is_empty(), "those that leave are enough");
    case.end("new", 12);
    assert_eq!(case.pass(12), ["urgent"]);
}

#[test]
fn a_number_alone_preempts_nothing_nor_does_a_class_an_equal() {
    let mut case = full_of([with_priority("runs", 8, 100)]);
    case.wait_since(urgent("equal", 8), 1);
    case.wait_since(with_priority("higher", 8, 900), 1);
    assert!(case.pass(1).is_empty() && case.victims().is_empty());
    assert_eq!(case.why("higher", 1).rule, WaitRule::Capacity);
}

#[test]
fn what_is_not_preemptible_stays_and_what_would_not_be_enough_does_too() {
    let protected = Spec { protected: true, ..with_priority("protected", 4, 0) };
    let mut case = full_of([protected, with_priority("low", 4, 0)]);
    case.wait_since(urgent("large", 8), 1);
    assert!(case.pass(1).is_empty() && case.victims().is_empty(), "four of eight are not enough");
    case.end("large", 2);
    case.wait_since(urgent("small", 4), 2);
    case.pass(2);
    assert_eq!(case.victims(), ["low"]);
}

#[test]
fn elastic_workers_go_before_whole_jobs() {
    let mut case = full_of([with_priority("whole", 2, 0)]);
    case.wait_since(elastic("grows", 1, 6), 1);
    assert_eq!(case.pass(1), ["grows"]);
    case.wait_since(urgent("urgent", 4), 2);
    case.pass(2);
    let victims = &case.last.as_ref().unwrap().victims;
    assert!(matches!(victims[..], [Victim::Workers { keeps: 1, .. }]), "{victims:?}");
}

#[test]
fn the_time_in_the_queue_protects_who_runs_and_does_not_arm_who_waits() {
    let mut case = full_of([with_priority("hog", 8, 0)]);
    case.wait_since(with_priority("patient", 8, 0), 1);
    case.pass(1);
    // After five hours in the queue it starts with the priority five.
    case.end("hog", 5 * HOUR + 1);
    assert_eq!(case.pass(5 * HOUR + 1), ["patient"]);
    case.wait_since(Spec { priority: 4, ..urgent("four", 8) }, 5 * HOUR + 2);
    case.pass(5 * HOUR + 2);
    assert!(case.victims().is_empty());
    // However long it waits, it preempts only what it could preempt at first: no two jobs stop each other in
    // turns.
    case.pass(50 * HOUR);
    assert!(case.victims().is_empty());
    case.wait_since(Spec { priority: 6, ..urgent("six", 8) }, 50 * HOUR);
    case.end("four", 50 * HOUR);
    case.pass(50 * HOUR);
    assert_eq!(case.victims(), ["patient"]);
}

#[test]
fn guarantees_of_others_hold_against_any_priority() {
    let mut case = Case::new(8, vec![project("owner", None, cards(4))]);
    case.wait(of("owner", job("own", 4)));
    case.wait(of("other", job("borrows", 4)));
    case.pass(0);
    case.wait_since(of("guest", urgent("eight", 8)), 1);
    case.pass(1);
    assert!(case.victims().is_empty(), "four are the owner's");
    case.end("eight", 2);
    case.wait_since(of("guest", urgent("four", 4)), 2);
    case.pass(2);
    assert_eq!(case.victims(), ["borrows"]);
    case.end("borrows", 3);
    assert_eq!(case.pass(3), ["four"]);
    // And a guarantee is reclaimed from the urgent job.
    case.wait_since(of("fresh", job("waits", 1)), 4);
    case.end("own", 4);
    case.wait_since(of("guest", job("more", 4)), 4);
    assert_eq!(case.pass(5), ["waits"]);
    case.wait_since(of("owner", job("again", 4)), 6);
    case.pass(6);
    let victims = &case.last.as_ref().unwrap().victims;
    assert!(
        victims.iter().all(|victim| matches!(victim, Victim::Whole { why: Preemption::Reclaimed, .. })),
        "{victims:?}"
    );
    assert!(!victims.is_empty());
}

#[test]
fn who_was_preempted_waits_for_its_cool_down() {
    let mut case = full_of([with_priority("low", 8, 0)]);
    case.wait_since(urgent("urgent", 8), 1);
    case.pass(1);
    case.end("low", 2);
    case.wait_cooling(with_priority("low", 8, 0), 2, 302);
    assert_eq!(case.pass(2), ["urgent"]);
    case.end("urgent", 3);
    assert!(case.pass(4).is_empty());
    assert_eq!(case.last.as_ref().unwrap().again, Some(at(302)));
    assert_eq!(case.pass(302), ["low"]);
}

#[test]
fn of_a_job_that_is_not_there_any_more_nothing_is_said() {
    let mut case = full_of([with_priority("low", 8, 0)]);
    case.wait_since(urgent("urgent", 8), 1);
    case.pass(1);
    let low = case.id("low");
    assert!(case.desk.preempted(low).is_some());
    case.end("urgent", 2);
    // It takes the capacity of the job that has gone.
    case.wait_since(urgent("another", 8), 3);
    assert_eq!(case.desk.preempted(low), None);
}
