use proptest::prelude::*;

use super::*;
use crate::outcome::Failure;
use crate::pace::Mark;

fn at(second: i64) -> Timestamp {
    Timestamp(second * 1_000_000)
}

fn attempt(created: i64, state: AttemptState, pace: Option<Pace>) -> Tried {
    Tried {
        task: TaskIx(0),
        instance: 0,
        state,
        created_at: at(created),
        pace,
        hang: None,
        gpus: 0,
        card_us: None,
    }
}

fn ended(started: Option<i64>, until: i64, outcome: Outcome) -> AttemptState {
    AttemptState::Ended { started_at: started.map(at), ended_at: at(until), outcome }
}

fn failed(kind: FailureKind) -> Outcome {
    Outcome::Failed(Failure::new(kind, "it failed"))
}

/// Steps, one every ten seconds.
fn pace(first: (i64, f64), last: (i64, f64)) -> Pace {
    let mark = |(second, step)| Mark { at: at(second), step };
    let gaps = u32::try_from((last.0 - first.0) / 10).unwrap();
    Pace {
        first: mark(first),
        last: mark(last),
        gaps,
        longest: 10_000_000,
        saving: 0,
        restoring: 0,
        behind: None,
        known: Default::default(),
    }
}

fn seconds(micros: u64) -> u64 {
    micros / 1_000_000
}

/// How the time of an instance with these attempts was spent.
fn of_instance<'a>(
    ready_at: Timestamp,
    until: Timestamp,
    attempts: impl Iterator<Item = &'a Tried>,
) -> Effective {
    let mut telling = Telling::new(ready_at, until);
    attempts.for_each(|record| telling.add(record));
    telling.end()
}

#[test]
fn each_part_of_an_attempt_is_told_apart() {
    let pace = Pace { saving: 7_000_000, restoring: 5_000_000, ..pace((60, 1.0), (160, 11.0)) };
    let one = attempt(10, ended(Some(30), 170, Outcome::Succeeded), Some(pace));
    let found = of_instance(at(0), at(170), [&one].into_iter());
    // From 30 to 60 it started, restored a checkpoint for 5 s, and did its first step in 10.
    let parts = [found.waiting, found.starting, found.restoring, found.saving, found.useful, found.again];
    assert_eq!(parts.map(seconds), [10, 20 + 15, 5, 7, 10 + 100 + 10 - 7, 0]);
    assert_eq!((seconds(found.whole()), found.ran, found.reported), (170, 1, 1));
}

#[test]
fn steps_that_a_failed_attempt_had_done_are_done_again() {
    // Ten steps, then a GPU is lost, half a minute after the last report; the next attempt restores the
    // checkpoint after step 6.
    let lost = Failure {
        last_lines: vec!["CUDA error: uncorrectable ECC error encountered".into()],
        ..Failure::new(FailureKind::Exit, "worker-0 ended with exit code 1")
    };
    let first = attempt(0, ended(Some(0), 130, Outcome::Failed(lost)), Some(pace((10, 1.0), (100, 10.0))));
    let state = AttemptState::Running { started_at: at(150) };
    let second = attempt(140, state, Some(pace((160, 7.0), (240, 15.0))));
    let found = of_instance(at(0), at(240), [&first, &second].into_iter());
    assert_eq!(found.lost, BTreeMap::from([(Cause::Gpu, 30_000_000)]));
    assert_eq!(seconds(found.again), 40, "steps 7 to 10");
    assert_eq!((seconds(found.waiting), seconds(found.starting)), (10, 10));
    assert_eq!((seconds(found.useful), seconds(found.whole())), (100 + 50, 240));
}

#[test]
fn what_reports_nothing_is_useful_while_it_runs_and_lost_when_it_fails() {
    let oom = attempt(0, ended(Some(10), 60, failed(FailureKind::OutOfMemory)), None);
    let well = attempt(60, ended(Some(70), 100, Outcome::Succeeded), None);
    let found = of_instance(at(0), at(100), [&oom, &well].into_iter());
    assert_eq!(found.lost, BTreeMap::from([(Cause::OutOfMemory, 50_000_000)]));
    assert_eq!((seconds(found.useful), found.ran, found.reported), (30, 2, 0));
    assert_eq!(found.share(), Some(0.3));
}

#[test]
fn gpus_that_did_nothing_are_not_useful_and_nothing_is_known_of_those_of_which_nobody_tells() {
    let of = |gpus, card_us| {
        let one = Tried { gpus, card_us, ..attempt(0, ended(Some(0), 100, Outcome::Succeeded), None) };
        let found = of_instance(at(0), at(100), [&one].into_iter());
        (seconds(found.useful), seconds(found.idle), seconds(found.unknown), found.share())
    };
    assert_eq!(of(8, Some(80_000_000)), (10, 90, 0, Some(0.1)));
    assert_eq!(of(2, Some(500_000_000)), (100, 0, 0, Some(1.0)), "clocks differ a little");
    assert_eq!(of(2, None), (0, 0, 100, None));
    assert_eq!(of(0, None), (100, 0, 0, Some(1.0)));
}

#[test]
fn attempts_of_before_it_was_run_again_are_not_counted() {
    let before = attempt(0, ended(Some(10), 60, failed(FailureKind::Exit)), None);
    let after = attempt(100, AttemptState::Submitting, None);
    let found = of_instance(at(90), at(120), [&before, &after].into_iter());
    assert_eq!((seconds(found.waiting), seconds(found.starting), seconds(found.whole())), (10, 20, 30));
    assert_eq!(of_instance(at(5), at(5), std::iter::empty()).share(), None);
}

#[test]
fn while_it_hangs_the_time_since_the_last_step_is_lost() {
    let hang = Hang {
        rank: 0,
        step: None,
        since: at(100),
        seen_at: at(160),
        longest: 1,
        by_cards: false,
        over: None,
        stacks: Vec::new(),
    };
    let state = AttemptState::Running { started_at: at(0) };
    let mut one = attempt(0, state, Some(pace((10, 1.0), (100, 10.0))));
    one.hang = Some(hang.clone());
    let found = of_instance(at(0), at(180), [&one].into_iter());
    assert_eq!((seconds(found.useful), &found.lost), (100, &BTreeMap::from([(Cause::Hang, 80_000_000)])));
    one.hang = Some(Hang { over: Some(at(180)), ..hang });
    assert_eq!(seconds(of_instance(at(0), at(180), [&one].into_iter()).useful), 180, "it went on");
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Succeeded),
        Just(Outcome::Cancelled),
        Just(failed(FailureKind::Exit)),
        Just(failed(FailureKind::Preempted)),
        Just(failed(FailureKind::CouldNotStart)),
    ]
}

prop_compose! {
    /// Timestamps may be anywhere: workers' clocks differ from the server's.
    fn any_pace()(
        from in 0_i64..400, until in 0_i64..400, first in -5.0..50.0, last in -5.0..50.0,
        gaps in 0_u32..9, saving in 0_u64..300_000_000, restoring in 0_u64..300_000_000,
    ) -> Pace {
        let mark = |second, step| Mark { at: at(second), step };
        let (first, last) = (mark(from, first), mark(until, last));
        Pace { first, last, gaps, longest: 1, saving, restoring, behind: None, known: Default::default() }
    }
}

prop_compose! {
    fn any_attempt()(
        created in 0_i64..400, started in proptest::option::of(0_i64..400), until in 0_i64..400,
        outcome in any_outcome(), open in any::<bool>(), pace in proptest::option::of(any_pace()),
        gpus in 0_u32..3, card_us in proptest::option::of(0_u64..900_000_000),
    ) -> Tried {
        let state = match (open, started) {
            (false, started) => ended(started, until, outcome),
            (true, Some(started)) => AttemptState::Running { started_at: at(started) },
            (true, None) => AttemptState::Submitting,
        };
        Tried { gpus, card_us, ..attempt(created, state, pace) }
    }
}

proptest! {
    #[test]
    fn the_parts_add_up_to_the_whole(
        ready in 0_i64..200, lasts in 0_i64..300,
        attempts in (any_attempt(), any_attempt(), any_attempt()),
    ) {
        let attempts = [attempts.0, attempts.1, attempts.2];
        let found = of_instance(at(ready), at(ready + lasts), attempts.iter());
        prop_assert_eq!(found.whole(), u64::try_from(lasts).unwrap() * 1_000_000);
        prop_assert!(found.reported <= found.ran);
        prop_assert!(found.share().is_none_or(|share| (0.0..=1.0).contains(&share)));
    }
}
