//! The `paddle` template: processes that `paddle.distributed.launch` starts in each worker, connected by
//! Gloo.

use super::ledger::{assert_apart, is_there, killing_rank_1_fails, read, wait_for_none};
use super::rig::{app, folder, job, run, shipped};
use crate::support::{outputs, states};

#[test]
#[ignore = "needs 900 MB of packages: make test-templates"]
fn the_example_of_paddle() {
    let app = app();
    let run = run(&app, 0, &shipped("task-templates/paddle/example.yaml"), &[]);
    assert_eq!(states(&run), [("fit", "succeeded")]);
    let fit = outputs(&run, "fit");
    assert_eq!((&fit["processes"], &fit["rows"]), (&2.into(), &2_000.into()));
    let bias = fit["bias"].as_f64().unwrap();
    assert!((bias - 0.25).abs() < 0.01, "{bias}");
}

#[test]
#[ignore = "needs 900 MB of packages: make test-templates"]
fn paddle_processes_live_apart_and_add_up() {
    let app = app();
    let run = run(&app, 0, &job("paddle"), &[]);
    let entries = read(&folder(&run));
    assert_apart(&app, &entries, 2);
    for (entry, share) in entries.iter().zip([250_000, 249_500]) {
        assert_eq!((&entry["share"], &entry["total"]), (&share.into(), &499_500.into()), "{entries:?}");
        assert_eq!(entry["worker"], format!("worker-{}", entry["rank"]), "{entries:?}");
    }
    assert!(wait_for_none(&app).is_empty());
}

#[test]
#[ignore = "needs 900 MB of packages: make test-templates"]
fn paddle_fails_when_a_worker_is_killed() {
    killing_rank_1_fails(&app(), "paddle", &["-p", "hold=true"], 2, |data| is_there(data, "runs", "busy"));
}
