//! The `indexed` template: work split into fixed shares, one per worker, or into shards that workers pull.

use std::fs;
use std::path::Path;

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use super::ledger::{
    PATIENCE, assert_apart, is_there, killing_rank_1_fails, of_worker, read, wait_for_none, worker_of,
};
use super::rig::{app, folder, job, run, sizes};
use crate::support::{TestApp, instance, outputs, wait_within};

#[test]
fn indexed_workers_live_apart_and_each_does_its_share() {
    let app = app();
    let entries = read(&folder(&run(&app, 0, &job("indexed"), &[])));
    assert_apart(&app, &entries, 3);
    let sum = |what: &str| entries.iter().map(|entry| entry[what].as_u64().unwrap()).sum::<u64>();
    // All numbers from 2 to 9,999, and the primes among them.
    assert_eq!((sum("numbers"), sum("primes")), (9_998, 1_229));
    assert!(entries.iter().all(|entry| entry["primes"].as_u64() > Some(0)), "{entries:?}");
}

#[test]
fn indexed_fails_when_a_worker_is_killed() {
    let message = killing_rank_1_fails(&app(), "indexed", &["-p", "hold=true"], 3, |data| {
        is_there(data, "runs", "busy")
    });
    // The workers share no connection through which they could notice the loss.
    assert!(message.ends_with("2 other workers were stopped because of it"), "{message}");
}

/// Each of the seven shards has one result, whatever happened, and the merge saw each exactly once.
#[track_caller]
fn assert_counted_once(run: &Value) {
    let (gang, folder) = (outputs(run, "gang"), folder(run));
    // The primes below 10,000.
    assert_eq!((&gang["primes"], &gang["shards"]), (&1_229.into(), &7.into()), "{gang}");
    let by_worker = gang["by_worker"].as_object().expect("as the template writes it").values();
    let counted: u64 = by_worker.map(|count| count.as_u64().expect("as the template writes it")).sum();
    assert_eq!(counted + gang["done_before"].as_u64().expect("as the template writes it"), 7, "{gang}");
    assert_eq!(
        fs::read_to_string(folder.join("merged")).expect("as the template writes it"),
        "0\n",
        "on worker 0"
    );
    // The outputs of the shards' runs count with their results.
    let report = &instance(run, "gang")["report"];
    let metrics = report["metrics"].as_array().expect("as the template writes it");
    let mut steps: Vec<u64> = metrics.iter().map(|it| it["step"].as_f64().expect("a step") as u64).collect();
    steps.sort_unstable();
    assert_eq!(steps, [0, 1, 2, 3, 4, 5, 6]);
    let artifacts = report["artifacts"].as_array().expect("as the template writes it");
    assert_eq!(artifacts.len(), 7, "{report}");
    for artifact in artifacts {
        assert!(
            folder.join(artifact["path"].as_str().expect("as the template writes it")).is_file(),
            "{artifact}"
        );
    }
}

/// The shard runs that succeeded, whether they counted or not, as (shard, worker index).
fn ran(run_dir: &Path) -> Vec<(u32, u32)> {
    let files = fs::read_dir(run_dir.join("ran")).into_iter().flatten().flatten();
    let parse = |file: fs::DirEntry| -> (u32, u32) {
        let name = file.file_name().into_string().expect("as the template writes it");
        let worker = fs::read_to_string(file.path()).expect("as the template writes it");
        (
            name.split('.')
                .next()
                .expect("as the template writes it")
                .parse()
                .expect("as the template writes it"),
            worker.parse().expect("as the template writes it"),
        )
    };
    let mut found: Vec<(u32, u32)> = files.map(parse).collect();
    found.sort_unstable();
    found
}

#[test]
fn shards_are_counted_once_and_merged() {
    let app = app();
    for dispatch in ["static", "dynamic"] {
        let run = run(&app, 0, &job("shards"), &["-p", &format!("dispatch={dispatch}")]);
        assert_counted_once(&run);
        let gang = outputs(&run, "gang");
        for what in ["leased_again", "failed", "duplicates", "done_before"] {
            assert_eq!(gang[what], 0, "{dispatch}: {gang}");
        }
        let ran = ran(&folder(&run));
        assert!(ran.iter().map(|(shard, _)| *shard).eq(0..7u32), "{ran:?}");
        assert!(dispatch == "dynamic" || ran.iter().all(|(shard, worker)| shard % 3 == *worker), "{ran:?}");
    }
}

#[test]
fn a_slow_shard_is_leased_again_and_counted_once() {
    let app = app();
    let run = run(&app, 0, &job("shards"), &["-p", "then=slow", "-p", "lease=5"]);
    assert_counted_once(&run);
    let gang = outputs(&run, "gang");
    assert!(gang["leased_again"].as_u64() >= Some(1), "{gang}");
    assert_eq!(gang["duplicates"], gang["leased_again"], "who was slower is told so: {gang}");
}

#[test]
fn a_shard_whose_process_is_killed_is_run_again() {
    let app = app();
    let run = run(&app, 0, &job("shards"), &["-p", "then=killed"]);
    assert_counted_once(&run);
    let gang = outputs(&run, "gang");
    assert_eq!((&gang["failed"], &gang["leased_again"]), (&1.into(), &0.into()), "{gang}");
}

/// Sends a signal to worker 1, which has a shard, and expects the others to do its work in the same attempt.
#[track_caller]
fn goes_on_without_worker_1(signal: Signal) {
    let app = app();
    let running = app.start(&["run", &job("shards"), "-p", "then=hold"]);
    wait_within(PATIENCE, "worker 1 to have a shard", || is_there(&app.data(), "runs", "busy"));
    let worker = worker_of(&app, &json!({"pid": of_worker(&app, "worker", 1)}));
    kill_process(worker, signal).expect("it can be signalled");
    let done = running.wait();
    assert_eq!(done.code, Some(0), "{done:?}");
    let run = app.latest();
    assert_counted_once(&run);
    assert_eq!(instance(&run, "gang")["attempt"], 1, "{run}");
    let gang = outputs(&run, "gang");
    assert_eq!((&gang["leased_again"], &gang["by_worker"]["worker-1"]), (&1.into(), &Value::Null), "{gang}");
    assert!(wait_for_none(&app).is_empty());
}

#[test]
fn the_shard_of_a_killed_worker_goes_to_another() {
    goes_on_without_worker_1(Signal::KILL);
}

#[test]
fn the_shard_of_a_worker_that_stands_still_goes_to_another() {
    goes_on_without_worker_1(Signal::STOP);
}

#[test]
fn workers_are_given_back_and_come_again_and_each_shard_counts_once() {
    let mut app = app();
    app.set("CUBELOOM_LOCAL_CPU", "1");
    app.set("CUBELOOM_SHARING_COOL_DOWN", "1s");
    let run = run(&app, 0, &job("stretches"), &[]);
    let gang = outputs(&run, "gang");
    assert_eq!((&gang["shards"], &gang["failed"]), (&24.into(), &0.into()), "{gang}");
    assert_eq!(instance(&run, "gang")["attempt"], 1, "{run}");
    assert!(wait_for_none(&app).is_empty());
    // The guest ran beside two of the three workers. After it ended, all three ran.
    assert_eq!(sizes(app, &run, "gang"), [3, 2, 3]);
}

#[test]
fn the_job_fails_with_worker_0() {
    let app = app();
    let running = app.start(&["run", &job("shards"), "-p", "then=hold"]);
    wait_within(PATIENCE, "worker 1 to have a shard", || is_there(&app.data(), "runs", "busy"));
    let worker = worker_of(&app, &json!({"pid": of_worker(&app, "worker", 0)}));
    kill_process(worker, Signal::KILL).expect("it can be killed");
    assert_eq!(running.wait().code, Some(1));
    let latest = app.latest();
    let failure = &instance(&latest, "gang")["state"]["failure"];
    assert_eq!((&failure["kind"], &failure["signal"]), (&"signal".into(), &9.into()), "{failure}");
    assert_eq!(failure["worker"], json!({"role": "worker", "index": 0}), "{failure}");
    assert!(wait_for_none(&app).is_empty());
}

#[test]
fn a_shard_that_always_fails_fails_the_task_with_its_log() {
    let app = app();
    let run = run(&app, 1, &job("shards"), &["-p", "then=fail"]);
    let failure = &instance(&run, "gang")["state"]["failure"];
    assert_eq!(failure["worker"], json!({"role": "worker", "index": 0}), "{failure}");
    let said = app.expect(0, &["logs", "latest", "gang", "--worker", "worker-0", "--stderr"]).out;
    let wrong = "shard 3: fail\nthe numbers of this shard cannot be read\n";
    for part in [
        wrong,
        "shard 3 failed 2 times: the last time it ended with exit code 1 on worker-",
        "/logs/3.1-2.log",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let log = fs::read_to_string(folder(&run).join("shards/gang.0/logs/3.1-2.log")).unwrap();
    assert_eq!(log, wrong);
    assert!(!folder(&run).join("merged").exists());
    assert!(wait_for_none(&app).is_empty());
}

#[test]
fn the_next_attempt_goes_on_with_the_shards_that_are_done() {
    let app = app();
    run(&app, 1, &job("shards"), &["-p", "then=retry", "-p", "attempts=1"]);
    app.expect(0, &["resume", "latest"]);
    let run = app.latest();
    assert_counted_once(&run);
    let before = outputs(&run, "gang")["done_before"].as_u64().unwrap();
    assert!((1..7).contains(&before), "{before}");
    let again = fs::read_dir(folder(&run).join("ran")).unwrap().flatten();
    let again = again.filter(|file| file.file_name().to_string_lossy().contains(".2.")).count();
    assert_eq!(again as u64, 7 - before, "none that was done is run again");
}

#[test]
fn wrong_arguments_of_indexed_are_refused() {
    let app = TestApp::new();
    app.write("wrong/a.py", "");
    for (arguments, argument, why) in [
        ("dispatch: dynamic", "shards", "dynamic dispatch needs shards; set their number"),
        ("merge: a.py", "merge", "there is nothing to merge without `shards`"),
        ("shards: 0", "shards", ""),
        ("shards: 2, dispatch: random", "dispatch", ""),
        ("shards: 2, lease: 0", "lease", ""),
        ("shards: 2, attempts: 0", "attempts", ""),
        (
            "shards: 2, dispatch: dynamic, workers: 2, min_workers: 3",
            "min_workers",
            "more than the maximum of 2 workers",
        ),
    ] {
        let task = format!("  - {{name: a, template: indexed, arguments: {{script: a.py, {arguments}}}}}\n");
        let said = app.expect(2, &["validate", &app.pipeline("wrong", &task)]).out;
        assert!(said.contains(&format!("/tasks/0/arguments/{argument}: ")) && said.contains(why), "{said}");
    }
    let task = "  - {name: a, template: indexed, arguments: {script: a.py}, elastic: {min: 1, max: 2}}\n";
    let said = app.expect(2, &["validate", &app.pipeline("wrong", task)]).out;
    assert!(said.contains("/tasks/0/elastic: ") && said.contains("with these arguments"), "{said}");
}
