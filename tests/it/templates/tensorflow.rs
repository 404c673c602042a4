//! The `tensorflow` template: workers that mirror one model, and a chief with parameter servers that never
//! end by themselves.

use std::fs;

use serde_json::{Value, json};

use super::ledger::{
    assert_apart, is_there, killing_a_worker_fails, killing_rank_1_fails, read, wait_for_none,
};
use super::rig::{app, folder, job, run, shipped};
use crate::support::{outputs, states};

#[test]
#[ignore = "needs 2 GB of packages: make test-templates"]
fn the_example_of_tensorflow() {
    let app = app();
    let run = run(&app, 0, &shipped("task-templates/tensorflow/example.yaml"), &[]);
    assert_eq!(states(&run), [("mirrored", "succeeded"), ("served", "succeeded")]);
    assert_eq!(outputs(&run, "mirrored")["replicas"], 2);
    assert_eq!(outputs(&run, "served")["steps"], 200);
    for task in ["mirrored", "served"] {
        let bias = outputs(&run, task)["bias"].as_f64().unwrap();
        assert!((bias - 0.25).abs() < 0.01, "{task} found {bias}");
    }
    assert!(wait_for_none(&app).is_empty(), "servers are ended with their chief");
}

#[test]
#[ignore = "needs 2 GB of packages: make test-templates"]
fn tensorflow_workers_live_apart_and_add_up() {
    let app = app();
    let run = run(&app, 0, &job("tensorflow"), &[]);
    let entries = read(&folder(&run));
    assert_apart(&app, &entries, 2);
    for (entry, share) in entries.iter().zip([250_000, 249_500]) {
        assert_eq!((&entry["share"], &entry["total"]), (&share.into(), &499_500.into()), "{entries:?}");
    }
    let judge: Value =
        serde_json::from_str(&fs::read_to_string(folder(&run).join("judge")).unwrap()).unwrap();
    assert_eq!(judge, json!({"type": "evaluator", "index": 0}));
    assert!(wait_for_none(&app).is_empty(), "the evaluator is ended with the job");
}

#[test]
#[ignore = "needs 2 GB of packages: make test-templates"]
fn a_model_of_keras_2_is_fitted_by_all_workers() {
    let run = run(&app(), 0, &job("tensorflow-keras"), &[]);
    let told = outputs(&run, "fit");
    assert_eq!((&told["keras"], &told["replicas"], &told["fell"]), (&"2".into(), &2.into(), &true.into()));
    let near = |name: &str, value: f64| (told[name].as_f64().unwrap() - value).abs() < 0.05;
    assert!(near("slope", 3.0) && near("bias", 0.25), "{told}");
}

#[test]
#[ignore = "needs 2 GB of packages: make test-templates"]
fn tensorflow_fails_when_a_worker_is_killed() {
    killing_rank_1_fails(&app(), "tensorflow", &["-p", "hold=true"], 2, |data| {
        is_there(data, "runs", "busy")
    });
}

#[test]
#[ignore = "needs 2 GB of packages: make test-templates"]
fn tensorflow_fails_when_a_parameter_server_is_killed() {
    killing_a_worker_fails(&app(), "tensorflow-served", &[], "ps", 1);
}
