//! The `kaldi` template: a master that hands out work, and workers that execute it. The real programs are not
//! packaged: a stand-in hands out its parts as a recipe does.

use std::fs;

use super::ledger::{assert_apart, killing_a_worker_fails, read, wait_for_none};
use super::rig::{app, folder, job, run, shipped};
use crate::support::{instance, outputs};

#[test]
fn the_example_of_kaldi() {
    let app = app();
    let run = run(&app, 0, &shipped("task-templates/kaldi/example.yaml"), &[]);
    let recipe = outputs(&run, "recipe");
    assert_eq!((&recipe["total"], &recipe["parts"]), (&499_500.into(), &6.into()));
    assert!(wait_for_none(&app).is_empty(), "workers are stopped with the master");
}

#[test]
fn kaldi_parts_live_apart_and_add_up() {
    let app = app();
    let run = run(&app, 0, &job("kaldi"), &[]);
    let entries = read(&folder(&run));
    assert_apart(&app, &entries, 2);
    // Either worker may get the first part.
    let mut shares: Vec<u64> = entries.iter().map(|entry| entry["share"].as_u64().unwrap()).collect();
    shares.sort_unstable();
    assert_eq!(shares, [249_500, 250_000]);
    for part in 1..=4 {
        let text = fs::read_to_string(folder(&run).join(format!("more.{part}"))).unwrap();
        assert_eq!(text, format!("{part}\n"), "a pipe is the shell's");
    }
}

#[test]
fn kaldi_tells_the_recipe_which_part_failed() {
    let app = app();
    let run = run(&app, 1, &job("kaldi"), &["-p", "then=fail"]);
    let failure = &instance(&run, "gang")["state"]["failure"];
    assert_eq!(failure["worker"], serde_json::json!({"role": "master", "index": 0}), "{failure}");
    let said = app.expect(0, &["logs", "latest", "gang", "--worker", "master-0", "--stderr"]).out;
    assert!(said.contains("1 / 4 failed, log is in log/wrong.3.log"), "{said}");
    let log = fs::read_to_string(folder(&run).join("log/wrong.3.log")).unwrap();
    assert_eq!(log, "# test 3 -ne 3\n# Ended with code 1\n");
}

#[test]
fn kaldi_fails_when_a_worker_is_killed() {
    killing_a_worker_fails(&app(), "kaldi", &["-p", "then=hold"], "worker", 1);
}
