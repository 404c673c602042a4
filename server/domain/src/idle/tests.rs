use crate::pace::{Behind, Mark};
use crate::quantity::Span;

use super::*;

/// Utilization in percent and power in watts of a GPU, as in real series. The phases are: without a
/// program; loading data; training; writing a checkpoint; and waiting for another that is gone.
const NOTHING: (u32, u64) = (0, 70);
const LOADS: (u32, u64) = (0, 118);
const TRAINS: (u32, u64) = (97, 612);
const SAVES: (u32, u64) = (0, 131);
const WAITS: (u32, u64) = (0, 124);
/// Collective calls of a polling library keep a GPU busy, although it draws little.
const POLLS: (u32, u64) = (100, 154);

fn at(second: i64) -> Timestamp {
    Timestamp(second * 1_000_000)
}

/// A worker's series, with a sample per second.
fn worker(index: u32, parts: &[((u32, u64), i64)]) -> WorkerUsage {
    let mut samples = Vec::new();
    for ((use_percent, watts), seconds) in parts {
        for _ in 0..*seconds {
            let cards = CardsSample {
                cards: 1,
                use_percent: *use_percent,
                memory: Bytes(1 << 34),
                power_mw: watts * 1000,
            };
            samples.push(UsageSample {
                at: at(samples.len() as i64),
                cpu_us: 0,
                memory: Bytes(1 << 30),
                throttled_us: None,
                cpu_wait_us: None,
                disk_read: None,
                disk_written: None,
                io_wait_us: None,
                cards: Some(cards),
            });
        }
    }
    WorkerUsage { worker: WorkerName { role: "worker".into(), index }, samples }
}

/// Four minutes of loading and training with three checkpoints of 20 seconds, then `last` for this long.
fn trained(index: u32, last: (u32, u64), seconds: i64) -> WorkerUsage {
    let mut parts = vec![(NOTHING, 5), (LOADS, 95)];
    for _ in 0..3 {
        parts.extend([(TRAINS, 100), (SAVES, 20)]);
    }
    parts.extend([(TRAINS, 40), (last, seconds)]);
    worker(index, &parts)
}

/// When `trained` reaches its last part.
const LAST: i64 = 500;

fn policy(seconds: u64) -> HangPolicy {
    HangPolicy { after: Span(Duration::from_secs(seconds)), ..HangPolicy::default() }
}

fn found(workers: &[WorkerUsage], pace: Option<&Pace>, after: u64, now: i64) -> Option<Hang> {
    judge(&look(workers, workers.len() as u32, at(now))?, pace, &policy(after), at(now))
}

#[test]
fn a_gang_whose_cards_have_all_fallen_idle_for_longer_than_ever_hangs() {
    let gang = [trained(0, WAITS, 400), trained(1, WAITS, 400)];
    let idle = look(&gang, 2, at(LAST + 399)).unwrap();
    assert_eq!((idle.since, idle.longest, idle.worked), (at(LAST), 20_000_000, 340_000_000));
    assert_eq!(found(&gang, None, 300, LAST + 299), None);
    let hang = found(&gang, None, 300, LAST + 300).unwrap();
    assert_eq!((hang.since, hang.by_cards), (at(LAST), true));
    let said = "its GPUs have been idle for 5m; the longest idle time before was 20s";
    assert_eq!(hang.sentence(), said);
    // Its pattern has gaps of 20 seconds: three times that is no hang, even with the shortest setting.
    assert_eq!(found(&gang, None, 1, LAST + 59), None);
    assert!(found(&gang, None, 1, LAST + 60).is_some());
}

#[test]
fn a_card_at_work_anywhere_is_no_hang_nor_is_one_that_polls() {
    assert_eq!(look(&[trained(0, WAITS, 400), trained(1, TRAINS, 400)], 2, at(LAST + 399)), None);
    assert_eq!(look(&[trained(0, WAITS, 400), trained(1, POLLS, 400)], 2, at(LAST + 399)), None);
    // Idle, but it draws much: power is reported with a delay.
    assert_eq!(look(&[trained(0, (0, 580), 400)], 1, at(LAST + 399)), None);
}

#[test]
fn what_has_not_worked_yet_and_what_is_not_told_of_any_more_says_nothing() {
    let loading = [worker(0, &[(NOTHING, 5), (LOADS, 900)])];
    assert_eq!(found(&loading, None, 300, 904), None);
    let short = [worker(0, &[(NOTHING, 5), (TRAINS, 50), (WAITS, 900)])];
    assert_eq!(found(&short, None, 300, 954), None);
    let silent = [trained(0, WAITS, 400)];
    assert_eq!(look(&silent, 1, at(LAST + 399 + 11)), None);
    assert_eq!(look(&[], 0, at(5)), None);
    let without = WorkerUsage { samples: Vec::new(), ..worker(0, &[]) };
    assert_eq!(look(&[without], 1, at(5)), None);
}

#[test]
fn workers_that_were_given_back_do_not_count_and_those_that_fell_silent_do() {
    // The second one was removed while it was busy.
    let gang = [trained(0, WAITS, 400), worker(1, &[(LOADS, 100), (TRAINS, 200)])];
    let idle = look(&gang, 1, at(LAST + 399)).unwrap();
    assert_eq!((idle.since, idle.worked), (at(LAST), 340_000_000));
    assert_eq!(look(&gang, 2, at(LAST + 399)), None, "it is silent, and may be at work");
    // A remaining one is silent as well.
    let gang = [gang[1].clone(), trained(2, TRAINS, 1), trained(3, WAITS, 400)];
    assert_eq!(look(&gang, 2, at(LAST + 399)), None);
    assert!(look(&gang, 1, at(LAST + 399)).is_some());
}

#[test]
fn what_waits_for_others_to_want_something_of_it_does_not_hang() {
    // A server with occasional requests, and none for a long time.
    let mut parts = vec![(LOADS, 100)];
    for _ in 0..10 {
        parts.extend([(TRAINS, 40), (WAITS, 60)]);
    }
    let quiet = [worker(0, &[&parts[..], &[(TRAINS, 40), (WAITS, 2000)]].concat())];
    let idle = look(&quiet, 1, at(3139)).unwrap();
    assert_eq!((idle.longest, idle.idled, idle.worked), (60_000_000, 600_000_000, 440_000_000));
    assert_eq!(found(&quiet, None, 300, 3139), None);
    // A server with its first request just now: its usual pattern is unknown.
    let first = [worker(0, &[(LOADS, 100), (TRAINS, 200), (WAITS, 2000)])];
    assert_eq!(found(&first, None, 300, 2299), None);
    assert!(found(&first, None, 200, 2299).is_some());
}

#[test]
fn where_power_is_not_told_use_alone_counts() {
    let gang = [worker(0, &[((90, 0), 100), ((0, 0), 10), ((90, 0), 100), ((0, 0), 400)])];
    assert_eq!(look(&gang, 1, at(609)).map(|idle| idle.since), Some(at(210)));
}

#[test]
fn a_program_that_still_reports_steps_or_is_done_with_them_does_not_hang() {
    let gang = [trained(0, WAITS, 400)];
    let pace = |last: i64, behind: bool| Pace {
        first: Mark { at: at(100), step: 1.0 },
        last: Mark { at: at(last), step: 9.0 },
        gaps: 2,
        longest: 1,
        saving: 0,
        restoring: 0,
        behind: behind.then_some(Behind { rank: 3, since: at(last), step: 9.0, read_later: false }),
        known: Default::default(),
    };
    assert_eq!(found(&gang, Some(&pace(LAST + 100, true)), 300, LAST + 399), None);
    assert_eq!(found(&gang, Some(&pace(LAST - 1, false)), 300, LAST + 399), None);
    let hang = found(&gang, Some(&pace(LAST - 1, true)), 300, LAST + 399).unwrap();
    assert_eq!((hang.rank, hang.step), (3, Some(9.0)));
}

/// Interval between two values of an exporter, in seconds.
const EVERY: f64 = 15.0;

/// Ten minutes busy, then idle for this many minutes. GPUs draw 300 W when busy, and 60 W otherwise.
fn told_worker(name: &str, idle: u32, tells_power: bool) -> WorkerUsage {
    let points = |at_work: f64, at_rest: f64| {
        let value = move |n: u32| if n < 40 { at_work } else { at_rest };
        (0..40 + idle * 4).map(|n| [f64::from(n) * EVERY, value(n)]).collect()
    };
    let mut lines = BTreeMap::from([(Measure::CardUse, points(80.5, 0.0))]);
    if tells_power {
        lines.insert(Measure::CardPower, points(300.0, 60.0));
    }
    told(WorkerLines { worker: name.into(), lines, ..WorkerLines::default() })
}

fn hangs_by_lines(workers: &[WorkerUsage], has: u32, minutes: i64) -> bool {
    let now = Timestamp(minutes * 60_000_000);
    let seen = look(workers, has, now);
    seen.is_some_and(|seen| judge(&seen, None, &HangPolicy::default(), now).is_some())
}

#[test]
fn cards_that_fall_idle_are_a_sign_by_what_exporters_tell_too() {
    for tells_power in [true, false] {
        let both =
            |idle| [told_worker("worker-0", idle, tells_power), told_worker("worker-1", idle, tells_power)];
        assert!(!hangs_by_lines(&both(9), 2, 19), "not for long enough");
        assert!(hangs_by_lines(&both(12), 2, 22));
        let [first, _] = both(12);
        assert!(!hangs_by_lines(&[first], 2, 60), "nothing has been told for long");
    }
    let works = told(WorkerLines {
        lines: [(Measure::CardUse, (0..88).map(|n| [f64::from(n) * EVERY, 0.2]).collect())].into(),
        ..WorkerLines::default()
    });
    assert!(!hangs_by_lines(&[told_worker("worker-0", 12, true), works], 2, 22), "the least use is some");
    assert!(!hangs_by_lines(&[], 2, 22) && Duration::from_secs(600) == HangPolicy::default().after.0);
}

#[test]
fn what_lies_between_two_samples_was_never_seen() {
    // A week of alternating phases, thinned to a sample every five minutes, with ten idle minutes at its end.
    let lines = |rest: u32| {
        let value = move |n: u32| if n >= 2000 - rest { 0.0 } else { 80.0 };
        let points = (0..2000).map(|n| [f64::from(n) * 300.0, value(n)]).collect();
        told(WorkerLines { lines: [(Measure::CardUse, points)].into(), ..WorkerLines::default() })
    };
    let end = 2000 * 300;
    assert_eq!(found(&[lines(2)], None, 600, end), None, "it may have rested as long before");
    assert!(found(&[lines(3)], None, 600, end).is_some(), "three times what may not have been seen");
    let idle = look(&[lines(3)], 1, at(end)).unwrap();
    assert!(!idle.began_after(at(end - 1500)), "the same moment, told less finely");
    assert!(idle.began_after(at(end - 1501)), "it has worked since");
}
