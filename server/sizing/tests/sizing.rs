//! Recommendations, and the cost that a replay computes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::HashMap;

use cubeloom_sizing::generate::{self, Kind};
use cubeloom_sizing::replay::{Decided, Score, replay};
use cubeloom_sizing::{
    Advice, Attempt, BOUNDS, BUILT_IN, Basis, Learner, MANY, Policy, Settings, Status, built_in, trace,
};
use proptest::prelude::*;

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

fn learned(attempts: impl IntoIterator<Item = Attempt>) -> Learner {
    let mut learner = Learner::new(Settings::default());
    attempts.into_iter().for_each(|attempt| learner.learn(&attempt, None));
    learner
}

/// Gives every attempt the same.
struct Same(f64);

impl Policy for Same {
    fn size(&mut self, _: usize, _: &Attempt) -> (f64, f64) {
        (self.0 * GIB, 2.0)
    }

    fn learn(&mut self, _: usize, _: &Attempt) {}
}

#[test]
fn what_runs_out_of_memory_costs_half_and_is_tried_again_with_more() {
    let played = |peak: f64, given: f64| replay(&[attempt(0, peak)], &mut Same(given), Decided::AtSubmission);
    let score =
        |gb_hours, core_hours, out_of_memory| Score { attempts: 1, gb_hours, core_hours, out_of_memory };
    assert_eq!(played(3.0, 4.0), score(4.0, 2.0, 0));
    // Twice as much is less than the request.
    assert_eq!(played(6.0, 4.0), score(2.0 + 16.0, 1.0 + 2.0, 1));
    // The request is too little, too.
    assert_eq!(played(40.0, 12.0), score(6.0 + 12.0 + 48.0, 1.0 + 1.0 + 2.0, 1));
}

#[test]
fn only_what_had_ended_is_known() {
    struct Counts(Vec<usize>, usize);
    impl Policy for Counts {
        fn size(&mut self, _: usize, attempt: &Attempt) -> (f64, f64) {
            self.0.push(self.1);
            (attempt.requested_memory, 1.0)
        }
        fn learn(&mut self, _: usize, _: &Attempt) {
            self.1 += 1;
        }
    }
    let at = |submitted, finished| Attempt { submitted, finished, ..attempt(0, 1.0) };
    let mut counts = Counts(Vec::new(), 0);
    // In any order; the third begins as the first ends.
    let _ = replay(
        &[at(10.0, 20.0), at(0.0, 10.0), at(5.0, 30.0), at(40.0, 41.0)],
        &mut counts,
        Decided::AtSubmission,
    );
    assert_eq!(counts.0, [0, 0, 1, 3]);
}

#[test]
fn a_task_that_is_known_gets_little_more_than_it_needs() {
    let learner = learned((0..30).map(|n| attempt(n, 2.0 + 0.01 * f64::from(n % 3))));
    let advice = learner.advise("task", 16.0 * GIB, 4.0, None, 0);
    assert!(advice.memory > 2.03 * GIB && advice.memory < 3.5 * GIB, "{advice:?}");
    assert!(matches!(advice.basis, Basis::Peaks(30)), "{advice:?}");
    let risk = learner.chance("task", advice.memory, None, 0).unwrap();
    assert!((advice.cpu - 1.1).abs() < 1e-9 && risk < 0.002, "{advice:?}, {risk}");
    let unknown = learner.advise("another", 16.0 * GIB, 4.0, None, 0);
    assert_eq!((unknown.memory, unknown.cpu, unknown.basis), (16.0 * GIB, 4.0, Basis::Request));
    assert_eq!(learner.chance("another", 16.0 * GIB, None, 0), None);
    // The given amount may be less than the recommendation, and less than most have needed.
    assert!(learner.chance("task", GIB, None, 0).unwrap() > 0.99);
}

#[test]
fn more_than_was_asked_for_is_given_only_after_memory_ran_out() {
    let ran_out = Attempt { status: Status::OutOfMemory, ..attempt(0, 16.0) };
    let learner = learned([ran_out.clone()]);
    let advice = learner.advise("task", 16.0 * GIB, 4.0, None, 0);
    assert_eq!((advice.memory, advice.basis), (24.0 * GIB, Basis::OutOfMemory));
    // How far it would have gone is unknown: more memory is less risky, and what it had is known to be too
    // little.
    let risk = |gib: f64| learner.chance("task", gib * GIB, None, 0).unwrap();
    assert!(risk(16.0) > 0.99 && (0.2..0.4).contains(&risk(24.0)), "{} {}", risk(16.0), risk(24.0));
    assert!(risk(36.0) < risk(24.0) && risk(36.0) > 0.0, "{}", risk(36.0));
    assert!((learner.chance_after("task", 24.0 * GIB, 16.0 * GIB) - risk(24.0)).abs() < 0.01);
    // Next to others that needed little it is one of many, but not for an attempt that needs as much.
    let beside = learned((1..10).map(|n| attempt(n, 2.0)).chain([ran_out]));
    let of_any = beside.chance("task", 24.0 * GIB, None, 0).unwrap();
    assert!(of_any < 0.3 && beside.chance_after("task", 24.0 * GIB, 16.0 * GIB) > 2.0 * of_any, "{of_any}");
    // Without measurements, only the OOM kill is known.
    let unmeasured = Attempt { status: Status::OutOfMemory, peak_memory: 0.0, ..attempt(0, 16.0) };
    let advice = learned([unmeasured]).advise("task", 16.0 * GIB, 4.0, None, 0);
    assert_eq!(advice.basis, Basis::OutOfMemory, "{advice:?}");
    let unmeasured = Attempt { status: Status::OutOfMemory, peak_memory: 0.0, ..attempt(0, 16.0) };
    assert!(learned([unmeasured]).chance("task", 24.0 * GIB, None, 0).unwrap() > 0.2);
}

/// Of tasks that begin together, the smallest end first.
#[test]
fn the_first_of_many_to_end_are_believed_little() {
    let few = learned((0..4).map(|n| attempt(n, 6.0)));
    let advise = |learner: &Learner, running| learner.advise("task", 64.0 * GIB, 4.0, None, running).memory;
    assert_eq!(advise(&few, 8), advise(&few, 0), "no more than twice as many run");
    assert!(advise(&few, 9) > advise(&few, 8) && advise(&few, 40) > advise(&few, 9));
    let risk = |running| few.chance("task", 8.0 * GIB, None, running).unwrap();
    assert!(risk(40) > risk(9) && risk(9) > risk(0), "{} {} {}", risk(0), risk(9), risk(40));
    assert_eq!(advise(&few, MANY), advise(&few, usize::MAX));
    let enough = learned((0..10).map(|n| attempt(n, 1.0)));
    assert_eq!(advise(&enough, 90), advise(&enough, 0), "enough have ended");
}

/// The first ones may have had nothing to do.
#[test]
fn few_attempts_do_not_take_all_that_was_asked_for() {
    let share = |count| {
        learned((0..count).map(|n| attempt(n, 0.1))).advise("task", 16.0 * GIB, 4.0, None, 0).memory
            / (16.0 * GIB)
    };
    assert_eq!([share(1), share(2)], [0.5, 0.25]);
    assert!(share(20) < 0.1, "{}", share(20));
}

/// A cheap attempt takes almost no risk.
#[test]
fn those_that_hold_much_take_the_risk() {
    let named = |name: &str, n, peak| Attempt { task: name.into(), ..attempt(n, peak) };
    let spread = |n: u32| 1.0 + 0.3 * f64::from(n * 7 % 10);
    let learner = learned(
        (0..40).flat_map(|n| [named("small", n, 0.1 * spread(n)), named("large", n, 2.0 * spread(n))]),
    );
    let beyond = |name: &str, peak: f64| learner.advise(name, 64.0 * GIB, 4.0, None, 0).memory / (peak * GIB);
    let (small, large) = (beyond("small", 0.37), beyond("large", 7.4));
    assert!(small > 1.2 * large, "{small} of the largest peak, {large}");
}

#[test]
fn a_version_that_needs_less_is_seen_after_some_attempts() {
    let after = |count: u32| {
        let learner = learned(
            (0..30 + count).map(|n| attempt(n, if n < 30 { 12.0 } else { 2.0 } + 0.01 * f64::from(n % 3))),
        );
        learner.advise("task", 16.0 * GIB, 4.0, None, 0).memory / GIB
    };
    assert!(after(9) > 12.0 && after(10) < 4.0, "{} {}", after(9), after(10));
    // One that still needs as much means that there is no other version.
    let learner = learned((0..40).map(|n| attempt(n, if n < 30 || n == 35 { 12.0 } else { 2.0 })));
    assert!(learner.advise("task", 16.0 * GIB, 4.0, None, 0).memory > 12.0 * GIB);
}

/// A trace may come from a cluster that does not enforce requests.
#[test]
fn what_is_used_beyond_the_request_is_given() {
    let learner = learned((0..20).map(|n| attempt(n, 20.0)));
    let advice = learner.advise("task", 16.0 * GIB, 4.0, None, 0);
    assert!(advice.memory > 20.0 * GIB && advice.memory < 32.0 * GIB, "{advice:?}");
    // A user who requests less than before may have a reason.
    let learner = learned((0..20).map(|n| attempt(n, 12.0)));
    assert_eq!(learner.advise("task", 8.0 * GIB, 4.0, None, 0).memory, 8.0 * GIB);
}

#[test]
fn that_memory_ran_out_once_is_forgotten() {
    let window = u32::try_from(Settings::default().window).unwrap();
    let ran_out = || [Attempt { status: Status::OutOfMemory, ..attempt(0, 16.0) }].into_iter();
    let after = |count| {
        let learner = learned(ran_out().chain((1..=count).map(|n| attempt(n, 2.0))));
        learner.advise("task", 16.0 * GIB, 4.0, None, 0)
    };
    assert_eq!(after(window - 1).memory, 24.0 * GIB);
    assert!(after(window + 1).memory < 4.0 * GIB, "{:?}", after(window + 1));
}

#[test]
fn memory_that_follows_the_input_is_told_by_it() {
    let of_input = |n: u32| {
        let input = f64::from(1 + n % 20) * 0.2 * GIB;
        Attempt { input: Some(input), ..attempt(n, 0.5 + 2.0 * input / GIB) }
    };
    let learner = learned((0..40).map(of_input));
    let advise = |input: f64| learner.advise("task", 16.0 * GIB, 4.0, Some(input * GIB), 0);
    let (small, large) = (advise(0.2), advise(4.0));
    assert!(
        matches!((small.basis, large.basis), (Basis::Inputs(40), Basis::Inputs(40))),
        "{small:?} {large:?}"
    );
    assert!(small.memory > 0.9 * GIB && small.memory < 1.5 * GIB, "{small:?}");
    assert!(large.memory > 8.5 * GIB && large.memory < 12.0 * GIB, "{large:?}");
    // The same amount is much for one, and too little for the other.
    let risk = |input: f64| learner.chance("task", 1.2 * GIB, Some(input * GIB), 0).unwrap();
    assert!(risk(0.2) < 0.01 && risk(4.0) > 0.9, "{} {}", risk(0.2), risk(4.0));
}

/// A rule's result after attempts of `1..=count` GiB, in GiB and cores; each used a core and a half.
fn after(name: &str, count: u32) -> (f64, f64) {
    let mut policy = built_in(name).unwrap();
    for n in 1..=count {
        let input = Some(f64::from(n) * GIB);
        policy.learn(n as usize, &Attempt { input, cpu_used: 1.5, ..attempt(n, f64::from(n)) });
    }
    let next = Attempt { input: Some(5.0 * GIB), cpu_used: 0.5, ..attempt(count + 1, 3.0) };
    let (memory, cpu) = policy.size(0, &next);
    (memory / GIB, cpu)
}

#[test]
fn the_rules_to_compare_with_are_what_they_are_called() {
    for name in BUILT_IN.into_iter().filter(|name| *name != "oracle").chain(BOUNDS) {
        assert_eq!(after(name, 0), (16.0, 4.0), "nothing is known: {name}");
    }
    assert_eq!(after("request", 10), (16.0, 4.0));
    // ceil(1.4 x 10) + 2, and ceil(1.4 x 1.5) + 2; of twenty, the last ten count.
    assert_eq!(after("cube-studio", 10), (16.0, 5.0));
    assert_eq!(after("cube-studio", 20), (30.0, 5.0));
    // The ninth of ten, plus 15 %.
    let (memory, cpu) = after("vpa", 10);
    assert!((memory - 9.0 * 1.15).abs() < 1e-9 && (cpu - 1.5 * 1.15).abs() < 1e-9, "{memory} {cpu}");
    // Peaks are as large as the input, and so is the line.
    let (memory, cpu) = after("line", 10);
    assert!((memory - 5.0).abs() < 1e-6 && cpu == 4.0, "{memory} {cpu}");
    assert_eq!(after("known-after-first", 1), (3.0, 0.5));
    assert_eq!([after("oracle", 0), after("oracle", 10)], [(3.0, 0.5); 2]);
}

#[test]
fn no_rule_but_the_oracle_is_better_in_both() {
    let traces: Vec<_> = Kind::ALL
        .into_iter()
        .flat_map(|kind| (1..=3).map(move |seed| generate::trace(kind, 6_000, seed)))
        .collect();
    let asked: Vec<f64> = traces
        .iter()
        .map(|trace| replay(trace, built_in("request").unwrap().as_mut(), Decided::AtSubmission).gb_hours)
        .collect();
    let of = |name: &str| {
        let scores: Vec<Score> = traces
            .iter()
            .map(|trace| replay(trace, built_in(name).unwrap().as_mut(), Decided::AtSubmission))
            .collect();
        let logs = scores.iter().zip(&asked).map(|(score, asked)| (score.gb_hours / asked).ln()).sum::<f64>();
        let rates = scores.iter().map(Score::out_of_memory_rate).sum::<f64>();
        ((logs / scores.len() as f64).exp(), rates / scores.len() as f64)
    };
    let (memory, rate) = of("cubeloom");
    assert!(memory <= 0.6 && rate <= 0.003, "{memory} of what was asked for, {rate} out of memory");
    for name in BUILT_IN.into_iter().filter(|name| !["cubeloom", "oracle"].contains(name)) {
        let other = of(name);
        assert!(other.0 > memory || other.1 > rate, "{name} is better: {other:?}, and {memory}, {rate}");
    }
}

/// Records the predicted probability of an OOM kill for each attempt, and whether it happened.
#[derive(Default)]
struct Promises {
    learner: Learner,
    advised: HashMap<usize, Advice>,
    running: HashMap<String, usize>,
    told: Vec<(f64, bool)>,
}

impl Policy for Promises {
    fn size(&mut self, index: usize, attempt: &Attempt) -> (f64, f64) {
        let (task, memory, input) = (attempt.task.as_str(), attempt.requested_memory, attempt.input);
        let running = self.running.entry(attempt.task.clone()).or_default();
        let advice = self.learner.advise(task, memory, attempt.requested_cpu, input, *running);
        let risk = self.learner.chance(task, advice.memory, input, *running);
        self.told.extend(risk.map(|risk| (risk, advice.memory < attempt.needs())));
        *running += 1;
        let size = (advice.memory, advice.cpu);
        self.advised.insert(index, advice);
        size
    }

    fn learn(&mut self, index: usize, attempt: &Attempt) {
        let advised = self.advised.remove(&index);
        *self.running.get_mut(&attempt.task).unwrap() -= 1;
        self.learner.learn(attempt, advised.as_ref());
    }
}

#[test]
fn no_more_run_out_than_the_chance_says() {
    let mut promises = Promises::default();
    for kind in Kind::ALL {
        // Other tasks' scales count, so each trace is separate.
        let told = std::mem::take(&mut promises.told);
        promises = Promises { told, ..Promises::default() };
        let _ = replay(&generate::trace(kind, 6_000, 29), &mut promises, Decided::AtSubmission);
    }
    // By decade: at least a tenth, a hundredth to a tenth, and so on.
    let mut tens = [(0.0, 0.0, 0.0); 4];
    for (risk, is_too_little) in promises.told {
        let of = &mut tens[((-risk.log10()) as usize).min(3)];
        *of = (of.0 + 1.0, of.1 + risk, of.2 + f64::from(is_too_little));
    }
    for (count, promised, ran_out) in tens {
        assert!(count >= 100.0 && ran_out <= 2.0 * promised + 10.0, "{tens:?}");
    }
    let sum = |of: fn(&(f64, f64, f64)) -> f64| tens.iter().map(of).sum::<f64>();
    let (promised, ran_out) = (sum(|of| of.1), sum(|of| of.2));
    assert!(promised > ran_out && promised < 4.0 * ran_out, "{promised} {ran_out}");
}

#[test]
fn few_new_tasks_need_more_than_other_tasks_suggest() {
    let (mut tasks, mut too_little, mut promised) = (0, 0, 0.0);
    for (kind, seed) in [Kind::Training, Kind::Adhoc].into_iter().flat_map(|kind| [(kind, 1), (kind, 2)]) {
        let mut learner = Learner::new(Settings::default());
        let mut seen = std::collections::HashSet::new();
        for attempt in generate::trace(kind, 6_000, seed) {
            let advice = learner.advise(&attempt.task, attempt.requested_memory, 4.0, None, 0);
            if seen.insert(attempt.task.clone()) && matches!(advice.basis, Basis::Others(_)) {
                let chance = learner.chance_of_new(&attempt.task, attempt.requested_memory, advice.memory);
                (tasks, promised) = (tasks + 1, promised + chance.unwrap());
                too_little += u32::from(advice.memory < attempt.needs());
            }
            learner.learn(&attempt, None);
            learner.learn_share(&attempt);
        }
    }
    let (tasks, too_little) = (f64::from(tasks), f64::from(too_little));
    assert!(tasks >= 100.0 && too_little <= 0.05 * tasks, "{too_little} of {tasks}");
    assert!(promised >= 0.5 * too_little && promised <= 0.1 * tasks, "{promised} {too_little} of {tasks}");
}

#[test]
fn a_trace_comes_back_and_what_is_wrong_in_it_is_named() {
    let made = generate::trace(Kind::Mixed, 200, 7);
    let mut text = Vec::new();
    trace::write(&made, &mut text).unwrap();
    let read = trace::read(text.as_slice()).unwrap().attempts;
    assert_eq!(read.len(), made.len());
    assert!(read.iter().zip(&made).all(|(a, b)| a.task == b.task && a.status == b.status));
    assert!(read.iter().zip(&made).all(|(a, b)| (a.peak_memory - b.peak_memory).abs() <= 0.5));
    let header = trace::COLUMNS.join(",");
    let said = |line: &str| trace::read(format!("{header}\n{line}\n").as_bytes()).unwrap_err().to_string();
    for (line, why) in [
        ("a,0,1,1,1,x,1,,succeeded", "line 2, peak_memory_bytes: `x` is not a number"),
        ("a,0,1,1,-1,1,1,,succeeded", "line 2, requested_memory_bytes: `-1` must be 0 or more"),
        ("a,2,1,1,1,1,1,,succeeded", "line 2, finished: `1` is before it was submitted"),
        ("a,0,1,1,1,1,-1,,succeeded", "line 2, cpu_used: `-1` must be 0 or more"),
        ("a,0,1,1,1,1,1,,maybe", "line 2, status: `maybe` is not a state"),
        ("a,soon,1,1,1,1,1,,failed", "line 2, submitted: `soon` is neither"),
    ] {
        assert!(said(line).contains(why), "{}", said(line));
    }
    let moments = format!("{header}\na,2026-01-31T06:00:00Z,2026-01-31T07:00:00Z,1,1,1,1,,oom\n");
    assert!((trace::read(moments.as_bytes()).unwrap().attempts[0].hours() - 1.0).abs() < 1e-9);
    let missing = trace::read("task,submitted\n".as_bytes()).unwrap_err().to_string();
    assert!(
        missing.starts_with("the column `finished` is missing; a trace has task, submitted,"),
        "{missing}"
    );
}

/// Lines without measurements, or of attempts that did not run, are skipped.
#[test]
fn lines_that_say_nothing_are_passed_over() {
    let text = format!(
        "{}\na,0,1,1,4,2,1,,succeeded\na,0,1,1,4,,1,,succeeded\na,0,1,1,0.00,2,1,,failed\na,-,1,1,4,2,1,,failed\n\
         a,0,1,1,4,2,1,,CACHED\na,0,1,,4,2,-,-,139\na,0,1,1,4,-,1,,oom\n",
        trace::COLUMNS.join(",")
    );
    let read = trace::read(text.as_bytes()).unwrap();
    let states: Vec<Status> = read.attempts.iter().map(|attempt| attempt.status).collect();
    assert_eq!(
        (states, read.passed_over.count),
        (vec![Status::Succeeded, Status::Failed, Status::OutOfMemory], 4)
    );
    assert_eq!(
        read.passed_over.first.unwrap().to_string(),
        "line 3, peak_memory_bytes: `` is not an amount of memory"
    );
}

/// A clock that was set, or invalid values from a monitor, only cost their own lines.
#[test]
fn lines_with_values_that_cannot_be_are_passed_over_unless_all_have_such() {
    let read = |lines: &[&str]| {
        trace::read(format!("{}\n{}\n", trace::COLUMNS.join(","), lines.join("\n")).as_bytes())
    };
    let good = "a,0,1,1,4,2,1,,succeeded";
    for (line, column) in [
        ("a,2,1,1,4,2,1,,succeeded", "finished: `1` is before it was submitted"),
        ("a,soon,1,1,4,2,1,,succeeded", "submitted: `soon` is neither"),
        ("a,NaN,1,1,4,2,1,,succeeded", "submitted: `NaN` is neither"),
        ("a,0,1,-1,4,2,1,,succeeded", "requested_cpu: `-1` must be 0 or more"),
        ("a,0,1,1,inf,2,1,,succeeded", "requested_memory_bytes: `inf` must be 0 or more"),
        ("a,0,1,1,4,-2,1,,succeeded", "peak_memory_bytes: `-2` must be 0 or more"),
        ("a,0,1,1,4,2,NaN,,failed", "cpu_used: `NaN` must be 0 or more"),
        ("a,0,1,1,4,2,much,,gone fishing", "cpu_used: `much` is not a number"),
        ("a,0,1,1,4,2,1,inf,oom", "input_bytes: `inf` must be 0 or more"),
    ] {
        let some = read(&[good, line, good, line]).unwrap();
        assert_eq!((some.attempts.len(), some.passed_over.count, some.unclear.count), (2, 2, 0), "{line}");
        let first = some.passed_over.first.unwrap().to_string();
        assert!(first.starts_with(&format!("line 3, {column}")), "{first}");
        // With only lines without information otherwise, the one with the odd value is reported.
        let none = read(&["a,0,1,1,4,2,1,,CACHED", line, line]).unwrap_err().to_string();
        assert!(none.starts_with(&format!("line 3, {column}")), "{none}");
    }
    // An OOM kill is enough information, whatever the unmeasured values are.
    let unmeasured = read(&["a,0,1,1,4,NaN,1,,oom"]).unwrap().attempts;
    assert_eq!((unmeasured[0].status, unmeasured[0].peak_memory), (Status::OutOfMemory, 0.0));
    for broken in ["a,0,1", "a,0,1,1,4,2,1,,succeeded,more"] {
        let why = read(&[good, broken]).unwrap_err().to_string();
        assert!(why.contains("found record with"), "{why}");
    }
}

proptest! {
    /// Never above the request without OOM kills, and always positive.
    #[test]
    fn advice_stays_within_bounds(
        peaks in prop::collection::vec((0.0_f64..64.0, prop::option::of(0.0_f64..100.0)), 0..80),
        asked in 0.1_f64..64.0,
        input in prop::option::of(0.0_f64..1000.0),
    ) {
        let attempts = (0..).zip(peaks).map(|(n, (peak, input))| {
            let requested_memory = 64.0 * GIB;
            Attempt { input: input.map(|input| input * GIB), requested_memory, ..attempt(n, peak) }
        });
        let advice = learned(attempts).advise("task", asked * GIB, 4.0, input.map(|input| input * GIB), 0);
        prop_assert!(advice.memory > 0.0 && advice.memory <= asked * GIB, "{:?}", advice);
        prop_assert!(advice.cpu > 0.0 && advice.cpu <= 4.0, "{:?}", advice);
    }

    /// More memory is never riskier.
    #[test]
    fn chances_fall_with_memory(
        seen in prop::collection::vec((0.0_f64..64.0, prop::option::of(0.0_f64..100.0), 0..3_u8), 1..80),
        input in prop::option::of(0.0_f64..1000.0),
        running in 0_usize..200,
        had in 0.1_f64..64.0,
        (less, more) in (0.1_f64..128.0, 1.0_f64..4.0),
    ) {
        let attempts = (0..).zip(seen).map(|(n, (peak, input, end))| {
            let status = [Status::Succeeded, Status::Failed, Status::OutOfMemory][usize::from(end)];
            let requested_memory = if status == Status::OutOfMemory { peak * GIB } else { 64.0 * GIB };
            Attempt { input: input.map(|input| input * GIB), requested_memory, status, ..attempt(n, peak) }
        });
        let learner = learned(attempts);
        let input = input.map(|input| input * GIB);
        let chances = [less, less * more].map(|gib| {
            let any = learner.chance("task", gib * GIB, input, running).unwrap_or(0.5);
            (any, learner.chance_after("task", gib * GIB, had * GIB))
        });
        for (with_less, with_more) in [(chances[0].0, chances[1].0), (chances[0].1, chances[1].1)] {
            prop_assert!((0.0..=1.0).contains(&with_less) && with_more <= with_less + 1e-9, "{:?}", chances);
        }
    }

    /// Any file content is either accepted, or rejected with a sentence.
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,400}") {
        let _ = trace::read(text.as_bytes());
    }
}
