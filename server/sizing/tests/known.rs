//! What failed attempts teach, and attempts submitted at the same time.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::HashMap;

use cubeloom_sizing::generate::{self, Kind};
use cubeloom_sizing::replay::{Decided, replay};
use cubeloom_sizing::{Advice, Attempt, Basis, Learner, Policy, Settings, Status, built_in};

const GIB: f64 = 1024.0 * 1024.0 * 1024.0;

/// The n-th attempt of `task`, an hour long, one after the other, with a request of 16 GiB.
fn attempt(n: u32, peak: f64) -> Attempt {
    Attempt {
        task: "task".into(),
        submitted: f64::from(n) * 7200.0,
        started: None,
        finished: f64::from(n) * 7200.0 + 3600.0,
        requested_cpu: 4.0,
        requested_memory: 16.0 * GIB,
        peak_memory: peak * GIB,
        cpu_used: 1.0,
        input: None,
        status: Status::Succeeded,
    }
}

fn failed(n: u32, peak: f64) -> Attempt {
    Attempt { status: Status::Failed, ..attempt(n, peak) }
}

/// One whose memory follows its input.
fn of_input(n: u32) -> Attempt {
    let input = f64::from(1 + n % 20) * 0.2;
    Attempt { input: Some(input * GIB), ..attempt(n, 0.5 + 2.0 * input) }
}

fn learned(attempts: impl IntoIterator<Item = Attempt>) -> Learner {
    let mut learner = Learner::new(Settings::default());
    attempts.into_iter().for_each(|attempt| learner.learn(&attempt, None));
    learner
}

fn advise(learner: &Learner) -> Advice {
    learner.advise("task", 16.0 * GIB, 4.0, None, 0)
}

/// Attempts of about this many GiB.
fn about(peak: f64, numbers: std::ops::Range<u32>) -> impl Iterator<Item = Attempt> {
    numbers.map(move |n| attempt(n, peak + 0.01 * f64::from(n % 3)))
}

/// A program that fails early has not needed its memory yet, however often it does.
#[test]
fn early_crashes_change_nothing_of_what_is_known() {
    let before = learned(about(12.0, 0..30));
    let mut crashed = before.clone();
    // It also does not show whether the recommendation was enough.
    let advised = Advice { memory: 0.05 * GIB, cpu: 1.0, basis: Basis::Peaks(30) };
    for n in 30..60 {
        let early = Attempt { finished: f64::from(n) * 7200.0 + 2.0, ..failed(n, 0.1) };
        crashed.learn(&early, Some(&advised));
    }
    assert_eq!(advise(&crashed), advise(&before));
    assert!(advise(&crashed).memory > 12.0 * GIB, "{:?}", advise(&crashed));
    let risk = |learner: &Learner, gib: f64| learner.chance("task", gib * GIB, None, 0).unwrap();
    for gib in [0.2, 2.0, 12.01, 14.0] {
        assert_eq!(risk(&crashed, gib), risk(&before, gib), "{gib}");
    }
    // A few successful attempts are not more representative because of failed ones, even while many others
    // run.
    let few = || about(6.0, 0..4);
    let beside = learned(few().chain((4..20).map(|n| failed(n, 0.1))));
    for running in [0, 20, 40] {
        let of = |learner: &Learner| learner.advise("task", 64.0 * GIB, 4.0, None, running);
        assert_eq!(of(&beside), of(&learned(few())), "{running}");
    }
}

#[test]
fn a_new_task_that_only_crashes_gets_what_it_asks_for() {
    let learner = learned((0..20).map(|n| failed(n, 0.1)));
    let advice = advise(&learner);
    assert_eq!((advice.memory, advice.cpu, advice.basis), (16.0 * GIB, 4.0, Basis::Request));
    assert_eq!(learner.chance("task", 16.0 * GIB, None, 0), None);
    // What an attempt has used is a lower bound, even above the request.
    let beyond = advise(&learned([failed(0, 20.0), failed(1, 0.1)]));
    assert!(beyond.memory > 20.0 * GIB && beyond.memory < 24.0 * GIB, "{beyond:?}");
    assert_eq!(beyond.basis, Basis::Request);
    let beyond = advise(&learned(about(15.0, 0..5).chain([failed(5, 20.0)])));
    assert!(beyond.memory > 20.0 * GIB && beyond.basis == Basis::Peaks(5), "{beyond:?}");
}

#[test]
fn the_largest_peak_of_one_that_failed_is_needed_at_least() {
    let (before, after) = (learned(about(2.0, 0..30)), learned(about(2.0, 0..30).chain([failed(30, 6.0)])));
    let advice = advise(&after);
    assert!(advise(&before).memory < 4.0 * GIB, "{:?}", advise(&before));
    assert!(advice.memory > 6.0 * GIB && advice.memory < 8.0 * GIB, "{advice:?}");
    assert_eq!(advice.basis, Basis::Peaks(30), "it is none of those that count");
    let risk = |learner: &Learner| learner.chance("task", 5.0 * GIB, None, 0).unwrap();
    assert!(risk(&after) > 10.0 * risk(&before), "{} {}", risk(&after), risk(&before));
    // Later and smaller ones do not hide it. Successful attempts do, once none before them counts.
    let then = |count: u32| {
        let crashes = (31..91).map(|n| failed(n, 3.0 - 0.01 * f64::from(n)));
        advise(&learned(
            about(2.0, 0..30).chain([failed(30, 6.0)]).chain(crashes).chain(about(2.0, 91..91 + count)),
        ))
    };
    assert!(then(0).memory > 6.0 * GIB && then(59).memory > 6.0 * GIB, "{:?}", then(59));
    assert!(then(60).memory < 4.0 * GIB, "{:?}", then(60));
}

#[test]
fn another_version_forgets_those_that_failed_too() {
    let after = |count: u32| {
        let earlier = about(12.0, 0..30).chain([failed(30, 13.0)]);
        advise(&learned(earlier.chain(about(2.0, 31..31 + count)))).memory
    };
    assert!(after(9) > 13.0 * GIB && after(10) < 4.0 * GIB, "{} {}", after(9), after(10));
    // One of the new version counts.
    let later = about(12.0, 0..30).chain(about(2.0, 30..35)).chain([failed(35, 5.0)]);
    let advice = advise(&learned(later.chain(about(2.0, 36..41))));
    assert!(advice.memory > 5.0 * GIB && advice.memory < 12.0 * GIB, "{advice:?}");
}

/// Changes the first twelve of each forty attempts of a task to programs that fail at once.
fn crashing(mut trace: Vec<Attempt>) -> Vec<Attempt> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for attempt in &mut trace {
        let count = counts.entry(attempt.task.clone()).or_default();
        if *count % 40 < 12 {
            attempt.status = Status::Failed;
            attempt.peak_memory *= 0.02;
            attempt.finished = attempt.submitted + 2.0;
        }
        *count += 1;
    }
    trace
}

#[test]
fn tasks_that_crash_at_times_run_out_of_memory_no_more_often() {
    let scores = Kind::ALL.map(|kind| {
        let trace = crashing(generate::trace(kind, 6_000, 1));
        let [own, asked] = ["cubeloom", "request"]
            .map(|name| replay(&trace, built_in(name).unwrap().as_mut(), Decided::AtSubmission));
        (own.out_of_memory_rate(), (own.gb_hours / asked.gb_hours).ln())
    });
    let mean = |of: fn(&(f64, f64)) -> f64| scores.iter().map(of).sum::<f64>() / scores.len() as f64;
    let (rate, memory) = (mean(|of| of.0), mean(|of| of.1).exp());
    assert!(rate <= 0.003 && memory <= 0.6, "{memory} of what was asked for, {rate} out of memory");
}

#[test]
fn one_that_failed_far_beyond_the_line_counts_by_its_input() {
    let with = |peak: f64| {
        let more = Attempt { input: Some(GIB), ..failed(40, peak) };
        learned((0..40).map(of_input).chain([more]))
    };
    let of = |learner: &Learner| learner.advise("task", 16.0 * GIB, 4.0, Some(GIB), 0);
    let before = learned((0..40).map(of_input));
    // The line predicts 2.5 GiB.
    assert_eq!(of(&with(0.1)), of(&before));
    assert!(of(&before).memory < 4.0 * GIB, "{:?}", of(&before));
    let advice = of(&with(5.0));
    assert!(advice.memory > 5.0 * GIB && advice.memory < 8.0 * GIB, "{advice:?}");
    assert_eq!(advice.basis, Basis::Inputs(40));
    let risk = |learner: &Learner| learner.chance("task", 4.0 * GIB, Some(GIB), 0).unwrap();
    assert!(risk(&with(5.0)) > 0.02 && risk(&before) < 0.01, "{} {}", risk(&with(5.0)), risk(&before));
}

#[test]
fn a_larger_one_that_failed_hides_no_other_that_asked_for_less_or_had_a_smaller_input() {
    let failed = |asked: f64, peak: f64, input: f64| Attempt {
        requested_memory: asked * GIB,
        input: Some(input * GIB),
        ..failed(40, peak)
    };
    let of = |learner: &Learner| learner.advise("task", 16.0 * GIB, 4.0, Some(0.2 * GIB), 0).memory;
    let small_input = failed(16.0, 5.0, 0.2);
    let alone = of(&learned((0..40).map(of_input).chain([small_input.clone()])));
    // This one is on the line.
    let both = of(&learned((0..40).map(of_input).chain([small_input, failed(16.0, 8.4, 4.0)])));
    assert!(alone > 5.0 * GIB && both > 5.0 * GIB, "{alone} {both}");

    let of = |attempts: Vec<Attempt>| learned(attempts).advise("task", 16.0 * GIB, 4.0, None, 0).memory;
    let without = |asked, peak| Attempt { input: None, ..failed(asked, peak, 0.0) };
    assert!(of(vec![without(16.0, 20.0)]) > 20.0 * GIB);
    assert!(of(vec![without(16.0, 20.0), without(32.0, 24.0)]) > 20.0 * GIB);
}

#[test]
fn where_nobody_knows_the_input_of_one_that_failed_the_line_does_not_hide_it() {
    let unknown = Attempt { input: None, ..failed(40, 12.0) };
    let of = |learner: &Learner| learner.advise("task", 16.0 * GIB, 4.0, Some(GIB), 0).memory;
    assert!(of(&learned((0..40).map(of_input))) < 4.0 * GIB);
    assert!(of(&learned((0..40).map(of_input).chain([unknown]))) > 12.0 * GIB);
}

#[test]
fn after_too_little_memory_the_next_gets_no_less_than_another_has_used() {
    let ran_out = Attempt { status: Status::OutOfMemory, requested_memory: 4.0 * GIB, ..failed(0, 4.0) };
    let more = Attempt { requested_memory: 4.0 * GIB, ..failed(1, 10.0) };
    let advice = learned([ran_out, more]).advise("task", 4.0 * GIB, 4.0, None, 0);
    assert!(advice.memory > 10.0 * GIB, "{advice:?}");
    assert_eq!(advice.basis, Basis::OutOfMemory);
}

/// Delegates to another rule, and keeps its last result.
struct Latest(Box<dyn Policy>, f64);

impl Policy for Latest {
    fn size(&mut self, index: usize, attempt: &Attempt) -> (f64, f64) {
        let size = self.0.size(index, attempt);
        self.1 = size.0;
        size
    }

    fn learn(&mut self, index: usize, attempt: &Attempt) {
        self.0.learn(index, attempt);
    }
}

/// Memory that an attempt of another task gets, in bytes, after a burst with these inputs and peaks,
/// submitted this many seconds apart. They end one after the other. Recommendations that were too low for
/// them count for the other task, too.
fn after_burst(burst: &[(f64, f64)], apart: f64) -> f64 {
    let other = |n| Attempt { task: "other".into(), ..of_input(n) };
    let past = (0..40).flat_map(|n| [of_input(n), other(n)]);
    let many = (0_u32..).zip(burst).map(|(k, (input, peak))| {
        let began = attempt(40, *peak);
        let (submitted, finished) = (began.submitted + f64::from(k) * apart, began.finished + f64::from(k));
        Attempt { submitted, finished, input: Some(input * GIB), ..began }
    });
    let trace: Vec<Attempt> = past.chain(many).chain([other(50)]).collect();
    let mut latest = Latest(built_in("cubeloom").unwrap(), 0.0);
    let _ = replay(&trace, &mut latest, Decided::AtSubmission);
    latest.1
}

/// Workflows submit many attempts in the same second.
#[test]
fn those_that_are_submitted_together_teach_as_much_as_one_after_the_other() {
    for burst in [
        // Each needs far more than it gets.
        &[(1.0, 14.0), (1.0, 14.0), (1.0, 14.0)][..],
        // Each gets enough; the first to end would not have had enough with what the last one got.
        &[(4.0, 8.5), (0.2, 0.9)][..],
    ] {
        let (together, apart) = (after_burst(burst, 0.0), after_burst(burst, 0.001));
        assert!((together / apart - 1.0).abs() < 1e-4, "{burst:?}: {together} and {apart}");
    }
    // The number of recommendations that were too low does count.
    let (one, three) = (after_burst(&[(1.0, 14.0)], 0.0), after_burst(&[(1.0, 14.0); 3], 0.0));
    assert!(three > one * 1.005, "{one} {three}");
}
