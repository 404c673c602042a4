//! Records written by an account are trusted only within plausible bounds.

use cubeloom_workers::ends::End;

use super::*;

fn record(started: i64, ended: i64, amount: u64) -> ExitRecord {
    let usage = UsageSummary {
        cpu_us: amount,
        peak_memory: Bytes(amount),
        kernel_peak_memory: Some(Bytes(amount)),
        memory: Some(MemorySpread { middle: Bytes(amount), high: Bytes(amount) }),
        cpu_high: Some(Cpu(amount)),
        throttled: Some(u32::MAX),
        cpu_waited: Some(u32::MAX),
        card_us: Some(amount),
    };
    let exit = ExitRecord::without_run(End::Exit { code: 0 }, false, Timestamp(ended));
    ExitRecord { started_at: Some(Timestamp(started)), usage, ..exit }
}

#[test]
fn a_forged_record_is_kept_between_what_can_be() {
    let span = Span::new(Timestamp(1_000_000), Timestamp(3_000_000));
    for forged in [record(i64::MIN, i64::MAX, u64::MAX), record(i64::MAX, i64::MIN, u64::MAX)] {
        let exit = span.exit(&forged);
        let began = exit.started_at.unwrap();
        assert!(began >= span.since && began <= exit.ended_at && exit.ended_at <= span.now, "{exit:?}");
        let usage = exit.usage;
        assert!(usage.cpu_us <= 3_000_000 * MOST_CPUS && usage.card_us.unwrap() <= 3_000_000 * MOST_CARDS);
        assert_eq!((usage.peak_memory.0, usage.kernel_peak_memory.unwrap().0), (MOST, MOST));
        assert_eq!(usage.memory, Some(MemorySpread { middle: Bytes(MOST), high: Bytes(MOST) }));
        assert_eq!((usage.cpu_high, usage.throttled), (Some(Cpu(MOST_CPUS * 1000)), Some(1000)));
    }
    let many = vec![
        ExitRecord {
            usage: UsageSummary { cpu_us: MOST, card_us: Some(MOST), ..UsageSummary::default() },
            ..record(0, 0, 0)
        };
        3
    ];
    assert_eq!((sum(many.iter()).cpu_us, sum(many.iter()).card_us), (MOST, Some(MOST)));
}

#[test]
fn an_honest_record_stays_as_it_is() {
    let span = Span::new(Timestamp(1_000_000), Timestamp(9_000_000));
    let mut honest = record(2_000_000, 8_000_000, 700_000);
    (honest.usage.throttled, honest.usage.cpu_waited) = (Some(3), Some(4));
    assert_eq!(span.exit(&honest), honest);
}

/// Nodes whose clocks are ahead of or behind the server's: a run is shifted, but counts in full.
#[test]
fn a_record_of_another_clock_keeps_how_long_it_ran() {
    let span = Span::new(Timestamp(1_000_000), Timestamp(9_000_000));
    let ran = |began: i64, ended: i64| {
        let exit = span.exit(&record(began, ended, 0));
        (exit.started_at.unwrap().0, exit.ended_at.0)
    };
    assert_eq!(ran(-5_000_000, -3_000_000), (1_000_000, 3_000_000), "behind");
    assert_eq!(ran(20_000_000, 22_000_000), (7_000_000, 9_000_000), "ahead");
    assert_eq!(ran(500_000, 2_500_000), (1_000_000, 3_000_000));
    assert_eq!(ran(8_000_000, 10_000_000), (7_000_000, 9_000_000));
    assert_eq!(ran(5_000_000, 5_000_000), (4_999_000, 5_000_000), "what ran took a moment");
    assert_eq!(ran(-90_000_000, 90_000_000), (1_000_000, 9_000_000));
}

#[test]
fn only_the_workers_of_the_job_are_read_and_all_together_no_more_than_so_much() {
    let dir = tempfile::tempdir().unwrap();
    let sample = "{\"at\": 1, \"cpu_us\": 2, \"memory\": 3}\n";
    for name in ["worker-0", "worker-1", "other-0"] {
        let folder = dir.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join(STDOUT), "").unwrap();
        std::fs::write(folder.join(crate::spec::USAGE), sample).unwrap();
        std::fs::write(folder.join(OUTPUTS), "{\"output\": {\"a\": \"1\"}}\n").unwrap();
    }
    let named = || (0..3).map(|index| WorkerName { role: "worker".into(), index }).collect::<Vec<_>>();
    let counts = |most| {
        let all = usage_within(&dir.path().into(), named(), most).unwrap();
        all.iter().map(|one| (one.worker.to_string(), one.samples.len())).collect::<Vec<_>>()
    };
    assert_eq!(counts(TOGETHER), [("worker-0".into(), 1), ("worker-1".into(), 1)], "worker 2 has not begun");
    assert_eq!(counts(sample.len() as u64), [("worker-0".into(), 1), ("worker-1".into(), 0)]);
    assert_eq!(reported(dir.path(), named(), &Reports::default()).unwrap().len(), 2);
    let logs = logs(&dir.path().into(), named()).unwrap();
    let logs: Vec<String> = logs.iter().map(|log| log.name.worker.to_string()).collect();
    assert_eq!(logs, ["worker-0", "worker-0", "worker-1", "worker-1"], "`other-0` is none of the job's");
}
