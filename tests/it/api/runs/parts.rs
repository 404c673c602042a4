//! Partial runs: reused results, messages, and refusals.

use serde_json::{Value, json};

use super::help::{document, id, of_task, task, until};
use crate::api::support::{Client, Server, Who};

/// Three tasks that pass a file on; no task depends on `aside`.
fn chain(first: &str) -> String {
    let tasks = [
        task("first", &format!("echo {first} > {{{{ run.dir }}}}/file"), ""),
        task("second", "cat {{ run.dir }}/file; echo more >> {{ run.dir }}/file", "    needs: [first]\n"),
        task("third", "cat {{ run.dir }}/file", "    needs: [second]\n"),
        task("aside", "true", ""),
    ];
    document("chain", &format!("tasks:\n{}", tasks.concat()))
}

fn post(client: &Client, document: &str, tasks: &Value) -> crate::api::support::Answer {
    client.post("/projects/default/runs", &json!({"document": document, "tasks": tasks}))
}

#[track_caller]
fn refusal(client: &Client, document: &str, tasks: &Value) -> (String, String) {
    let refused = post(client, document, tasks).expect(422).problem("invalid");
    let first = &refused["problems"][0];
    (first["path"].as_str().unwrap().into(), first["message"].as_str().unwrap().into())
}

fn log(client: &Client, run: &str, task: &str) -> String {
    client.get(&format!("/runs/{run}/logs/download?task={task}&stream=stdout")).expect(200).text()
}

#[test]
fn a_part_takes_over_what_the_tasks_before_left() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let whole = id(&post(&editor, &chain("one"), &Value::Null).expect(201).json()["run"]);
    until(&editor, &whole, "succeeded");

    let started = post(&editor, &chain("one"), &json!({"from": "second"})).expect(201).json();
    assert_eq!(started["warnings"], json!([]));
    let from = id(&started["run"]);
    assert!(started["run"]["message"].as_str().unwrap().contains(&whole), "{started}");
    let run = until(&editor, &from, "succeeded");
    assert_eq!(run["tasks"], json!({"total": 3, "states": {"reused": 1, "succeeded": 2}}), "{run}");
    let first = of_task(&editor, &from, "first");
    assert_eq!(first["state"], "reused", "{first}");
    let instance = editor.get(&format!("/runs/{from}/tasks/first/instances")).expect(200).json();
    assert_eq!(instance["items"][0]["reused"]["run"], whole.as_str(), "{instance}");
    assert_eq!(log(&editor, &from, "second"), "one\nmore\n", "the copy has what the whole run left");
    assert_eq!(log(&editor, &from, "third"), "one\nmore\nmore\n");

    let only =
        id(&post(&editor, &chain("one"), &json!({"only": "third", "of": whole})).expect(201).json()["run"]);
    let run = until(&editor, &only, "succeeded");
    assert_eq!(run["tasks"]["states"], json!({"reused": 2, "succeeded": 1}));
    assert_eq!(log(&editor, &only, "third"), "one\nmore\n", "the earlier run's file was not written to");
    editor.get(&format!("/runs/{only}/tasks/aside")).expect(404);

    let changed = post(&editor, &chain("two"), &json!({"only": "third", "of": only})).expect(201).json();
    let warning = &changed["warnings"][0];
    assert_eq!(
        (&warning["path"], &warning["severity"]),
        (&json!("/tasks/0"), &json!("warning")),
        "{changed}"
    );
    assert!(warning["message"].as_str().unwrap().contains("arguments"), "{warning}");
    assert!(warning["line"].is_number(), "{warning}");
    until(&editor, &id(&changed["run"]), "succeeded");
}

#[test]
fn a_part_of_a_stored_version_is_started_again() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    editor.post("/projects/default/pipelines", &json!({"document": chain("one")})).expect(201);
    let start = |body: Value| id(&editor.post("/projects/default/runs", &body).expect(201).json()["run"]);
    until(&editor, &start(json!({"pipeline": "chain"})), "succeeded");
    let part = start(json!({"pipeline": "chain", "tasks": {"only": "second"}}));
    until(&editor, &part, "succeeded");
    let again = editor.post(&format!("/runs/{part}/again"), &json!({})).expect(201).json();
    let run = until(&editor, &id(&again["run"]), "succeeded");
    assert_eq!(run["tasks"]["states"], json!({"reused": 1, "succeeded": 1}));
}

#[test]
fn a_part_that_cannot_be_run_says_why() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let none = refusal(&editor, &chain("one"), &json!({"from": "second"}));
    assert_eq!(none.0, "/tasks");
    assert!(none.1.contains("run the whole pipeline first"), "{none:?}");
    for (tasks, path) in [
        (json!({}), "/tasks"),
        (json!({"only": "a", "from": "b"}), "/tasks/from"),
        (json!({"only": "nothing"}), "/tasks/only"),
        (json!({"from": "nothing"}), "/tasks/from"),
        (json!({"only": "second", "of": "x"}), "/tasks/of"),
        (json!({"only": "second", "of": "01m7zcxr63h3s58m9d18dwdkr2"}), "/tasks/of"),
        (json!({"only": "second", "off": "x"}), "/tasks/off"),
    ] {
        assert_eq!(refusal(&editor, &chain("one"), &tasks).0, path, "{tasks}");
    }

    let failing = chain("one").replace("> {{ run.dir }}/file", "> {{ run.dir }}/file; exit 3");
    let failed = id(&post(&editor, &failing, &Value::Null).expect(201).json()["run"]);
    until(&editor, &failed, "failed");
    let told = refusal(&editor, &chain("one"), &json!({"only": "second", "of": failed}));
    assert!(told.1.contains("`first` has not succeeded") && told.1.contains("failed"), "{told:?}");
    assert!(refusal(&editor, &chain("one"), &json!({"only": "second"})).1.contains("`first`"));

    let other = chain("one").replace("name: chain", "name: other");
    let theirs = id(&post(&editor, &other, &Value::Null).expect(201).json()["run"]);
    until(&editor, &theirs, "succeeded");
    let told = refusal(&editor, &chain("one"), &json!({"only": "second", "of": theirs}));
    assert!(told.1.contains("pipeline `other`"), "{told:?}");

    let whole = id(&post(&editor, &chain("one"), &Value::Null).expect(201).json()["run"]);
    until(&editor, &whole, "succeeded");
    std::fs::remove_dir_all(server.data().join("workspace/default/runs").join(&whole)).unwrap();
    let told = refusal(&editor, &chain("one"), &json!({"only": "second", "of": whole}));
    assert!(told.1.contains("folder") && told.1.contains("no longer exists"), "{told:?}");
}
