//! Single rules on constant series. `tests/scenarios` plays hours of realistic trainings.

use std::collections::BTreeMap;

use super::*;

const STEP: f64 = 30.0;
const COUNT: usize = 121;

fn history(series: &[(CardMeasure, Vec<Option<f64>>)]) -> CardHistory {
    CardHistory { start: 0.0, step: STEP, series: BTreeMap::from_iter(series.iter().cloned()) }
}

fn constant(value: f64) -> Vec<Option<f64>> {
    vec![Some(value); COUNT]
}

/// A GPU with unknown memory, which cannot be shared.
fn held(history: &CardHistory, seconds: f64, cores: Option<f64>) -> Held<'_> {
    let sharing = Sharing::default();
    Held { history, seconds, cores, asked: None, card_memory: None, memory: None, sharing }
}

fn rules(history: &CardHistory, seconds: f64, cores: Option<f64>) -> Vec<&'static str> {
    advice(held(history, seconds, cores), &Thresholds::default()).iter().map(|found| found.rule).collect()
}

#[test]
fn a_held_card_that_nobody_uses_is_idle_whatever_its_memory() {
    let full = history(&[(CardMeasure::Usage, constant(0.004)), (CardMeasure::MemoryUsed, constant(8e10))]);
    assert_eq!(rules(&full, 7200.0, None), ["held_idle"]);
    let found = advice(held(&full, 7200.0, None), &Thresholds::default());
    assert_eq!(found[0].evidence, "the GPU is allocated, but was used only 0.4 % of the last 30 minutes");
    // A task in its warm-up is skipped, and so is a GPU with too few values.
    assert_eq!(rules(&full, 600.0, None), [""; 0]);
    let mut gaps = constant(0.0);
    gaps.iter_mut().step_by(3).for_each(|value| *value = None);
    assert_eq!(rules(&history(&[(CardMeasure::Usage, gaps)]), 7200.0, None), [""; 0]);
    assert_eq!(rules(&CardHistory::default(), 7200.0, None), [""; 0]);
    // An evaluation every quarter of an hour uses the GPU.
    let mut bursts = constant(0.0);
    bursts[100] = Some(0.9);
    assert_eq!(rules(&history(&[(CardMeasure::Usage, bursts)]), 7200.0, None), [""; 0]);
}

#[test]
fn when_a_card_was_last_busy_is_told_by_its_peaks() {
    let busy_at = |usage| {
        let history = history(&[(CardMeasure::Usage, usage)]);
        held(&history, 7200.0, None).busy_at(&Thresholds::default())
    };
    let mut usage = constant(0.01);
    assert_eq!(busy_at(usage.clone()), None);
    (usage[3], usage[40], usage[90]) = (Some(0.9), Some(0.5), Some(0.1));
    assert_eq!(busy_at(usage), Some(1200.0), "a tenth is nothing");
}

#[test]
fn a_card_that_waits_for_the_cpu_is_told_from_one_that_waits_for_something_else() {
    let of = |usage, cores| {
        history(&[(CardMeasure::Usage, constant(usage)), (CardMeasure::HolderCpu, constant(cores))])
    };
    assert_eq!(rules(&of(0.3, 7.8), 7200.0, Some(8.0)), ["cpu_saturated"]);
    assert_eq!(rules(&of(0.3, 2.0), 7200.0, Some(8.0)), [""; 0], "the CPU is idle, too");
    assert_eq!(rules(&of(0.9, 7.8), 7200.0, Some(8.0)), [""; 0], "both are busy");
    assert_eq!(rules(&of(0.3, 7.8), 7200.0, None), [""; 0], "nobody knows what was asked for");
    assert_eq!(rules(&of(0.0, 7.8), 7200.0, Some(8.0)), ["held_idle"]);
    let told = &advice(held(&of(0.3, 7.8), 7200.0, Some(8.0)), &Thresholds::default())[0];
    assert!(
        told.evidence.contains("30.0 %") && told.evidence.contains("7.8 of the task's 8.0 CPUs"),
        "{}",
        told.evidence
    );
    assert_eq!(told.remedies[0].pytorch, Some("DataLoader(batch_size=…)"), "first a bigger batch");
}

#[test]
fn where_sizing_has_taken_cores_away_the_first_thing_is_to_give_them_again() {
    let of = |asked| {
        let history =
            history(&[(CardMeasure::Usage, constant(0.3)), (CardMeasure::HolderCpu, constant(1.9))]);
        let held = Held { asked, ..held(&history, 7200.0, Some(2.0)) };
        advice(held, &Thresholds::default()).remove(0)
    };
    let cut = of(Some(8.0));
    assert!(
        cut.evidence.contains("1.9 of the task's 2.0 CPUs were busy, and it requested 8.0"),
        "{}",
        cut.evidence
    );
    assert_eq!(cut.remedies[0].setting, Some("resources.pinned"));
    // It has what it requested, or more, or nothing is sized.
    for asked in [Some(2.0), Some(1.0), None] {
        let as_asked = of(asked);
        assert!(as_asked.evidence.ends_with("CPUs were busy: the GPU waits for the CPU"), "{as_asked:?}");
        assert_eq!(as_asked.remedies[..], cut.remedies[1..]);
    }
}

#[test]
fn one_worker_that_sizing_took_cores_from_is_enough_to_give_them_again() {
    let worker =
        |cores| history(&[(CardMeasure::Usage, constant(0.3)), (CardMeasure::HolderCpu, constant(cores))]);
    let (as_asked, cut) = (worker(7.9), worker(1.9));
    let of = |worker, role, history, cores, asked| Peer {
        worker,
        role,
        held: Held { asked: Some(asked), ..held(history, 7200.0, Some(cores)) },
    };
    let master = of("master-0", "master", &as_asked, 8.0, 8.0);
    let worker = of("worker-0", "worker", &cut, 2.0, 8.0);
    for peers in [[master, worker], [worker, master]] {
        let found = of_task(&peers, &Thresholds::default());
        let [(told, workers)] = &found[..] else { panic!("{found:?}") };
        assert_eq!((told.rule, workers.len()), ("cpu_saturated", 2));
        assert!(told.evidence.contains("and it requested 8.0"), "{}", told.evidence);
        assert_eq!(told.remedies[0].setting, Some("resources.pinned"));
    }
}

#[test]
fn the_worker_that_all_wait_for_gets_the_cores_again_that_sizing_took() {
    let of = |asked: Option<f64>| {
        let worker = |cores| {
            history(&[(CardMeasure::Usage, constant(0.3)), (CardMeasure::HolderCpu, constant(cores))])
        };
        let histories = [worker(3.9), worker(1.0), worker(1.0)];
        let peers: Vec<Peer<'_>> = ["worker-0", "worker-1", "worker-2"]
            .into_iter()
            .zip(&histories)
            .map(|(worker, history)| Peer {
                worker,
                role: "worker",
                held: Held { asked, ..held(history, 7200.0, Some(4.0)) },
            })
            .collect();
        of_task(&peers, &Thresholds::default()).remove(0)
    };
    let (cut, workers) = of(Some(8.0));
    assert_eq!((cut.rule, workers), ("straggler", vec!["worker-0".to_owned()]));
    assert_eq!(cut.remedies[0].setting, Some("resources.pinned"));
    assert_eq!(of(None).0.remedies[..], cut.remedies[1..]);
}

fn told(series: &[(CardMeasure, Vec<Option<f64>>)], cores: f64) -> Vec<Advice> {
    told_of(series, cores, Sharing { processes: None, parts: true })
}

fn told_of(series: &[(CardMeasure, Vec<Option<f64>>)], cores: f64, sharing: Sharing) -> Vec<Advice> {
    let history = history(series);
    let held = Held { card_memory: Some(8e10), sharing, ..held(&history, 7200.0, Some(cores)) };
    advice(held, &Thresholds::default())
}

#[test]
fn a_task_is_given_time_to_begin() {
    let history = history(&[(CardMeasure::Usage, constant(0.3)), (CardMeasure::HolderCpu, constant(7.9))]);
    assert_eq!(rules(&history, 1700.0, Some(8.0)), [""; 0]);
    assert_eq!(rules(&history, 1800.0, Some(8.0)), ["cpu_saturated"]);
}

#[test]
fn what_waits_for_storage_does_not_wait_for_the_cpu() {
    let of = |waited, cores| {
        let series = [
            (CardMeasure::Usage, constant(0.3)),
            (CardMeasure::HolderCpu, constant(cores)),
            (CardMeasure::IoWait, constant(waited)),
        ];
        told(&series, 8.0).into_iter().map(|found| (found.rule, found.evidence)).collect::<Vec<_>>()
    };
    let found = of(0.6, 2.0);
    assert_eq!(
        found,
        [(
            "io_wait",
            "in the last 15 minutes the GPU was used 30.0 %, while the task or its node waited for storage in 60.0 % of \
             the time: the GPU waits for data"
                .to_owned()
        )]
    );
    assert_eq!(of(0.6, 7.9)[0].0, "cpu_saturated");
    assert_eq!(of(0.1, 2.0), []);
}

#[test]
fn how_many_processes_share_a_card_is_what_use_memory_and_cores_allow() {
    let of = |usage, memory, used| {
        let series = [
            (CardMeasure::Usage, constant(usage)),
            (CardMeasure::MemoryUsed, constant(memory * 8e10)),
            (CardMeasure::HolderCpu, constant(used)),
        ];
        told(&series, 8.0).into_iter().map(|found| (found.evidence, found.remedies.len())).collect::<Vec<_>>()
    };
    let found = of(0.2, 0.1, 1.0);
    assert_eq!(
        found[0].0,
        "in the last 30 minutes the GPU was used 20.0 %, and at most 7.5 GiB of its 74.5 GiB of memory was in use: by its use, its memory and the CPUs, 4 processes like this one fit on it"
    );
    assert!(of(0.2, 0.1, 3.0)[0].0.contains(" 2 processes"), "the cores are what is scarce");
    assert!(of(0.2, 0.24, 1.0)[0].0.contains(" 3 processes"), "the memory is what is scarce");
    assert_eq!(of(0.5, 0.1, 1.0)[0].1, 1, "there is no room for a second one: only a bigger batch helps");
    assert_eq!(of(0.2, 0.3, 1.0), [], "a third of its memory is not nearly empty");
    assert_eq!(of(0.8, 0.1, 1.0), [], "it has no time for more");
    assert_eq!(of(0.0, 0.1, 1.0).len(), 1, "that it is idle is another rule's");
}

/// A GPU with low use, whose task has this many busy cores.
fn roomy(used: f64) -> [(CardMeasure, Vec<Option<f64>>); 3] {
    [
        (CardMeasure::Usage, constant(0.2)),
        (CardMeasure::MemoryUsed, constant(8e9)),
        (CardMeasure::HolderCpu, constant(used)),
    ]
}

#[test]
fn a_card_is_shared_by_processes_of_its_worker_where_workers_train_together() {
    let of = |processes, parts| {
        let found = told_of(&roomy(1.0), 8.0, Sharing { processes, parts }).remove(0);
        let settings: Vec<_> = found.remedies.iter().filter_map(|remedy| found.setting(remedy)).collect();
        (settings, found.evidence)
    };
    let by_processes = "resources.processes_per_gpu: 4".to_owned();
    let by_parts = "resources.gpu.fraction".to_owned();
    assert_eq!(of(Some(1), false).0, std::slice::from_ref(&by_processes), "a gang");
    assert_eq!(
        of(Some(1), true).0,
        [by_processes, by_parts.clone()],
        "one worker of a framework for training"
    );
    assert_eq!(of(None, true).0, [by_parts], "one process for the platform");
    let (settings, evidence) = of(None, false);
    assert_eq!(settings, [""; 0], "a gang of such: only a bigger batch helps");
    assert!(evidence.ends_with("of memory was in use"), "{evidence}");
    // A worker that already has two processes: these are twice as many processes as four of it.
    let (settings, evidence) = of(Some(2), false);
    assert_eq!(settings, ["resources.processes_per_gpu: 8"]);
    assert!(evidence.contains(" 8 processes like this one fit"), "{evidence}");
    assert_eq!(of(Some(64), false).0, ["resources.processes_per_gpu: 64"], "more are refused");
}

#[test]
fn processes_of_one_worker_share_its_memory_and_others_bring_theirs() {
    let history = history(&roomy(1.0));
    let of = |memory, parts| {
        let sharing = Sharing { processes: Some(1), parts };
        let held = Held { card_memory: Some(8e10), memory, sharing, ..held(&history, 7200.0, Some(8.0)) };
        let found = advice(held, &Thresholds::default()).remove(0);
        let settings: Vec<_> = found.remedies.iter().filter_map(|remedy| found.setting(remedy)).collect();
        (settings, found.evidence)
    };
    let (settings, evidence) = of(Some(0.4), false);
    assert_eq!(settings, ["resources.processes_per_gpu: 2"]);
    assert!(
        evidence.ends_with("the worker's CPUs and memory, 2 processes like this one fit on it"),
        "{evidence}"
    );
    assert_eq!(of(Some(0.1), false).0, ["resources.processes_per_gpu: 4"]);
    let (settings, evidence) = of(Some(0.6), false);
    assert_eq!(settings, [""; 0], "its memory has no room for a second one");
    assert!(evidence.ends_with("of memory was in use"), "{evidence}");
    let (settings, evidence) = of(Some(0.6), true);
    assert_eq!(settings, ["resources.gpu.fraction"]);
    assert!(evidence.ends_with("the CPUs, 4 processes like this one fit on it"), "{evidence}");
}

#[test]
fn the_card_with_the_least_room_tells_how_many_processes_each_worker_may_be() {
    let histories = [roomy(1.0), roomy(3.0), roomy(2.0)].map(|series| history(&series));
    let peers: Vec<Peer<'_>> = ["worker-0", "worker-1", "worker-2"]
        .into_iter()
        .zip(&histories)
        .map(|(worker, history)| {
            let sharing = Sharing { processes: Some(1), parts: false };
            let held = Held { card_memory: Some(8e10), sharing, ..held(history, 7200.0, Some(8.0)) };
            Peer { worker, role: "worker", held }
        })
        .collect();
    let found = of_task(&peers, &Thresholds::default());
    let (advice, workers) = found.iter().find(|(advice, _)| advice.rule == "memory_empty").unwrap();
    assert_eq!((advice.processes, workers.len()), (Some(2), 3));
    assert!(advice.evidence.contains(" 2 processes like this one fit"), "{}", advice.evidence);
}
