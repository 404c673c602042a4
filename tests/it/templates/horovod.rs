//! The `horovod` template, built from source for Debian's `python3-torch`, once for all tests here.

use super::ledger::{assert_apart, is_there, killing_rank_1_fails, read, wait_for_none};
use super::rig::{app, folder, job, run, shipped};
use crate::support::{outputs, states};

#[test]
#[ignore = "needs python3-torch, a compiler, and five minutes: make test-templates"]
fn horovod_is_built_averages_gradients_and_fails_with_a_worker() {
    let mut app = app();
    // Its compilers need more memory than other tests have.
    app.set("CUBELOOM_LOCAL_MEMORY", "6Gi");
    let example = run(&app, 0, &shipped("task-templates/horovod/example.yaml"), &[]);
    assert_eq!(states(&example), [("build", "succeeded"), ("fit", "succeeded")]);
    let fit = outputs(&example, "fit");
    assert_eq!((&fit["ranks"], &fit["rows"]), (&2.into(), &2_000.into()));
    let bias = fit["bias"].as_f64().unwrap();
    assert!((bias - 0.25).abs() < 0.01, "{bias}");
    assert!(wait_for_none(&app).is_empty(), "the store ends with the launcher");
    let package = format!("package={}", outputs(&example, "build")["package"].as_str().unwrap());

    let sums = run(&app, 0, &job("horovod"), &["-p", &package]);
    let entries = read(&folder(&sums));
    assert_apart(&app, &entries, 2);
    for (entry, share) in entries.iter().zip([250_000, 249_500]) {
        assert_eq!((&entry["share"], &entry["total"]), (&share.into(), &499_500.into()), "{entries:?}");
        // The local rank, the worker's index, and the number of workers.
        assert_eq!(entry["places"], serde_json::json!([0, entry["rank"], 2]), "{entries:?}");
    }

    let words = ["-p", &package, "-p", "hold=true"];
    // The example's run has no such file.
    killing_rank_1_fails(&app, "horovod", &words, 2, |data| is_there(data, "runs", "busy"));
}
