//! The `spark` template as a standalone cluster: a driver with its master, and executors.

use std::fs;

use rustix::process::{Signal, kill_process};
use serde_json::json;

use super::ledger::{PATIENCE, is_there, of_worker, wait_for_none, worker_of};
use super::rig::{app, folder, job, run, shipped};
use crate::support::{instance, outputs, wait_within};

#[test]
#[ignore = "needs 500 MB of packages, and Java: make test-templates"]
fn the_example_of_spark() {
    let app = app();
    let run = run(&app, 0, &shipped("task-templates/spark/example.yaml"), &[]);
    let files = fs::read_dir(shipped("task-templates/spark")).unwrap().flatten().map(|entry| entry.path());
    let texts =
        files.filter(|path| path.extension().is_some_and(|it| it == "py" || it == "md" || it == "yaml"));
    let words: usize = texts.map(|path| fs::read_to_string(path).unwrap().split_whitespace().count()).sum();
    let told = outputs(&run, "count");
    assert_eq!((&told["words"], &told["executors"]), (&words.into(), &2.into()), "{told}");
    assert!(folder(&run).join("counts/_SUCCESS").exists(), "Parquet was written whole");
    assert!(wait_for_none(&app).is_empty(), "master and executors are ended with the driver");
}

#[test]
#[ignore = "needs 500 MB of packages, and Java: make test-templates"]
fn spark_fails_as_its_program_does() {
    let app = app();
    let run = run(&app, 1, &job("spark"), &["-p", "then=fail"]);
    let failure = &instance(&run, "gang")["state"]["failure"];
    assert_eq!((&failure["kind"], &failure["exit_code"]), (&"exit".into(), &7.into()), "{failure}");
    assert_eq!(failure["worker"]["role"], "driver", "{failure}");
    assert!(wait_for_none(&app).is_empty());
}

#[test]
#[ignore = "needs 500 MB of packages, and Java: make test-templates"]
fn spark_fails_when_an_executors_worker_is_killed() {
    let app = app();
    let running = app.start(&["run", &job("spark"), "-p", "then=hold"]);
    wait_within(PATIENCE, "the program to run", || is_there(&app.data(), "runs", "busy"));
    let pid = of_worker(&app, "executor", 1);
    kill_process(worker_of(&app, &json!({"pid": pid})), Signal::KILL).expect("it can be killed");
    assert_eq!(running.wait().code, Some(1));
    let run = app.latest();
    let failure = &instance(&run, "gang")["state"]["failure"];
    assert_eq!((&failure["kind"], &failure["signal"]), (&"signal".into(), &9.into()), "{failure}");
    assert_eq!(failure["worker"], json!({"role": "executor", "index": 1}), "{failure}");
    assert!(wait_for_none(&app).is_empty());
}
