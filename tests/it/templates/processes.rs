//! `processes_per_gpu`: workers with several processes each, on CPUs.

use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::ledger::{Entry, PATIENCE, is_there, read, wait_for_none};
use super::rig::{app, folder, job, run, shipped};
use crate::support::{instance, outputs, program, wait_within};

#[test]
fn processes_of_workers_find_each_other_by_their_own_places() {
    let app = app();
    assert_processes_met(&read(&folder(&run(&app, 0, &job("processes"), &[]))));
    let log = app.expect(0, &["logs", "latest", "gang", "--stdout"]).out;
    assert!((0..4).all(|rank| log.contains(&format!("[rank {rank}] process {rank} met all"))), "{log}");
}

/// Two workers of two processes each have connected, and each process knows its rank.
pub fn assert_processes_met(entries: &[Entry]) {
    assert_eq!(entries.len(), 4, "{entries:?}");
    for (rank, entry) in entries.iter().enumerate() {
        assert_eq!(
            (&entry["rank"], &entry["task"], &entry["world"]),
            (&rank.into(), &rank.into(), &4.into())
        );
        assert_eq!(entry["met"], json!([0, 1, 2, 3]), "{entry}");
        assert_eq!(entry["says"], format!("{rank} of 4"), "{entry}");
        let local = [("LOCAL_RANK", rank % 2), ("LOCAL_WORLD_SIZE", 2), ("GROUP_RANK", rank / 2)];
        for (name, value) in local {
            assert_eq!(entry[name], value.to_string(), "{entry}");
        }
        assert_eq!(entry["host"], entries[rank / 2 * 2]["host"], "those of a worker have its address");
    }
}

#[test]
fn a_process_that_is_killed_is_named_and_the_others_are_ended() {
    let app = app();
    let running = app.start(&["run", &job("processes"), "-p", "hold=true"]);
    let data = app.data();
    wait_within(PATIENCE, "the ranks to meet and work", || is_there(&data, "runs", "busy"));
    let entries = read(&folder(&app.latest()));
    let pid = entries[3]["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    kill_process(pid.expect("a pid"), Signal::KILL).expect("it can be killed");
    assert_eq!(running.wait().code, Some(1));
    let failure = instance(&app.latest(), "gang")["state"]["failure"].clone();
    assert_eq!((&failure["kind"], &failure["exit_code"]), (&"exit".into(), &137.into()), "{failure}");
    assert_eq!(failure["worker"], json!({"role": "worker", "index": 1}), "{failure}");
    let sentence =
        "rank 3 (process 1 of this worker) was ended by SIGKILL; the other process is ended because of it";
    let lines = failure["last_lines"].as_array().expect("lines");
    assert!(lines.iter().any(|line| line.as_str().is_some_and(|line| line.contains(sentence))), "{failure}");
    assert!(wait_for_none(&app).is_empty());
}

#[test]
#[ignore = "needs python3-torch: make test-templates"]
fn the_example_of_gpu_sharing() {
    let app = app();
    let run = run(&app, 0, &shipped("examples/gpu-sharing/pipeline.yaml"), &[]);
    let train = outputs(&run, "train");
    assert_eq!((&train["ranks"], &train["sum"]), (&4.into(), &6.into()), "0 + 1 + 2 + 3: {train}");
    assert_eq!(train["local"], json!([[0, 0], [1, 0], [0, 1], [1, 1]]), "by rank: LOCAL_RANK, GROUP_RANK");
    assert!(train["loss"].as_f64() < Some(0.01), "{train}");
}

/// The part of `make test-card` that needs no GPU.
#[test]
#[ignore = "needs python3-torch: make test-templates"]
fn the_check_of_a_card_is_in_order() {
    let check = concat!(env!("CARGO_MANIFEST_DIR"), "/card/check");
    let done = Command::new("/usr/bin/python3")
        .arg(check)
        .arg(program::cubeloom())
        .arg("--processors")
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}
