//! Jobs that wait on other replicas.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use common::{Case, at, cards, elastic, job, project};
use cubeloom_admission::{Ask, Desk, Elastic, JobId, Length, PendingGpus, Prospect, Settings, Spec, Tried};
use cubeloom_domain::waiting::WaitRule;
use proptest::prelude::*;

/// A job that another replica schedules.
fn foreign(spec: Spec) -> Spec {
    Spec { is_foreign: true, server: "other".into(), ..spec }
}

fn long(spec: Spec) -> Spec {
    Spec { length: Some(Length { median: Duration::from_secs(100), spread: 0.0 }), ..spec }
}

#[test]
fn an_older_job_of_another_server_is_not_overtaken() {
    let mut case = Case::new(8, Vec::new());
    case.wait_since(foreign(job("theirs", 6)), 1);
    case.wait_since(job("ours", 6), 2);
    // This replica never starts it.
    assert_eq!(case.pass(5), [""; 0]);
    let why = case.why("ours", 5);
    assert_eq!((why.rule, why.ahead), (WaitRule::Behind, 1));
    assert_eq!(why.head.map(|head| head.key).as_deref(), Some("theirs"));
    // Its own replica has started it.
    case.end("theirs", 6);
    case.desk.hold(foreign(job("theirs", 6)), 0, at(6), at(6));
    assert_eq!(case.pass(6), [""; 0]);
    assert_eq!((case.why("ours", 6).rule, case.why("ours", 6).ahead), (WaitRule::Capacity, 0));
}

#[test]
fn priority_and_age_order_jobs_of_all_servers() {
    let mut case = Case::new(8, Vec::new());
    case.wait_since(foreign(job("small", 6)), 1);
    case.wait_since(job("beside", 2), 2);
    assert_eq!(case.pass(3), ["beside"], "no more than its own room is kept for it");
    let mut case = Case::new(8, Vec::new());
    case.wait_since(foreign(job("older", 8)), 1);
    case.wait_since(Spec { priority: 1, ..job("urgent", 8) }, 2);
    assert_eq!(case.pass(3), ["urgent"]);
    let mut case = Case::new(8, Vec::new());
    case.wait_since(job("older", 8), 1);
    case.wait_since(foreign(Spec { priority: 1, ..job("urgent", 8) }), 2);
    assert_eq!(case.pass(3), [""; 0]);
    // Jobs of equal age are ordered by their runs, which are the same everywhere, whichever was seen first.
    for (own, other, started) in [(1, 2, vec!["own"]), (2, 1, Vec::new())] {
        let mut case = Case::new(8, Vec::new());
        case.wait_since(Spec { run: own, ..job("own", 8) }, 1);
        case.wait_since(foreign(Spec { run: other, ..job("other", 8) }), 1);
        assert_eq!(case.pass(3), started);
    }
}

#[test]
fn the_queue_for_gpus_is_that_of_all_servers() {
    let mut case = Case::new(8, Vec::new());
    assert_eq!(case.desk.pending_gpus(), PendingGpus::default());
    case.wait_since(job("runs", 6), 1);
    case.pass(1);
    case.wait_since(foreign(job("theirs", 4)), 5);
    case.wait_since(elastic("ours", 3, 8), 3);
    case.wait_since(job("without", 0), 2);
    let found = case.desk.pending_gpus();
    assert_eq!((found.jobs, found.gpus, found.since), (2, 7, Some(at(3))), "of elastic jobs, the minimum");
}

#[test]
fn what_a_head_of_another_server_needs_is_filled_in_only_with_what_delays_it_not() {
    let mut case = Case::new(8, Vec::new());
    let lasting =
        |name: &str, gpus, seconds| Spec { timeout: Some(Duration::from_secs(seconds)), ..job(name, gpus) };
    case.wait(lasting("runs", 6, 100));
    case.pass(0);
    case.wait_since(foreign(job("wide", 8)), 1);
    case.wait_since(lasting("too-long", 2, 100), 2);
    case.wait_since(lasting("in-time", 2, 60), 3);
    assert_eq!(case.pass(30), ["in-time"]);
}

#[test]
fn elastic_workers_go_for_a_job_of_another_server_that_its_own_could_not_help() {
    let mut case = Case::new(8, Vec::new());
    case.wait(elastic("wide", 2, 8));
    assert_eq!((case.pass(0), case.workers("wide")), (vec!["wide".to_owned()], 7));
    case.wait_since(foreign(job("theirs", 4)), 10);
    // Its own replica may still preempt others.
    case.pass(11);
    assert_eq!(case.victims(), [""; 0]);
    assert_eq!(case.last.as_ref().unwrap().again, Some(at(20)));
    case.pass(20);
    assert_eq!(case.victims(), ["wide"]);
    let job = case.id("wide");
    case.desk.resized(job, 3, at(21));
    case.wait_since(common::job("late", 1), 12);
    assert_eq!(case.pass(21), [""; 0], "what became free is kept for it");
    assert_eq!(case.workers("wide"), 3, "and nobody grows into it");
}

#[test]
fn a_whole_job_goes_for_what_is_guaranteed_to_one_of_another_server() {
    let mut case = Case::new(8, vec![project("owner", None, cards(4))]);
    case.wait(Spec { project: "borrower".into(), ..job("first", 4) });
    case.wait(Spec { project: "borrower".into(), ..job("second", 4) });
    assert_eq!(case.pass(0).len(), 2);
    case.wait_since(foreign(Spec { project: "owner".into(), ..job("theirs", 4) }), 5);
    case.pass(6);
    assert_eq!(case.victims(), [""; 0]);
    case.pass(15);
    assert_eq!(case.victims().len(), 1);
}

#[test]
fn room_is_not_kept_for_ever_for_what_does_not_start() {
    let mut case = Case::new(8, Vec::new());
    case.wait_since(foreign(job("first", 8)), 1);
    case.wait_since(foreign(job("second", 8)), 1);
    case.wait_since(job("ours", 8), 2);
    assert_eq!(case.pass(10), [""; 0]);
    // From then on, jobs of this replica may be preempted for the second one.
    assert_eq!(case.last.as_ref().unwrap().again, Some(at(11)));
    assert_eq!(case.pass(11), [""; 0]);
    assert_eq!(case.last.as_ref().unwrap().again, Some(at(70)), "the time is over then");
    assert_eq!(case.pass(69), [""; 0]);
    assert_eq!(case.why("ours", 69).ahead, 2);
    // Nor for other jobs of a replica that has started none.
    assert_eq!(case.pass(70), ["ours"]);
    case.end("ours", 71);
    case.wait_since(job("more", 8), 71);
    assert_eq!(case.pass(71), ["more"], "they keep nothing from now on");
    case.end("more", 72);
    // One of them has started: that replica works, although the job was not one with a reservation.
    case.end("first", 73);
    case.wait_since(job("late", 8), 73);
    assert_eq!(case.pass(73), ["late"]);
    case.end("late", 74);
    case.wait_since(job("later", 8), 600);
    assert_eq!(case.pass(669), ["later"]);
    case.end("later", 670);
    // After a while it gets reservations again.
    case.wait_since(job("last", 8), 670);
    assert_eq!(case.pass(670), [""; 0]);
}

#[test]
fn only_the_one_that_does_not_start_keeps_nothing_while_others_of_its_server_do() {
    let mut case = Case::new(4, Vec::new());
    case.wait_since(foreign(job("a-stuck", 2)), 1);
    case.wait_since(job("ours", 2), 50);
    for step in 0..12 {
        case.wait_since(foreign(job(&format!("b-{step}"), 2)), 2 + step);
    }
    for step in 0..12 {
        let now = 60 + step * 5;
        assert_eq!(case.pass(now), [""; 0], "{now}");
        case.end(&format!("b-{step}"), now);
    }
    assert_eq!(case.pass(121), ["ours"]);
}

#[test]
fn a_forecast_counts_what_waits_elsewhere() {
    let mut case = Case::new(8, Vec::new());
    case.wait(long(job("runs", 8)));
    case.pass(0);
    case.wait_since(foreign(long(job("theirs", 8))), 1);
    case.wait_since(long(job("ours", 8)), 2);
    case.pass(3);
    let start = case.desk.estimate(case.id("ours"), at(3), 1).unwrap();
    assert!(start.p50 >= at(200), "both have ended then: {start:?}");
    // Also for a job that is pending there.
    assert_eq!(case.desk.estimate(case.id("theirs"), at(3), 1).unwrap().p50, at(100));
    assert_eq!(case.why("theirs", 3).rule, WaitRule::Capacity);
    let tried = Tried { spec: long(job("new", 8)), is_first: true };
    let Prospect::Waits { why, start, .. } = &case.desk.what_if(vec![tried], at(4), 1, &mut || true)[0]
    else {
        panic!("it has no room")
    };
    assert_eq!(why.ahead, 2);
    assert!(start.unwrap().p50 >= at(300));
}

#[test]
fn a_job_of_another_server_never_grows_here() {
    let mut case = Case::new(8, Vec::new());
    let theirs = foreign(elastic("theirs", 2, 8));
    assert_eq!(theirs.elastic.as_ref().map(|elastic: &Elastic| elastic.max), Some(7));
    case.wait_since(theirs, 1);
    case.wait_since(job("ours", 6), 2);
    assert_eq!(case.pass(3), ["ours"], "its least alone is kept");
    assert_eq!(case.last.as_ref().unwrap().grows, []);
}

/// The view of one of two replicas.
struct Side {
    desk: Desk,
    name: &'static str,
    ids: BTreeMap<usize, JobId>,
}

#[derive(Clone, Debug)]
struct Plan {
    side: usize,
    gpus: u64,
    priority: i32,
    since: u64,
    takes: u64,
}

fn plan() -> impl Strategy<Value = Plan> {
    (0..2usize, 1..9u64, 0..2i32, 0..30u64, 1..40u64).prop_map(|(side, gpus, priority, since, takes)| Plan {
        side,
        gpus,
        priority,
        since,
        takes,
    })
}

impl Side {
    fn new(name: &'static str, gpus: u64) -> Self {
        let mut desk = Desk::new("test", Settings::default());
        desk.set_room(Ask::of(1 << 40, 1 << 50, 0, gpus), BTreeMap::new());
        Self { desk, name, ids: BTreeMap::new() }
    }

    fn spec(&self, number: usize, plan: &Plan) -> Spec {
        let server = ["one", "two"][plan.side];
        let spec =
            Spec { run: number as u128, priority: plan.priority, ..job(&number.to_string(), plan.gpus) };
        let is_foreign = server != self.name;
        // The shares of projects differ, too.
        Spec { is_foreign, server: server.into(), project: (number % 3).to_string(), ..spec }
    }
}

/// Two replicas that remember usage of different projects.
fn two_sides(past: [usize; 2]) -> [Side; 2] {
    let mut sides = [Side::new("one", 8), Side::new("two", 8)];
    for (side, project) in sides.iter_mut().zip(past) {
        let held = Spec { project: project.to_string(), ..job("past", 8) };
        let id = side.desk.hold(held, 0, at(0), at(0));
        side.desk.remove(id, at(BEGIN));
    }
    sides
}

/// When the usage history of both replicas has decayed.
const BEGIN: u64 = 50_000;

/// Schedules the jobs of two replicas to their ends, except those of a `blind` replica, which does not see
/// the cluster. Returns when the last job has ended, or a job that never starts.
fn lead(sides: &mut [Side; 2], plans: &[Plan], begin: u64, blind: Option<usize>) -> Result<u64, Vec<usize>> {
    for side in &mut *sides {
        for (number, plan) in plans.iter().enumerate() {
            let spec = side.spec(number, plan);
            side.ids.insert(number, side.desk.wait(spec, at(begin - 30 + plan.since), None));
        }
    }
    let mut ends: Vec<(u64, usize)> = Vec::new();
    let mut open: Vec<usize> = (0..plans.len()).filter(|at| Some(plans[*at].side) != blind).collect();
    let limit = begin + 100 + 12 * (60 + 40 + 10) * 2;
    let mut now = begin;
    while !open.is_empty() || !ends.is_empty() {
        if now >= limit {
            return Err(open);
        }
        for (_, number) in ends.iter().filter(|(end, _)| *end <= now) {
            for side in &mut *sides {
                let id = side.ids.remove(number).unwrap();
                side.desk.remove(id, at(now));
            }
        }
        ends.retain(|(end, _)| *end > now);
        for own in 0..2 {
            let starts = sides[own].desk.pass(at(now), usize::MAX).starts;
            for start in starts {
                let number: usize = sides[own].desk.spec(start.job).unwrap().key.parse().unwrap();
                assert_eq!(plans[number].side, own, "it is another server's");
                open.retain(|one| *one != number);
                ends.push((now + plans[number].takes, number));
                // The other replica learns of it.
                let other = &mut sides[1 - own];
                let spec = other.spec(number, &plans[number]);
                let waits = other.ids.remove(&number).unwrap();
                other.desk.remove(waits, at(now));
                other.ids.insert(number, other.desk.hold(spec, 0, at(now), at(now)));
            }
        }
        now += 5;
    }
    Ok(now)
}

#[test]
fn two_servers_that_order_two_projects_differently_wait_for_each_other_once() {
    // Each replica remembers that its own project used much, so each puts the other's first.
    let mut sides = two_sides([0, 1]);
    let plans = [0, 1].map(|side| Plan { side, gpus: 8, priority: 0, since: 0, takes: 20 });
    let mut now = BEGIN;
    for _ in 0..6 {
        now = lead(&mut sides, &plans, now, None).unwrap();
    }
    let (round, lease) = (2 * (20 + 5) + 5, 60);
    let took = now - BEGIN;
    assert!((6 * 40 + lease..=6 * round + lease).contains(&took), "{took}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Two replicas with different capacity and usage history never block each other forever. Each job starts
    /// within the time of the jobs ahead plus the reservation timeout.
    #[test]
    fn two_servers_never_block_each_other_for_ever(
        plans in prop::collection::vec(plan(), 1..12),
        past in (0..3usize, 0..3usize),
        blind in prop::option::of(0..2usize),
    ) {
        let mut sides = two_sides([past.0, past.1]);
        // One replica may not see the cluster at all: its pending jobs never start.
        if let Some(blind) = blind {
            sides[blind].desk.set_room(Ask::default(), BTreeMap::new());
        }
        let ended = lead(&mut sides, &plans, BEGIN + 30, blind);
        prop_assert!(ended.is_ok(), "{ended:?} never start");
    }
}
