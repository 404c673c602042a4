//! The critical path of a run, and what would shorten it.

use serde_json::{Value, json};

use super::help::{document, start, task, until, until_task};
use crate::api::support::{Client, Server, Who};

fn path(client: &Client, run: &str) -> Value {
    client.get(&format!("/runs/{run}/critical-path")).expect(200).json()
}

fn tasks(path: &Value) -> Vec<&str> {
    path["tasks"].as_array().unwrap().iter().map(|task| task["task"].as_str().unwrap()).collect()
}

fn kinds(path: &Value) -> Vec<&str> {
    path["hints"].as_array().unwrap().iter().map(|hint| hint["kind"].as_str().unwrap()).collect()
}

fn seconds(task: &Value, part: &str) -> f64 {
    task[part].as_f64().unwrap_or_else(|| panic!("{part} in {task}"))
}

#[test]
fn a_run_says_which_tasks_decided_its_end() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let flaky = "if [ $CUBELOOM_ATTEMPT = 1 ]; then exit 1; fi; sleep 1";
    let each = "    needs: [pull]\n    for_each: {list: [0, 3, 0], parallelism: 3}\n";
    let tasks_of_run = [
        task("pull", "true", ""),
        task("train", "sleep {{ item }}", each),
        task("beside", "true", "    needs: [pull]\n"),
        task(
            "evaluate",
            flaky,
            "    needs: [train, beside]\n    retry: {attempts: 2, backoff: {initial: 1s}}\n",
        ),
        task("never", "true", "    needs: [evaluate]\n    when: \"{{ 1 == 2 }}\"\n"),
    ];
    let run = start(&editor, &document("path", &format!("tasks:\n{}", tasks_of_run.concat())));
    let ended = until(&editor, &run, "succeeded");

    let found = path(&server.as_(Who::Viewer), &run);
    assert_eq!(tasks(&found), ["pull", "train", "evaluate"], "{found}");
    let [pull, train, evaluate] = [0, 1, 2].map(|at| found["tasks"][at].clone());
    assert_eq!((&train["instance"], &train["attempts"]), (&json!(1), &json!(1)), "the longest instance");
    assert!(seconds(&train, "running_seconds") >= 2.5, "{train}");
    assert_eq!(evaluate["attempts"], 2);
    assert!(seconds(&evaluate, "retry_seconds") >= 0.5, "the backoff: {evaluate}");
    assert!(seconds(&evaluate, "running_seconds") >= 0.5, "{evaluate}");
    let mut last = String::new();
    for task in [&pull, &train, &evaluate] {
        let parts = ["waiting_seconds", "retry_seconds", "running_seconds"].map(|part| seconds(task, part));
        assert!((parts.iter().sum::<f64>() - seconds(task, "seconds")).abs() < 1e-3, "{task}");
        assert!(*last <= *task["ready_at"].as_str().unwrap(), "in order: {found}");
        task["ended_at"].as_str().unwrap().clone_into(&mut last);
    }
    assert!((seconds(&found, "seconds") - seconds(&ended, "duration_seconds")).abs() < 1e-3, "{found}");
    assert!(seconds(&found, "path_seconds") <= seconds(&found, "seconds") + 1e-3, "{found}");
    assert!(!found["hints"].as_array().unwrap().is_empty(), "{found}");
    editor.get("/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/critical-path").expect(404).problem("not-found");
}

#[test]
fn the_path_of_a_run_that_goes_on_ends_now_and_says_why_its_task_is_pending() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let held = server.path("held");
    std::fs::write(&held, "").unwrap();
    let wait = format!("while [ -e {} ]; do sleep 0.1; done", held.display());
    let each = "    for_each: {list: [1, 2, 3], parallelism: 1}\n";
    let run = start(&editor, &document("goes-on", &format!("tasks:\n{}", task("each", &wait, each))));
    until_task(&editor, &run, "each", "running");
    let found = path(&editor, &run);
    assert_eq!(tasks(&found), ["each"], "{found}");
    assert_eq!(found["tasks"][0]["instance"], 1, "the next one that waits: {found}");
    assert_eq!(
        (found["tasks"][0].get("ended_at"), found["tasks"][0].get("started_at")),
        (None, None),
        "{found}"
    );
    assert!(kinds(&found).contains(&"parallelism"), "{found}");
    let text = "the max concurrency of `each` is 1: 2 of its 3 instances had to wait for others";
    assert!(found["hints"].to_string().contains(text), "{found}");
    std::fs::remove_file(&held).unwrap();
    until(&editor, &run, "succeeded");
    let found = path(&editor, &run);
    assert_eq!(found["tasks"][0]["instance"], 2, "the last one to end: {found}");
    assert!(kinds(&found).contains(&"parallelism"), "{found}");
}
