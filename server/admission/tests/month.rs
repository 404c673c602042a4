//! A simulated month, smaller than the one of `cubeloom bench admission`.

use std::time::Duration;

use cubeloom_admission::simulate::{Scenario, simulate};

/// The month of `cubeloom bench month`, which the documentation describes: two seconds in a release build,
/// half a minute in a debug build.
#[test]
#[ignore = "ten thousand jobs"]
fn a_month_of_ten_thousand_jobs_holds_every_invariant() {
    let scenario = Scenario::default();
    let report = simulate(&scenario).unwrap();
    assert_eq!((report.succeeded + report.failed, scenario.jobs), (10_000, 10_000), "{report:#?}");
    assert!(report.longest_owed <= Duration::from_secs(61) && report.owed > 100, "{report:#?}");
    assert!(report.queues.values().all(|queue| queue.longest < scenario.patience), "{report:#?}");
}

#[test]
fn nobody_starves_and_guarantees_are_met_in_a_month() {
    let mut owed_with_less = 0;
    for seed in [1, 2] {
        let length = Duration::from_secs(60 * 3600);
        let scenario = Scenario { seed, jobs: 800, length, estimate_every: 50, ..Scenario::default() };
        let report = simulate(&scenario).unwrap();
        assert_eq!(report.succeeded + report.failed, scenario.jobs);
        assert!(report.utilisation > 0.5, "{report:#?}");
        // The month has preemptions at all.
        assert!(report.preempted > 0 && report.workers_given_back > 0 && report.owed > 0, "{report:#?}");
        assert!(report.restarts > 0, "{report:#?}");
        owed_with_less += report.owed_with_less;
        assert!(report.longest_owed <= Duration::from_secs(61), "{report:#?}");
        assert_eq!(simulate(&scenario).unwrap(), report, "the month follows from its seed");
    }
    assert!(owed_with_less > 0, "also while a node is lost");
}
