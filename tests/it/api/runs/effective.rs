//! The goodput of runs and tasks.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cubeloom_domain::Timestamp;
use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::record::{AttemptRecord, Changes, InstanceRecord};
use cubeloom_domain::state::AttemptState;
use cubeloom_store::Lease;
use serde_json::Value;

use super::help::{document, start, task, until, until_task};
use super::pages::page;
use crate::api::identity::help::with_store;
use crate::api::support::{Server, Who};

/// Steps of 0.2 seconds each, reported with timestamps. The first attempt fills the disk after the fourth
/// step; the second restores a checkpoint from after the second step.
const TRAIN: &str = r#"from=$(if [ $CUBELOOM_ATTEMPT = 1 ]; then echo 1; else echo 3; fi);
      to=$(if [ $CUBELOOM_ATTEMPT = 1 ]; then echo 4; else echo 6; fi);
      echo '{"restored": {"seconds": 0.001}}' >> $CUBELOOM_OUTPUTS;
      for step in $(seq $from $to); do sleep 0.2;
      echo "{\"progress\": {\"step\": $step, \"total\": 6, \"at\": $(date +%s.%N)}}" >> $CUBELOOM_OUTPUTS; done;
      if [ $CUBELOOM_ATTEMPT = 1 ]; then sleep 0.3; echo "OSError: [Errno 28] No space left on device" >&2; exit 1; fi"#;

fn part(effective: &Value, name: &str) -> f64 {
    let parts = effective["parts"].as_array().unwrap();
    let found = parts.iter().find(|one| one["part"] == name);
    found.map_or(0.0, |one| one["seconds"].as_f64().unwrap())
}

fn whole(effective: &Value) -> f64 {
    effective["parts"].as_array().unwrap().iter().map(|one| one["seconds"].as_f64().unwrap()).sum()
}

#[test]
fn a_run_says_what_its_time_went_to() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let line = TRAIN.split_whitespace().collect::<Vec<_>>().join(" ");
    let tasks = [
        task("train", &line, "    retry: {attempts: 2, backoff: {initial: 1s}}\n"),
        task("quiet", "sleep 1", ""),
        task("never", "true", "    when: \"{{ 1 == 2 }}\"\n"),
    ];
    let run = start(&editor, &document("effective", &format!("tasks:\n{}", tasks.concat())));
    until(&editor, &run, "succeeded");

    let of = |path: &str| editor.get(path).json()["effective"].clone();
    let train = of(&format!("/runs/{run}/tasks/train"));
    assert!((whole(&train) - train["seconds"].as_f64().unwrap()).abs() < 1e-3, "{train}");
    assert_eq!((&train["attempts"], &train["attempts_with_steps"]), (&2.into(), &2.into()));
    let share = part(&train, "useful") / whole(&train);
    assert!((train["share"].as_f64().unwrap() - share).abs() < 1e-6, "{train}");
    // Four steps, two of them repeated, and two more.
    assert!((1.0..3.0).contains(&part(&train, "useful")), "{train}");
    assert!((0.3..1.2).contains(&part(&train, "again")), "{train}");
    assert!(part(&train, "storage") >= 0.25, "{train}");
    assert!(part(&train, "waiting") >= 0.9, "the wait for the next try: {train}");
    assert!(part(&train, "restoring") > 0.0 && part(&train, "program") == 0.0, "{train}");

    let quiet = of(&format!("/runs/{run}/tasks/quiet"));
    assert_eq!((&quiet["attempts"], &quiet["attempts_with_steps"]), (&1.into(), &0.into()));
    assert!(part(&quiet, "useful") >= 0.9, "{quiet}");
    assert_eq!(of(&format!("/runs/{run}/tasks/never")), Value::Null, "it took no time");
    let all = of(&format!("/runs/{run}"));
    assert!((whole(&all) - whole(&train) - whole(&quiet)).abs() < 1e-3, "{all}");

    let shown = page(&editor, &format!("/runs/{run}/tasks/train"));
    for text in ["Goodput", "repeated steps", "failure: storage"] {
        assert!(shown.contains(text), "{text} in {shown}");
    }
    assert!(!shown.contains("attempts reported steps"), "all attempts did");
    let shown = page(&editor, &format!("/runs/{run}"));
    assert!(shown.contains("2 of 3 attempts reported steps"), "{shown}");
}

/// A server and a run of one task, which another server leads. That server has added the output of `add` for
/// the task's attempt and instance. Both ended after a second.
#[expect(clippy::disallowed_methods, reason = "the server has the real time")]
fn added(add: impl Fn(&AttemptRecord, &InstanceRecord) -> Changes) -> (Server, String) {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let over = tempfile::tempdir().unwrap();
    let wait = format!("while test -e {}; do sleep 0.1; done", over.path().display());
    let run = start(&editor, &document("many", &format!("tasks:\n{}", task("many", &wait, ""))));
    until_task(&editor, &run, "many", "running");
    server.stop();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let (ready, now) = (Timestamp(now.as_micros() as i64 - 10_000_000), Timestamp(now.as_micros() as i64));
    with_store(&server, async |store| {
        let led = store.acquire("other", now, Duration::from_secs(3600), 10).await.unwrap();
        assert_eq!(led.len(), 1);
        let held = store.holding().await.unwrap().remove(0).attempt;
        let first = store.instances(&held.key.run).await.unwrap().remove(0);
        let ended_at = ready.plus(Duration::from_secs(1));
        let (started_at, outcome) = (Some(ready), Outcome::Succeeded);
        let state = AttemptState::Ended { started_at, ended_at, outcome };
        let attempt = AttemptRecord { state, created_at: ready, ..held };
        let instance = InstanceRecord { ready_at: ready, ended_at: Some(ended_at), ..first };
        store.commit(&Lease { owner: "other".into() }, &add(&attempt, &instance)).await.unwrap();
    });
    server.run();
    // Its process, which no server leads any more, ends by itself.
    over.close().unwrap();
    (server, run)
}

#[test]
fn a_run_with_very_many_instances_says_it_too() {
    let (server, run) = added(|attempt, instance| {
        let mut changes = Changes::default();
        for n in 0..=4_500 {
            let mut attempt = attempt.clone();
            attempt.key.instance = n;
            changes.attempts.push(attempt);
            changes.instances.push(InstanceRecord { instance: n, ..instance.clone() });
        }
        changes
    });
    let editor = server.as_(Who::Editor);
    // The earlier result is shown again.
    for _ in 0..2 {
        let found = editor.get(&format!("/runs/{run}")).expect(200).json()["effective"].clone();
        assert_eq!(found["attempts"], 4_501, "{found}");
        assert!(part(&found, "useful") >= 4_501.0, "{found}");
    }
}

#[test]
fn a_task_that_was_tried_very_often_says_it_too() {
    let (server, run) = added(|attempt, instance| {
        let tries = (1..=2_500).map(|n| {
            let mut attempt = attempt.clone();
            attempt.key.n = n;
            attempt
        });
        Changes { attempts: tries.collect(), instances: vec![instance.clone()], ..Changes::default() }
    });
    let editor = server.as_(Who::Editor);
    for _ in 0..2 {
        let found = editor.get(&format!("/runs/{run}/tasks/many")).expect(200).json()["effective"].clone();
        assert_eq!(found["attempts"], 2_500, "{found}");
    }
}
