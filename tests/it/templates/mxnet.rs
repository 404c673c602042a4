//! The `mxnet` template: workers that train, and servers that add up their gradients.

use super::ledger::{
    assert_apart, is_there, killing_a_worker_fails, killing_rank_1_fails, read, wait_for_none,
};
use super::rig::{app, folder, job, run, shipped};
use crate::support::{instance, outputs, states};

#[test]
fn the_example_of_mxnet() {
    let app = app();
    let run = run(&app, 0, &shipped("task-templates/mxnet/example.yaml"), &[]);
    assert_eq!(states(&run), [("fit", "succeeded")]);
    let fit = outputs(&run, "fit");
    assert_eq!((&fit["workers"], &fit["rows"]), (&2.into(), &2_000.into()));
    let bias = fit["bias"].as_f64().unwrap();
    assert!((bias - 0.25).abs() < 0.01, "{bias}");
    assert!(wait_for_none(&app).is_empty(), "scheduler and server end with the workers");
}

#[test]
fn mxnet_workers_live_apart_and_servers_add_up() {
    let app = app();
    let run = run(&app, 0, &job("mxnet"), &[]);
    let entries = read(&folder(&run));
    assert_apart(&app, &entries, 2);
    for entry in &entries {
        assert_eq!(entry["totals"], serde_json::json!([499_500, 999_000, 1_498_500, 1_998_000]));
    }
    // MXNet assigns its own ranks, in a different order than the platform.
    let mut shares: Vec<u64> = entries.iter().map(|entry| entry["share"].as_u64().unwrap()).collect();
    shares.sort_unstable();
    assert_eq!(shares, [249_500, 250_000]);
}

#[test]
fn mxnet_fails_when_a_script_does() {
    let app = app();
    let run = run(&app, 1, &job("mxnet"), &["-p", "then=fail"]);
    let failure = &instance(&run, "gang")["state"]["failure"];
    assert_eq!(failure["worker"], serde_json::json!({"role": "worker", "index": 1}), "{failure}");
    let log = app.expect(0, &["logs", "latest", "gang", "--worker", "worker-1", "--stderr"]).out;
    assert!(log.contains("ValueError: there is a mistake in this worker's rows"), "{log}");
}

#[test]
fn mxnet_fails_when_a_worker_is_killed() {
    killing_rank_1_fails(&app(), "mxnet", &["-p", "then=hold"], 2, |data| is_there(data, "runs", "busy"));
}

#[test]
fn mxnet_fails_when_a_server_is_killed() {
    killing_a_worker_fails(&app(), "mxnet", &["-p", "then=hold"], "server", 1);
}
