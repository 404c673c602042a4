//! Each rule, by example. Clusters have eight GPUs unless a test says otherwise.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::BTreeSet;
use std::time::Duration;

use common::{Case, at, cards, elastic, group, job, project};
use cubeloom_admission::{Ask, Elastic, Spec, Victim};
use cubeloom_domain::quota::{Amounts, Quota, Resource};
use cubeloom_domain::waiting::WaitRule;

#[test]
fn a_gang_starts_whole_or_waits_and_says_for_whom() {
    let mut case = Case::new(8, Vec::new());
    case.wait(job("a", 6));
    case.wait(job("b", 3));
    assert_eq!(case.pass(0), ["a"]);
    let why = case.why("b", 1);
    assert_eq!(why.rule, WaitRule::Capacity);
    let short = &why.shortages[0];
    assert_eq!((short.resource.clone(), short.asked, short.free), (Resource::Gpus, 3, 2));
    assert_eq!(why.holders.iter().map(|holder| holder.key.as_str()).collect::<Vec<_>>(), ["a"]);
    case.end("a", 2);
    assert_eq!(case.pass(2), ["b"]);
}

#[test]
fn priority_goes_before_shares_and_shares_before_age() {
    let mut case = Case::new(8, Vec::new());
    case.wait(Spec { project: "one".into(), ..job("first", 4) });
    assert_eq!(case.pass(0), ["first"]);
    case.wait(Spec { project: "one".into(), ..job("older", 4) });
    case.wait(Spec { project: "two".into(), ..job("newer", 4) });
    // The queue with less usage is first, although its job is newer.
    assert_eq!(case.pass(1), ["newer"]);
    case.wait(Spec { project: "two".into(), priority: 5, ..job("urgent", 4) });
    case.end("newer", 2);
    assert_eq!(case.pass(2), ["urgent"]);
    case.end("first", 3);
    assert_eq!(case.pass(3), ["older"]);
}

#[test]
fn a_weight_of_two_gets_twice_as_much() {
    let heavy = project("heavy", None, Quota { weight: 200, ..Quota::default() });
    let mut case = Case::new(9, vec![heavy]);
    for at in 0..9 {
        case.wait(Spec { project: "heavy".into(), ..job(&format!("h{at}"), 1) });
        case.wait(Spec { project: "light".into(), ..job(&format!("l{at}"), 1) });
    }
    let started = case.pass(0);
    assert_eq!(started.iter().filter(|key| key.starts_with('h')).count(), 6, "{started:?}");
}

#[test]
fn what_was_held_lately_counts() {
    let mut case = Case::new(8, Vec::new());
    case.wait(Spec { project: "greedy".into(), ..job("long", 8) });
    assert_eq!(case.pass(0), ["long"]);
    case.end("long", 24 * 3600);
    case.wait_since(Spec { project: "greedy".into(), ..job("again", 8) }, 24 * 3600);
    case.wait_since(Spec { project: "modest".into(), ..job("once", 8) }, 24 * 3600 + 1);
    assert_eq!(case.pass(24 * 3600 + 2), ["once"]);
}

#[test]
fn waiting_makes_urgent() {
    let mut case = Case::new(8, Vec::new());
    case.wait(job("patient", 8));
    case.wait_since(Spec { priority: 3, ..job("urgent", 8) }, 5 * 3600);
    assert_eq!(case.pass(5 * 3600), ["patient"], "five hours are worth five");
}

#[test]
fn what_may_never_end_takes_nothing_that_a_wide_one_is_short_of() {
    let mut case = Case::new(8, Vec::new());
    case.wait(job("runs", 4));
    case.pass(0);
    case.wait_since(job("wide", 8), 1);
    case.wait_since(job("unknown", 1), 1);
    // Its run time is unknown: it would delay the wide one, even in the first second.
    assert_eq!(case.pass(1), [""; 0]);
    let why = case.why("unknown", 1);
    assert_eq!((why.rule, why.head.map(|head| head.name).as_deref()), (WaitRule::Behind, Some("wide")));
    // Neither does a job with a timeout start, if it is unknown when the wide one fits.
    case.wait_since(Spec { timeout: Some(Duration::from_secs(1)), ..job("short", 1) }, 2);
    assert_eq!(case.pass(2), [""; 0]);
    // A job that takes nothing of what the wide one lacks does not delay it.
    case.wait_since(Spec { fixed: Ask::of(1000, 0, 1, 0), ..job("no-card", 0) }, 13);
    assert_eq!(case.pass(13), ["no-card"]);
}

#[test]
fn with_known_lengths_what_ends_in_time_is_filled_in() {
    let mut case = Case::new(8, Vec::new());
    let lasting = |name: &str, gpus: u64, seconds: u64| Spec {
        timeout: Some(Duration::from_secs(seconds)),
        ..job(name, gpus)
    };
    case.wait(lasting("runs", 6, 100));
    case.pass(0);
    case.wait_since(job("wide", 7), 1);
    case.wait_since(lasting("too-long", 2, 100), 2);
    case.wait_since(lasting("in-time", 2, 60), 3);
    // One GPU is left over when the wide one starts.
    case.wait_since(lasting("beside", 1, 1000), 4);
    assert_eq!(case.pass(30), ["in-time"]);
    case.end("in-time", 40);
    assert_eq!(case.pass(40), ["beside"]);
}

#[test]
fn nobody_waits_behind_what_can_never_fit() {
    let mut case = Case::new(8, Vec::new());
    case.wait(job("huge", 9));
    case.wait(job("small", 1));
    assert_eq!(case.pass(60), ["small"]);
    assert_eq!(case.why("huge", 60).rule, WaitRule::NeverFits);
}

#[test]
fn a_guarantee_comes_back_from_the_newest_borrower_of_the_lowest_priority() {
    let owner = project("owner", None, cards(4));
    let mut case = Case::new(8, vec![owner]);
    case.wait(Spec { project: "guest".into(), ..job("old", 4) });
    case.wait(Spec { project: "guest".into(), priority: 1, ..job("urgent", 2) });
    assert_eq!(case.pass(0).len(), 2);
    case.wait_since(Spec { project: "guest".into(), ..job("new", 2) }, 1);
    assert_eq!(case.pass(1), ["new"]);
    case.wait_since(Spec { project: "owner".into(), ..job("mine", 2) }, 2);
    assert_eq!(case.pass(2), [""; 0]);
    assert_eq!(case.victims(), ["new"]);
    assert_eq!(case.why("mine", 3).rule, WaitRule::Leaving);
    // No other job takes the capacity meanwhile, and no second job is preempted.
    case.wait_since(Spec { project: "guest".into(), priority: 9, ..job("thief", 2) }, 3);
    assert_eq!(case.pass(3), [""; 0]);
    assert!(case.victims().is_empty());
    case.end("new", 4);
    assert_eq!(case.pass(4), ["mine"]);
}

/// A group of two, where `small` uses the guarantee of `large`; beside it `wide`, which waits for half the
/// cluster.
fn a_group_beyond_its_guarantee(wide: Spec) -> Case {
    let queues = vec![
        group("both", None, cards(4)),
        project("large", Some("both"), cards(3)),
        project("small", Some("both"), cards(1)),
    ];
    let mut case = Case::new(8, queues);
    case.wait(Spec { project: "small".into(), ..job("borrows", 2) });
    case.wait(Spec { project: "small".into(), ..job("also", 2) });
    case.wait(job("other", 2));
    assert_eq!(case.pass(0).len(), 3);
    case.wait_since(wide, 10);
    assert!(case.pass(60).is_empty());
    case.wait_since(Spec { project: "large".into(), ..job("owed", 2) }, 61);
    case
}

#[test]
fn a_project_of_a_group_takes_from_its_siblings_rather_than_from_the_head() {
    let mut case = a_group_beyond_its_guarantee(Spec { priority: 1, ..job("wide", 4) });
    assert_eq!(case.pass(62), ["owed"]);
    assert_eq!(case.victims(), ["also"], "the newest of its siblings gives the head what is taken from it");
}

#[test]
fn nobody_goes_for_a_head_that_has_waited_less() {
    let mut case = a_group_beyond_its_guarantee(Spec { priority: -1, ..job("wide", 4) });
    assert_eq!(case.pass(62), ["owed"], "in the room that the head waits for");
}

#[test]
fn who_has_waited_for_days_is_not_the_first_to_go_again() {
    let mut case = Case::new(8, vec![project("owner", None, cards(4))]);
    case.wait(job("old", 4));
    case.wait_since(job("new", 4), 48 * 3600 - 1);
    assert_eq!(case.pass(48 * 3600).len(), 2);
    case.wait_since(Spec { project: "owner".into(), ..job("owed", 4) }, 48 * 3600 + 1);
    assert!(case.pass(48 * 3600 + 1).is_empty());
    assert_eq!(case.victims(), ["new"]);
}

#[test]
fn what_others_went_for_is_not_taken_by_a_later_one() {
    let queues = vec![project("first", None, cards(3)), project("second", None, cards(1))];
    let mut case = Case::new(4, queues);
    for key in ["one", "two", "three", "four"] {
        case.wait(job(key, 1));
    }
    assert_eq!(case.pass(0).len(), 4);
    case.wait_since(Spec { project: "first".into(), ..job("wide", 3) }, 1);
    assert!(case.pass(1).is_empty());
    let victims = case.victims();
    assert_eq!(victims.len(), 3);
    case.end(&victims[0], 2);
    // One GPU is free, two are being reclaimed; the last borrower is preempted for the later job.
    case.wait_since(Spec { project: "second".into(), ..job("late", 1) }, 2);
    assert!(case.pass(3).is_empty(), "the free GPU is promised");
    case.end(&victims[1], 4);
    case.end(&victims[2], 4);
    assert_eq!(case.pass(5), ["wide"]);
}

/// The keeper's job has five GPUs, and four of them stay reserved for its project when it ends. Only one of
/// them goes to the wide job.
#[test]
fn what_is_kept_free_once_its_own_jobs_are_gone_is_not_on_its_way_to_others() {
    let keeper = project("keeper", None, Quota { lend: false, ..cards(4) });
    let mut case =
        Case::new(8, vec![keeper, project("first", None, cards(2)), project("second", None, cards(2))]);
    for (second, project, key, gpus) in
        [(0, "guest", "old", 1), (1, "second", "own", 1), (2, "guest", "new", 1), (3, "keeper", "large", 5)]
    {
        case.wait_since(Spec { project: project.into(), ..job(key, gpus) }, second);
        assert_eq!(case.pass(second), [key]);
    }
    case.wait_since(Spec { project: "first".into(), ..job("wide", 2) }, 4);
    assert!(case.pass(4).is_empty());
    let mut victims = case.victims();
    victims.sort();
    assert_eq!(victims, ["large", "new"]);
    case.wait_since(Spec { project: "second".into(), ..job("late", 1) }, 5);
    assert!(case.pass(5).is_empty());
    assert_eq!(case.victims(), ["old"]);
    case.end("new", 6);
    assert!(case.pass(6).is_empty(), "the free GPU is promised to the wide one");
    case.end("large", 7);
    assert_eq!(case.pass(7), ["wide"]);
    case.end("old", 8);
    assert_eq!(case.pass(8), ["late"]);
}

#[test]
fn who_has_given_back_borrows_only_after_a_while() {
    let mut case = Case::new(8, Vec::new());
    let spec = Spec { project: "guest".into(), ..job("again", 2) };
    case.wait_cooling(spec, 0, 300);
    assert_eq!(case.pass(10), [""; 0]);
    assert_eq!(case.why("again", 10).rule, WaitRule::CoolDown);
    assert_eq!(case.pass(300), ["again"]);
}

#[test]
fn a_waiting_job_takes_elastic_workers_first_also_in_its_own_project() {
    let mut case = Case::new(8, Vec::new());
    case.wait(elastic("grows", 2, 8));
    assert_eq!(case.pass(0), ["grows"]);
    assert_eq!(case.workers("grows"), 7, "with its first worker, eight");
    case.wait_since(job("next", 3), 1);
    case.pass(1);
    let pass = case.last.clone().unwrap();
    assert!(matches!(pass.victims[..], [Victim::Workers { keeps: 4, .. }]), "{pass:?}");
    case.desk.resized(case.id("grows"), 4, at(2));
    assert_eq!(case.pass(2), ["next"]);
    case.end("next", 3);
    // Not at once: it would be reclaimed again with the next job.
    case.pass(4);
    assert_eq!(case.workers("grows"), 4);
    case.pass(302);
    assert_eq!(case.workers("grows"), 7);
}

/// A team that may use six GPUs, by its limit or by the cap per person: two jobs run, and one that needs four
/// is pending.
fn four_of_six_are_waited_for(quota: Quota) -> Case {
    let mut case = Case::new(8, vec![project("team", None, quota)]);
    let of = |spec: Spec| Spec { project: "team".into(), ..spec };
    case.wait(of(job("whole", 2)));
    case.wait(of(elastic("grows", 1, 4)));
    case.wait(of(job("waits", 4)));
    case.wait(elastic("beside", 1, 2));
    let mut started = case.pass(60);
    started.sort();
    assert_eq!(started, ["beside", "grows", "whole"]);
    assert_eq!(case.workers("beside"), 1, "what another project has is no matter of the team's bound");
    case
}

#[test]
fn nobody_grows_into_the_rest_of_a_limit_that_a_job_waits_for() {
    let six = Amounts::from_iter([(Resource::Gpus, 6)]);
    let limited = Quota { limit: six.clone(), ..Quota::default() };
    for (quota, rule) in
        [(limited, WaitRule::Limit), (Quota { per_person: six, ..Quota::default() }, WaitRule::PersonsCap)]
    {
        let mut case = four_of_six_are_waited_for(quota);
        assert_eq!(case.why("waits", 61).rule, rule);
        assert_eq!(case.workers("grows"), 0);
        case.end("whole", 70);
        assert_eq!(case.pass(70), ["waits"], "nothing has to be given back first");
        assert_eq!(case.workers("grows"), 1, "what it leaves of the limit");
    }
}

#[test]
fn what_gives_no_workers_back_starts_with_more_than_its_least_only_while_nobody_waits() {
    let rigid = |key: &str| {
        let spec = elastic(key, 1, 4);
        Spec { elastic: spec.elastic.map(|elastic| Elastic { scales: false, ..elastic }), ..spec }
    };
    let mut case = Case::new(8, Vec::new());
    case.wait(job("huge", 9));
    case.wait(rigid("alone"));
    assert_eq!(case.pass(0), ["alone"]);
    assert_eq!(case.workers("alone"), 3, "what can never start is not waited for");
    // It fits, but will need the capacity when its cool-down is over.
    case.wait_cooling(job("cools", 2), 0, 300);
    case.wait_since(rigid("beside"), 1);
    case.wait_since(elastic("gives", 1, 2), 2);
    assert_eq!(case.pass(2), ["beside", "gives"]);
    assert_eq!((case.workers("beside"), case.workers("gives")), (0, 1));
}

#[test]
fn what_another_scheduler_may_give_stays_within_every_bound() {
    let each = Ask::of(1000, 0, 1, 1);
    let may_have = |quota: Quota, gpus: u64| {
        let mut case = Case::new(gpus, vec![project("team", None, quota)]);
        case.wait(Spec { project: "team".into(), ..job("other", 2) });
        case.wait(Spec { project: "team".into(), ..job("grows", 2) });
        assert_eq!(case.pass(0), ["other", "grows"]);
        case.desk.may_have(case.id("grows"), &each, 16)
    };
    let most = |resource: Resource, amount: u64| Amounts::from_iter([(resource, amount)]);
    assert_eq!(may_have(Quota::default(), 100), 16);
    assert_eq!(may_have(Quota::default(), 8), 6, "others may end, but there are no more GPUs than eight");
    let limit = |resource, amount| Quota { limit: most(resource, amount), ..Quota::default() };
    assert_eq!(may_have(limit(Resource::Gpus, 9), 100), 5, "what the project holds beside it counts");
    assert_eq!(may_have(limit(Resource::Pods, 5), 100), 3);
    assert_eq!(may_have(limit(Resource::Gpus, 4), 100), 0);
    let per_person = Quota { per_person: most(Resource::Gpus, 7), ..Quota::default() };
    assert_eq!(may_have(per_person, 100), 3);
    assert_eq!(may_have(limit(Resource::Runs, 2), 100), 16, "no worker is a run");
}

#[test]
fn what_could_not_be_given_is_tried_again_only_after_a_cool_down() {
    let mut case = Case::new(8, Vec::new());
    case.wait(elastic("grows", 1, 4));
    assert_eq!(case.pass(0), ["grows"]);
    assert_eq!(case.workers("grows"), 3);
    let id = case.id("grows");
    case.desk.resized(id, 0, at(10));
    case.pass(11);
    assert_eq!(case.workers("grows"), 0);
    case.pass(10 + 301);
    assert_eq!(case.workers("grows"), 3);
}

#[test]
fn a_bound_on_runs_keeps_nobody_from_growing() {
    let limit = Amounts::from_iter([(Resource::Runs, 1)]);
    let mut case = Case::new(8, vec![project("team", None, Quota { limit, ..Quota::default() })]);
    let of = |spec: Spec| Spec { project: "team".into(), ..spec };
    case.wait(of(elastic("grows", 1, 4)));
    case.wait(of(job("waits", 1)));
    assert_eq!(case.pass(60), ["grows"]);
    assert_eq!(case.workers("grows"), 3, "no worker is a run");
}

#[test]
fn what_every_job_must_have_goes_before_what_any_has_beyond() {
    let mut case = Case::new(8, Vec::new());
    case.wait(elastic("a", 2, 8));
    case.wait(elastic("b", 3, 8));
    case.wait(job("c", 2));
    assert_eq!(case.pass(0).len(), 3);
    assert_eq!(case.workers("a") + case.workers("b"), 4, "the first workers beside six GPUs");
    // No job shrinks below its minimum, and the first worker never goes.
    case.wait_since(job("more", 2), 1);
    case.pass(1);
    assert!(case.victims().len() <= 1);
    case.desk.check().unwrap();
}

#[test]
fn an_estimate_is_the_time_that_others_take() {
    let mut case = Case::new(8, Vec::new());
    let length = cubeloom_admission::Length { median: Duration::from_secs(1000), spread: 0.1 };
    case.wait(Spec { length: Some(length), ..job("runs", 8) });
    case.pass(0);
    case.wait_since(Spec { length: Some(length), ..job("next", 8) }, 10);
    case.wait_since(job("third", 8), 20);
    case.pass(20);
    let of = |key: &str| case.desk.estimate(case.id(key), at(20), 7).unwrap();
    let (next, third) = (of("next"), of("third"));
    assert!((800..1200).contains(&(next.p50.0 / 1_000_000)), "{next:?}");
    assert!((1700..2300).contains(&(third.p50.0 / 1_000_000)) && third.p90 >= third.p50, "{third:?}");
    assert_eq!(case.desk.estimate(case.id("third"), at(20), 7), Some(third));
}

#[test]
fn nobody_can_say_when_lengths_are_unknown() {
    let mut case = Case::new(8, Vec::new());
    case.wait(job("runs", 8));
    case.pass(0);
    case.wait(job("next", 8));
    assert_eq!(case.desk.estimate(case.id("next"), at(1), 7), None);
}

#[test]
fn a_closed_projects_jobs_are_passed_over_and_keep_nothing_from_others() {
    let mut case = Case::new(4, Vec::new());
    case.desk.close(BTreeSet::from(["full".to_owned()]));
    case.wait(Spec { project: "full".into(), ..job("first", 4) });
    case.wait(job("other", 3));
    assert_eq!(case.pass(1), ["other"]);
    case.end("other", 2);
    assert!(case.pass(2).is_empty());
    case.desk.close(BTreeSet::new());
    assert_eq!(case.pass(3), ["first"]);
}
