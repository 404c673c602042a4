//! What the next attempt gets: by earlier usage, within its bounds.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too")]

use cubeloom_domain::resources::Amount;
use cubeloom_domain::sizing::{Keeper, Kept, Past, PastEnd, Reason, Size, SizedRole};
use cubeloom_domain::{Bytes, Cpu, Timestamp};
use cubeloom_sizing::{MANY, Question, Taught, in_hindsight, keep_placeable, keep_within, recommend};
use proptest::prelude::*;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const NODE: Size = Size { cpu: Cpu(16_000), memory: Bytes(64 * GIB) };

fn size(cpu: u64, memory: u64) -> Size {
    Size { cpu: Cpu(cpu), memory: Bytes(memory) }
}

/// An attempt that had its request, 2 cores and 16 GiB.
fn past(n: u64, peak: u64) -> Past {
    Past {
        attempt: format!("R.train.0.{n}"),
        ended_at: Timestamp(i64::try_from(n).unwrap() * 3_600_000_000),
        micros: 600_000_000,
        make: "same".into(),
        asked: (2000, 16 * GIB),
        had: (2000, 16 * GIB),
        peak,
        memory: None,
        cpu: (300, 400),
        throttled: Some(0),
        cpu_waited: None,
        input: None,
        end: PastEnd::Succeeded,
    }
}

fn steady(count: u64) -> Vec<Past> {
    (0..count).map(|n| past(n, 2 * GIB + n % 3 * MIB)).collect()
}

fn question(past: &[Past]) -> Question<'_> {
    Question {
        role: "worker",
        asked: size(2000, 16 * GIB),
        kept: Kept::default(),
        make: "same",
        input: None,
        past,
        kin: &[],
        others: Vec::new(),
        most: NODE,
        beside: Bytes(0),
        ran_out: None,
        running: 0,
    }
}

fn memory(question: &Question<'_>) -> (Bytes, Reason) {
    let sized = recommend(question);
    (sized.gets.memory, sized.memory)
}

#[test]
fn nothing_known_is_as_asked() {
    let sized = recommend(&question(&[]));
    assert_eq!((sized.gets, sized.memory, sized.cpu), (sized.asked, Reason::Asked, Reason::Asked));
    assert!(sized.confidence < 0.01 && sized.risk.is_none() && sized.sentence().is_none());
}

#[test]
fn what_was_advised_then_is_told_by_what_had_ended_then() {
    let mut past = steady(24);
    past[23].peak = 8 * GIB;
    let then = in_hindsight(&question(&past));
    assert_eq!((then.len(), then[0]), (24, size(2000, 16 * GIB)));
    for (at, told) in then.iter().enumerate() {
        let known = recommend(&question(&past[..at]));
        assert_eq!(*told, known.gets, "attempt {at}");
    }
    // The last one's peak was unknown when it began, and is known now.
    assert!(then[23].memory.0 < 4 * GIB && recommend(&question(&past)).gets.memory.0 > 8 * GIB);
}

#[test]
fn what_was_advised_then_knows_nothing_of_what_still_ran_or_was_made_of_something_else() {
    let mut past = steady(12);
    past[11].ended_at = past[10].ended_at;
    past[10].make = "other".into();
    let then = in_hindsight(&question(&past));
    assert_eq!(then[10], size(2000, 16 * GIB), "nothing of its make had ended");
    assert_eq!(then[11], recommend(&question(&past[..10])).gets, "the one beside it still ran");
}

#[test]
fn steady_peaks_need_less() {
    let past = steady(23);
    let sized = recommend(&question(&past));
    assert_eq!(sized.memory, Reason::Peaks { attempts: 23 });
    assert!((2 * GIB..4 * GIB).contains(&sized.gets.memory.0), "{:?}", sized.gets);
    assert_eq!((sized.gets.cpu, sized.cpu), (Cpu(450), Reason::Peaks { attempts: 20 }));
    assert!(sized.risk.unwrap() < 0.01 && sized.confidence > 0.9 && sized.is_changed());
    let said = sized.sentence().unwrap();
    assert!(
        said.ends_with(" instead of 16Gi: peaks of 23 attempts; cpu 450m instead of 2: peaks of 20 attempts"),
        "{said}"
    );
}

#[test]
fn advice_that_would_not_have_held_is_trusted_less() {
    let confidence = |peaks: &[u64]| {
        let past: Vec<Past> = (0..).zip(peaks).map(|(n, mib)| past(n, mib * MIB)).collect();
        recommend(&question(&past)).confidence
    };
    let alike = confidence(&[1000; 12]);
    assert!((alike - 12.0 / 13.0).abs() < 1e-9, "{alike}");
    let mut spike = [1000; 12];
    spike[10] = 9000;
    assert!((confidence(&spike) - 11.0 / 13.0).abs() < 1e-9, "{}", confidence(&spike));
    let ran_out = Past { end: PastEnd::OutOfMemory, had: (2000, 16 * GIB), ..past(0, 16 * GIB) };
    assert!(recommend(&question(&[ran_out])).confidence < 0.01, "it had all that was advised then");
}

/// What the attempts of many tasks need, in bytes. Their peaks vary more or less; some tasks have a second
/// mode.
fn many_needs() -> Vec<Vec<u64>> {
    let mut seed = 7_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut tasks = Vec::new();
    for task in 0..150 {
        let (middle, spread, second) = (random() * 2000.0 + 200.0, random() * 0.6, random() * 0.3);
        let mut needs = Vec::new();
        for _ in 0..40 {
            let around = middle * (spread * (random() + random() + random() - 1.5) * 2.0).exp();
            let peak = if task % 3 == 0 && random() < second { around * 3.0 } else { around };
            needs.push((peak * MIB as f64) as u64);
        }
        tasks.push(needs);
    }
    tasks
}

#[test]
fn no_more_is_promised_than_holds() {
    let mut buckets = [(0.0, 0.0, 0.0); 10];
    for needs in many_needs() {
        let mut known: Vec<Past> = Vec::new();
        for (n, need) in (0..).zip(needs) {
            let next = past(n, need);
            let sized = recommend(&question(&known));
            let bucket = &mut buckets[((sized.confidence * 10.0) as usize).min(9)];
            bucket.0 += 1.0;
            bucket.1 += sized.confidence;
            bucket.2 += f64::from(sized.gets.memory.0 >= next.peak);
            known.push(next);
        }
    }
    for (count, promised, held) in buckets.into_iter().filter(|(count, ..)| *count >= 100.0) {
        let (promised, held) = (promised / count, held / count);
        assert!(held >= promised - 0.01, "{held} of {count} held, of which {promised} was promised");
    }
    assert!(buckets[9].0 > 2000.0, "{buckets:?}");
}

/// Runs attempts with these needs in sequence, each retried with more memory after an OOM kill. Returns each
/// predicted risk, and whether the attempt was OOM killed.
fn played(needs: &[u64], asked: u64) -> Vec<(f64, bool)> {
    let (mut known, mut told): (Vec<Past>, Vec<(f64, bool)>) = (Vec::new(), Vec::new());
    for need in needs {
        let mut ran_out = None;
        for _ in 0..4 {
            let sized = recommend(&Question { asked: size(2000, asked), ran_out, ..question(&known) });
            let gets = sized.gets.memory;
            let is_too_little = gets.0 < *need;
            told.extend(sized.risk.map(|risk| (risk, is_too_little)));
            known.push(Past {
                asked: (2000, asked),
                had: (2000, gets.0),
                end: if is_too_little { PastEnd::OutOfMemory } else { PastEnd::Succeeded },
                ..past(known.len() as u64, gets.0.min(*need))
            });
            if !is_too_little {
                break;
            }
            ran_out = Some(gets);
        }
    }
    told
}

#[test]
fn no_more_run_out_than_the_risk_says() {
    // Requests are far more than enough, or about what the first attempt needs.
    let asked: [fn(&[u64]) -> u64; 2] = [|_| 16 * GIB, |needs| needs[0]];
    for asks in asked {
        let told = many_needs().into_iter().flat_map(|needs| played(&needs, asks(&needs)));
        // By decade: at least a tenth, a hundredth to a tenth, and so on.
        let mut tens = [(0.0, 0.0, 0.0); 4];
        for (risk, is_too_little) in told {
            let of = &mut tens[((-risk.log10()) as usize).min(3)];
            *of = (of.0 + 1.0, of.1 + risk, of.2 + f64::from(is_too_little));
        }
        assert!(tens.iter().all(|(_, promised, ran_out)| *ran_out <= 2.0 * promised + 10.0), "{tens:?}");
        assert!(tens.iter().filter(|(count, ..)| *count >= 1000.0).count() >= 2, "{tens:?}");
        let (promised, ran_out) = tens.iter().fold((0.0, 0.0), |sum, of| (sum.0 + of.1, sum.1 + of.2));
        assert!(promised > ran_out && promised < 4.0 * ran_out, "{promised} {ran_out}");
    }
}

#[test]
fn the_risk_is_that_of_what_is_given() {
    let mut past = steady(5);
    past.push(Past { end: PastEnd::OutOfMemory, peak: 16 * GIB, ..past[0].clone() });
    let ran_out = Some(Bytes(16 * GIB));
    let again = Question { ran_out, ..question(&past) };
    let risk = |question: &Question<'_>| recommend(question).risk.unwrap();
    // It is known to need more than it had: half as much again may not be enough either.
    let grown = risk(&again);
    assert!(grown > 0.05 && grown < 0.95, "{grown}");
    assert!(risk(&question(&past)) < grown, "any other need not need as much");
    // A lower amount because of a node, a pin or the template is insufficient more often.
    let lowered = Question { most: size(16_000, 17 * GIB), ..again.clone() };
    assert_eq!(recommend(&lowered).gets.memory, Bytes(17 * GIB));
    assert!(risk(&lowered) > grown);
    for by in [Keeper::Template, Keeper::Unchecked, Keeper::Pinned] {
        assert!(risk(&Question { kept: Kept::both(by), ..again.clone() }) > 0.99);
        let little = Question { kept: Kept::both(by), asked: size(2000, GIB), ..question(&past) };
        assert!(risk(&little) > 0.99, "all needed more");
        assert!(recommend(&Question { past: &[], ..little }).risk.is_none(), "nothing is known");
    }
    // So is an amount that is lowered later.
    let taught = Taught::of(&again);
    let of = |gib: u64| taught.risk(&again, Bytes(gib * GIB)).unwrap();
    assert!(of(16) > 0.99 && of(16) > of(20) && of(20) > of(24) && of(24) > of(48) && of(48) > 0.0);
    assert!((of(24) - grown).abs() < 1e-9);
    // A running worker that is close to its limit needs more than that, whatever is known.
    let unknown = Taught::new("same", &[], &[]);
    let more = unknown.risk_after(Bytes(19 * GIB), Bytes(30 * GIB));
    assert!(more > 0.01 && more < 0.5, "{more}");
    assert!(unknown.risk_after(Bytes(19 * GIB), Bytes(20 * GIB)) > 0.5);
}

#[test]
fn the_first_to_end_are_believed_little_while_many_others_run() {
    let past = steady(9);
    let among = |running: usize, past: &[Past]| memory(&Question { running, ..question(past) }).0;
    assert_eq!(among(18, &past), among(0, &past));
    assert!(among(19, &past) > among(18, &past));
    assert_eq!(among(1000, &steady(10)), among(0, &steady(10)));
    for count in 0..12 {
        let past = steady(count);
        assert_eq!(among(MANY, &past), among(usize::MAX, &past), "{count}");
    }
}

#[test]
fn attempts_of_something_else_do_not_count() {
    let past = steady(23);
    let changed = Question { make: "another", ..question(&past) };
    assert_eq!(memory(&changed), (Bytes(16 * GIB), Reason::Asked));
    // The template shows the spread of other tasks' peaks, but never their size.
    let kin = Question { past: &[], kin: &past, ..question(&past) };
    assert_eq!(memory(&kin), (Bytes(16 * GIB), Reason::Asked));
}

/// Attempts of this many tasks that used a tenth of their request.
fn other_tasks(count: u64) -> Vec<Vec<Past>> {
    let of = |task, n, peak| Past { attempt: format!("R.other-{task}.0.{n}"), ..past(n, peak) };
    (0..count).map(|task| vec![of(task, task, 16 * GIB / 10), of(task, task + 100, GIB)]).collect()
}

#[test]
fn a_new_task_gets_by_what_other_tasks_used_of_their_requests() {
    let others = other_tasks(10);
    let of = |others: &[Vec<Past>]| {
        let slices = others.iter().map(Vec::as_slice).collect();
        recommend(&Question { others: slices, ..question(&[]) })
    };
    let sized = of(&others);
    assert_eq!(
        (sized.gets.memory, sized.memory),
        (Bytes(8 * GIB), Reason::Others { tasks: 10 }),
        "half at least"
    );
    assert_eq!((sized.gets.cpu, sized.cpu), (sized.asked.cpu, Reason::Asked));
    assert!((sized.confidence - 10.0 / 11.0).abs() < 1e-9 && (0.001..0.1).contains(&sized.risk.unwrap()));
    let said = sized.sentence().unwrap();
    assert_eq!(said, "memory 8Gi instead of 16Gi: what 10 other tasks used of their requests");
    // The request, if there are too few of them, or one needed almost all or was OOM killed.
    assert_eq!(of(&others[1..]).memory, Reason::Asked);
    let with = |last: Past| of(&[&others[..], &[vec![last]]].concat());
    assert_eq!(with(past(5, 15 * GIB)).memory, Reason::Asked);
    assert_eq!(with(Past { end: PastEnd::OutOfMemory, ..past(5, GIB) }).memory, Reason::Asked);
    // In between, a margin above the largest.
    let between = with(past(5, 8 * GIB)).gets.memory.0;
    assert!((9 * GIB..16 * GIB).contains(&between), "{between}");
}

#[test]
fn other_tasks_count_until_an_attempt_of_the_task_has_ended() {
    let others = other_tasks(12);
    let slices: Vec<&[Past]> = others.iter().map(Vec::as_slice).collect();
    let with = |past: &[Past]| recommend(&Question { others: slices.clone(), ..question(past) });
    let steady = steady(3);
    assert_eq!(with(&steady), recommend(&question(&steady)));
    // Attempts with another fingerprint count as another task's: the largest share applies.
    let before = [Past { make: "before".into(), ..past(0, 15 * GIB) }];
    assert_eq!(with(&before).memory, Reason::Asked);
    // An OOM kill below the request shows that others say nothing about this one.
    let had = Bytes(8 * GIB);
    let killed = [Past { end: PastEnd::OutOfMemory, had: (2000, had.0), ..past(0, had.0) }];
    assert_eq!(memory(&Question { others: slices.clone(), ..question(&killed) }).0, Bytes(16 * GIB));
    // In hindsight, those that had ended by then count.
    let first = Past { ended_at: Timestamp(200 * 3_600_000_000), ..past(0, 2 * GIB) };
    let early = Past { ended_at: Timestamp(0), ..first.clone() };
    let then = |past: &Past| {
        in_hindsight(&Question { others: slices.clone(), ..question(std::slice::from_ref(past)) })[0].memory
    };
    assert_eq!((then(&first), then(&early)), (Bytes(8 * GIB), Bytes(16 * GIB)));
}

#[test]
fn after_too_little_memory_the_next_attempt_gets_half_as_much_again() {
    let mut past = steady(5);
    past.push(Past { end: PastEnd::OutOfMemory, ..past[0].clone() });
    let had = Bytes(16 * GIB);
    let (gets, why) = memory(&Question { ran_out: Some(had), ..question(&past) });
    assert_eq!((gets, why), (Bytes(24 * GIB), Reason::RanOut { had }));
    // After an OOM kill below the request, at least the request is next.
    let had = Bytes(GIB);
    past.last_mut().unwrap().had.1 = GIB;
    let (gets, why) = memory(&Question { ran_out: Some(had), ..question(&past) });
    assert_eq!((gets, why), (Bytes(16 * GIB), Reason::RanOut { had }));
}

#[test]
fn what_proved_to_be_needed_is_given_beyond_the_request() {
    let grown = |n| Past { had: (2000, 24 * GIB), ..past(n, 18 * GIB) };
    let past: Vec<Past> = (0..10).map(grown).collect();
    let (gets, why) = memory(&question(&past));
    assert_eq!(why, Reason::Peaks { attempts: 10 });
    assert!(gets.0 > 18 * GIB && gets.0 <= 26 * GIB, "{gets}");
}

#[test]
fn a_program_that_is_held_back_gets_more_cpu_and_no_more_than_twice() {
    let held = |n, had| Past { cpu: (had, had), throttled: Some(600), had: (had, 16 * GIB), ..past(n, GIB) };
    let cpu = |past: &[Past]| {
        let sized = recommend(&question(past));
        (sized.gets.cpu.0, sized.cpu)
    };
    let tight: Vec<Past> = (0..4).map(|n| held(n, 2000)).collect();
    assert_eq!(cpu(&tight), (3000, Reason::Throttled { percent: 60 }));
    let tighter: Vec<Past> = (0..4).map(|n| held(n, 3900)).collect();
    assert_eq!(cpu(&tighter).0, 4000);
    // One that had more and was not throttled shows how much is needed.
    let mut told = tight;
    told.push(Past { cpu: (2100, 2200), had: (3000, 16 * GIB), ..past(9, GIB) });
    assert_eq!(cpu(&told), (2450, Reason::Peaks { attempts: 5 }));
    // After throttling it gets at least what it had, however little it seems to use.
    told[4].cpu = (100, 100);
    told[..4].iter_mut().for_each(|past| past.cpu = (100, 100));
    assert_eq!(cpu(&told), (2000, Reason::Asked));
}

#[test]
fn a_program_that_uses_all_its_guarantee_and_waits_for_more_gets_more() {
    let with = |high: u64, had: u64, cpu_waited| Past {
        cpu: (high / 2, high),
        had: (had, 16 * GIB),
        throttled: None,
        cpu_waited,
        ..past(0, GIB)
    };
    let cpu = |past: &[Past]| {
        let sized = recommend(&question(past));
        (sized.gets.cpu.0, sized.cpu)
    };
    let three = |past: Past| vec![past; 3];
    assert_eq!(cpu(&three(with(1900, 2000, Some(700)))), (3000, Reason::CpuWaited { percent: 70 }));
    // A program that waits below its guarantee waits for its turn on a busy machine.
    assert_eq!(cpu(&three(with(1000, 2000, Some(900)))), (1100, Reason::Peaks { attempts: 3 }));
    // Above its guarantee a program uses idle CPU: no reason to guarantee that.
    assert_eq!(cpu(&three(with(8000, 2000, Some(0)))), (2000, Reason::Asked));
    // An amount that was lowered too far increases again, because usage above it is visible.
    assert_eq!(cpu(&three(with(1500, 500, Some(100)))), (1650, Reason::Peaks { attempts: 3 }));
    // One that had more and did not wait shows how much is enough.
    let mut told = three(with(1900, 2000, Some(700)));
    told.push(with(2100, 3000, Some(10)));
    assert_eq!(cpu(&told), (2350, Reason::Peaks { attempts: 4 }));
}

#[test]
fn where_nobody_tells_what_was_held_back_one_that_used_nearly_all_needs_what_it_had() {
    let asked = |past: &[Past]| {
        let sized = recommend(&Question { asked: size(12_000, 16 * GIB), ..question(past) });
        (sized.gets.cpu.0, sized.cpu)
    };
    let of = |n, (had, high): (u64, u64), throttled| Past {
        asked: (12_000, 16 * GIB),
        had: (had, 16 * GIB),
        cpu: (high / 2, high),
        throttled,
        ..past(n, GIB)
    };
    let full = |throttled| [of(0, (8000, 7200), throttled), of(1, (8000, 7200), throttled)];
    // The last one had more, and is not close to it.
    let last = of(2, (9500, 400), Some(0));
    let with_last = |throttled| [full(throttled).as_slice(), std::slice::from_ref(&last)].concat();
    assert_eq!(asked(&with_last(None)), (8000, Reason::Peaks { attempts: 3 }), "no less than it had");
    assert_eq!(asked(&with_last(Some(0))), (7950, Reason::Peaks { attempts: 3 }), "as ever");
    assert_eq!(asked(&with_last(Some(600))).0, 8000, "one that had more was not held back");
    let far: Vec<Past> = (0..3).map(|n| of(n, (8000, 7100), None)).collect();
    assert_eq!(asked(&far).0, 8000, "close to what it had");
    let far: Vec<Past> = (0..3).map(|n| of(n, (8000, 400), None)).collect();
    assert_eq!(asked(&far), (450, Reason::Peaks { attempts: 3 }), "it used little of it");
    // Without known throttling, the result never exceeds the request.
    let beyond: Vec<Past> = (0..3).map(|n| of(n, (15_000, 15_000), None)).collect();
    assert_eq!(asked(&beyond), (12_000, Reason::Asked));
}

#[test]
fn one_that_may_have_been_held_back_does_not_say_what_is_enough() {
    let held = |n| Past { cpu: (2000, 2000), throttled: Some(600), ..past(n, GIB) };
    let with = |high, throttled| {
        let more = Past { cpu: (high, high), had: (3000, 16 * GIB), throttled, ..past(9, GIB) };
        let past: Vec<Past> = (0..4).map(held).chain([more]).collect();
        let sized = recommend(&question(&past));
        (sized.gets.cpu.0, sized.cpu)
    };
    assert_eq!(with(2800, Some(0)), (3100, Reason::Peaks { attempts: 5 }));
    assert_eq!(with(2800, None), (3100, Reason::Throttled { percent: 60 }));
    assert_eq!(with(2200, None), (2450, Reason::Peaks { attempts: 5 }));
}

#[test]
fn amounts_stay_where_little_changes() {
    let mut past = steady(10);
    let first = memory(&question(&past)).0;
    for one in &mut past {
        one.had.1 = first.0;
    }
    past.push(Past { had: (2000, first.0), ..past[1].clone() });
    assert_eq!(memory(&question(&past)).0, first);
}

#[test]
fn a_gang_grows_within_what_the_project_may_hold() {
    let role = |name: &str, gets: u64| SizedRole {
        gets: size(2000, gets),
        ..SizedRole::asked(name, size(2000, 4 * GIB), Reason::RanOut { had: Bytes(4 * GIB) }, Reason::Asked)
    };
    let mut roles = [role("launcher", 4 * GIB), role("worker", 8 * GIB)];
    keep_within(&mut roles, &[1, 3], size(100_000, 22 * GIB));
    assert_eq!((roles[0].gets.memory, roles[1].gets.memory), (Bytes(4 * GIB), Bytes(6 * GIB)));
}

#[test]
fn a_gang_grows_no_further_than_the_nodes_can_hold_all_of_it() {
    let node = |cpu, memory, gpus| Amount { cpu: Cpu(cpu), memory: Bytes(memory), gpus };
    let two = [node(16_000, 64 * GIB, 0), node(16_000, 64 * GIB, 0)];
    let grown = |gets: Size, count: u32, cards: u32, nodes: &[Amount]| {
        let why = Reason::RanOut { had: Bytes(30 * GIB) };
        let asked = SizedRole::asked("worker", size(4000, 30 * GIB), why, Reason::Asked);
        let mut role = SizedRole { gets, ..asked };
        keep_placeable(&mut role, count, cards, nodes);
        role.gets
    };
    // Of 45 GiB one fits on a node, of 32 two.
    assert_eq!(grown(size(4000, 45 * GIB), 3, 0, &two), size(4000, 32 * GIB));
    assert_eq!(grown(size(4000, 45 * GIB), 2, 0, &two), size(4000, 45 * GIB));
    // Also by CPU, which is lowered before memory.
    assert_eq!(grown(size(9000, 30 * GIB), 3, 0, &two), size(8000, 30 * GIB));
    // If CPU is the only bound, memory stays exact: nothing limited it.
    assert_eq!(grown(size(9000, 30 * GIB + 5), 3, 0, &two), size(8000, 30 * GIB + 5));
    assert_eq!(grown(size(9000, 45 * GIB), 2, 0, &two[..1]), size(8000, 32 * GIB));
    let wide = [node(20_000, 64 * GIB, 0), node(9000, 64 * GIB, 0)];
    assert_eq!(grown(size(9500, 45 * GIB), 3, 0, &wide), size(9000, 32 * GIB));
    // GPUs count: the first node has only enough for one worker.
    let cards = [node(64_000, 256 * GIB, 2), node(64_000, 64 * GIB, 4)];
    assert_eq!(grown(size(4000, 45 * GIB), 3, 2, &cards), size(4000, 32 * GIB));
    // The request stays, whether it fits or not.
    assert_eq!(grown(size(4000, 45 * GIB), 5, 0, &two), size(4000, 30 * GIB));
    assert_eq!(grown(size(1000, GIB), 500, 0, &two), size(1000, GIB));
    assert_eq!(grown(size(4000, 45 * GIB), 3, 0, &[]), size(4000, 45 * GIB));
}

fn any_past() -> impl Strategy<Value = Past> {
    (
        1..40 * GIB,
        1..40 * GIB,
        0..9000_u64,
        50..9000_u64,
        prop::option::of(0..1000_u32),
        prop::option::of(0..1000_u32),
        any::<bool>(),
        any::<Option<u32>>(),
    )
        .prop_map(|(peak, had, cpu, had_cpu, throttled, cpu_waited, ran_out, input)| Past {
            had: (had_cpu, had),
            peak: peak.min(had),
            cpu: (cpu / 2, cpu),
            throttled,
            cpu_waited,
            input: input.map(u64::from),
            end: if ran_out { PastEnd::OutOfMemory } else { PastEnd::Succeeded },
            ..past(1, 0)
        })
}

/// Usage of attempts that all used about the same: the share of the request, the spread of the peaks, and
/// the share of the request that they had.
fn any_steady() -> impl Strategy<Value = Option<(f64, f64, f64)>> {
    prop::option::weighted(0.7, (0.3..1.0, 0.0..0.1, 0.95..1.15))
}

fn steadied(past: Vec<Past>, asked: u64, steady: Option<(f64, f64, f64)>) -> Vec<Past> {
    let Some((level, apart, had)) = steady else { return past };
    let of = |share: f64| (asked as f64 * share) as u64;
    let each = past.into_iter().enumerate().map(|(at, past)| Past {
        asked: (past.asked.0, asked),
        had: (past.had.0, of(had)),
        peak: of(level * (1.0 - apart * (at % 7) as f64 / 7.0)).min(of(had)),
        end: PastEnd::Succeeded,
        ..past
    });
    each.collect()
}

proptest! {
    #[test]
    fn never_beyond_the_bounds(
        past in prop::collection::vec(any_past(), 0..70),
        (cpu, memory) in (10..8000_u64, 8 * MIB..64 * GIB),
        (most_cpu, most_memory) in (10..20_000_u64, MIB..128 * GIB),
        beside in 0..GIB,
        ran_out in prop::option::of(1..64 * GIB),
        steady in any_steady(),
    ) {
        let past = steadied(past, memory, steady);
        let asked = size(cpu, memory);
        let most = size(most_cpu, most_memory);
        let ran_out = ran_out.map(Bytes);
        let asks = Question { asked, most, beside: Bytes(beside), ran_out, ..question(&past) };
        let sized = recommend(&asks);
        prop_assert!(sized.gets.memory.0 <= memory.max(most_memory));
        prop_assert!(sized.gets.cpu.0 <= cpu.max(most_cpu) && sized.gets.cpu.0 <= cpu * 2);
        prop_assert!(sized.gets.memory.0 >= memory.min(64 * MIB + beside));
        prop_assert!(sized.gets.cpu.0 >= cpu.min(100));
        let has_evidence = ran_out.is_some() || past.iter().any(|past| past.end == PastEnd::OutOfMemory || past.peak > memory);
        prop_assert!(has_evidence || sized.gets.memory.0 <= memory);
        prop_assert!(past.iter().any(|past| past.throttled.max(past.cpu_waited).is_some_and(|held| held >= 250)) || sized.gets.cpu.0 <= cpu);
        for by in [Keeper::Template, Keeper::Unchecked, Keeper::Pinned] {
            let kept = recommend(&Question { kept: Kept::both(by), ..asks.clone() });
            prop_assert_eq!((kept.gets, kept.memory, kept.cpu), (asked, Reason::Kept { by }, Reason::Kept { by }));
        }
    }
}
