//! Secrets in a task's logs and outputs become `***`, however they are split, and even if the server crashes.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::api::runs::help::{document, of_task, start, task, until};
use crate::api::support::{Server, Who};
use crate::support::wait_for;

const VALUE: &str = "tops3cret/with=signs";

/// The worker's file of this name, of a run's only attempt.
fn file_of(server: &Server, run: &str, name: &str) -> String {
    let attempts = fs::read_dir(server.data().join("runs").join(run)).unwrap().flatten();
    let folder = attempts.map(|entry| entry.path()).find(|path| path.is_dir()).expect("an attempt");
    fs::read_to_string(folder.join("worker-0").join(name)).unwrap_or_default()
}

fn with_secret(server: &Server, line: &str) -> String {
    let owner = server.as_(Who::Owner);
    let body = json!({"name": "token", "value": VALUE});
    let made = owner.post("/projects/default/secrets", &body);
    assert!(matches!(made.status, 201 | 409), "{}", made.text());
    start(&owner, &document("says", &format!("tasks:\n{}", task("say", line, "    secrets: [token]\n"))))
}

#[test]
fn a_value_is_masked_whole_in_pieces_and_encoded() {
    let server = Server::start();
    let owner = server.as_(Who::Owner);
    let pieces = "printf 'a tops3cr'; sleep 0.3; printf 'et/with='; sleep 0.3; printf 'signs b\\n'";
    let line = format!(
        "echo \"whole $TOKEN.\"; {pieces}; printf %s \"$TOKEN\" | base64; printf 'user:%s' \"$TOKEN\" | base64; \
         echo \"{{\\\"output\\\": {{\\\"said\\\": \\\"$TOKEN\\\"}}}}\" >> \"$CUBELOOM_OUTPUTS\"; echo \"error $TOKEN\" >&2"
    );
    let run = with_secret(&server, &line);
    until(&owner, &run, "succeeded");
    let out = file_of(&server, &run, "stdout");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[..2], ["whole ***.", "a *** b"], "{out}");
    assert!(lines[2].contains("***") && lines[3].contains("***"), "{out}");
    assert_eq!(file_of(&server, &run, "stderr"), "error ***\n");
    assert!(file_of(&server, &run, "outputs.jsonl").contains("\"***\""));
    let outputs = owner.get(&format!("/runs/{run}/outputs")).expect(200).text();
    assert!(outputs.contains("***") && !outputs.contains(VALUE), "{outputs}");
}

#[test]
fn what_a_task_reports_is_masked_while_it_still_runs() {
    let server = Server::start();
    let owner = server.as_(Who::Owner);
    let go = server.path("go");
    let line = format!(
        "echo \"{{\\\"metric\\\": {{\\\"name\\\": \\\"loss $TOKEN\\\", \\\"value\\\": 1}}}}\" >> \"$CUBELOOM_OUTPUTS\"; \
         until test -e {}; do sleep 0.1; done",
        go.display()
    );
    let run = with_secret(&server, &line);
    let metrics = || owner.get(&format!("/runs/{run}/metrics")).expect(200).json();
    wait_for("a metric of a task that runs", || {
        metrics()["series"].as_array().is_some_and(|all| !all.is_empty())
    });
    assert_eq!(metrics()["series"][0]["name"], "loss ***");
    assert_eq!(of_task(&owner, &run, "say")["state"], "running");
    fs::write(&go, "").unwrap();
    until(&owner, &run, "succeeded");
    assert_eq!(metrics()["series"][0]["name"], "loss ***");
    assert_eq!(
        file_of(&server, &run, "outputs.masked.jsonl"),
        "",
        "the copy goes when the outputs are masked"
    );
}

#[test]
fn a_failures_last_lines_are_masked() {
    let server = Server::start();
    let owner = server.as_(Who::Owner);
    let run = with_secret(&server, "echo \"cannot sign in with $TOKEN\" >&2; exit 3");
    until(&owner, &run, "failed");
    let failed = of_task(&owner, &run, "say").to_string();
    assert!(failed.contains("cannot sign in with ***") && !failed.contains(VALUE), "{failed}");
}

#[test]
fn it_is_masked_while_no_server_lives() {
    let server = Server::start();
    let owner = server.as_(Who::Owner);
    let go = server.path("go");
    let line = format!("echo begun; until test -e {}; do sleep 0.1; done; echo it is $TOKEN", go.display());
    let run = with_secret(&server, &line);
    wait_for("the worker to begin", || stdout_or_nothing(&server.data(), &run) == "begun\n");
    server.kill();
    fs::write(&go, "").unwrap();
    wait_for("the worker to speak", || stdout_or_nothing(&server.data(), &run).ends_with("it is ***\n"));
    server.run();
    let owner =
        server.as_(Who::Owner).token().map(|token| server.with_token(Some(token.into()))).unwrap_or(owner);
    until(&owner, &run, "succeeded");
}

fn stdout_or_nothing(data: &Path, run: &str) -> String {
    let attempts = fs::read_dir(data.join("runs").join(run)).into_iter().flatten().flatten();
    let folder = attempts.map(|entry| entry.path()).find(|path| path.is_dir());
    folder.and_then(|folder| fs::read_to_string(folder.join("worker-0/stdout")).ok()).unwrap_or_default()
}

#[test]
fn much_output_arrives_whole_and_a_stop_is_heard() {
    let server = Server::start();
    let owner = server.as_(Who::Owner);
    let run = with_secret(&server, "seq 1 200000; echo $TOKEN");
    until(&owner, &run, "succeeded");
    let out = file_of(&server, &run, "stdout");
    assert_eq!(out.lines().count(), 200_001);
    assert_eq!(out.lines().last(), Some("***"));
    let run = with_secret(&server, "echo begun; while true; do echo $TOKEN; done");
    wait_for("the worker to begin", || stdout_or_nothing(&server.data(), &run).contains("***"));
    owner.post(&format!("/runs/{run}/cancel"), &json!({}));
    until(&owner, &run, "cancelled");
}
