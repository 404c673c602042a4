//! Hanging jobs: detection, stacks, alerts, and a restart by policy.

use std::path::Path;

use serde_json::{Value, json};

use super::help::{document, of_task, start, until};
use super::pages::page;
use crate::api::alerts;
use crate::api::support::{Client, Server, Who};
use crate::support::wait_for;

/// A worker of a gang. In the first attempt, after the sixth step, the last rank blocks on a lock that it
/// holds itself. Another rank waits for a foreign program, which reads from a silent socket. The next attempt
/// resumes from a checkpoint. The test holds on a slow machine: a pattern is known only after the sixth step,
/// which each rank reports once all have reached it. The next attempt has no gap.
const WORKER: &str = r#"
import os, pathlib, subprocess, sys, threading, time
sys.path.insert(0, sys.argv[1])
import cubeloom
def deadlock():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
def wait_for_another():
    subprocess.run([sys.executable, "-c", """
import socket
def deaf():
    ours, theirs = socket.socketpair()
    ours.recv(1)
deaf()
"""])
def meet(place):
    here = pathlib.Path(os.environ["CUBELOOM_RUN_DIR"])
    (here / f"{place}-{cubeloom.rank}").touch()
    while len(list(here.glob(f"{place}-*"))) < 3:
        time.sleep(0.01)
first = os.environ["CUBELOOM_ATTEMPT"] == "1"
for step in range(1 if first else 7, 9):
    if first and step < 6:
        time.sleep(0.1)
    if first and step in (1, 6):
        meet(step)
    if first and step == 7 and cubeloom.rank == 2:
        deadlock()
    if first and step == 7 and cubeloom.rank == 1:
        wait_for_another()
    if first and step == 7:
        time.sleep(600)
    cubeloom.progress(step, 8)
print("done", flush=True)
"#;

/// A worker with long epochs. Its gaps are no hang, because the pattern has gaps as long.
const HEALTHY: &str = r#"
import sys, time
sys.path.insert(0, sys.argv[1])
import cubeloom
for step in range(1, 9):
    time.sleep(2.5 if step % 4 == 0 else 0.1)
    cubeloom.progress(step, 8)
time.sleep(4)
"#;

/// A worker that makes six steps, and no seventh.
const STUCK: &str = r#"
import sys, time
sys.path.insert(0, sys.argv[1])
import cubeloom
for step in range(1, 7):
    time.sleep(0.1)
    cubeloom.progress(step, 8)
time.sleep(600)
"#;

fn library() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../task-templates/python/lib").display().to_string()
}

/// A task of this many workers that run a Python program.
fn task(name: &str, program: &str, workers: u32, rest: &str) -> String {
    let command = json!(["python3", "-c", program, library()]);
    format!(
        "  - name: {name}\n    template: indexed\n    resources: {{cpu: 100m, memory: 128Mi}}\n    \
         arguments: {{command: {command}, workers: {workers}}}\n{rest}"
    )
}

fn attempts(client: &Client, run: &str, task: &str) -> Vec<Value> {
    let all = client.get(&format!("/runs/{run}/tasks/{task}/instances/0/attempts")).expect(200).json();
    all["items"].as_array().unwrap_or_else(|| panic!("{all}")).clone()
}

#[test]
fn a_gang_that_hangs_is_looked_at_and_started_again() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let tasks = [
        task("train", WORKER, 3, "    hang: {after: 5s, action: restart}\n"),
        task("epochs", HEALTHY, 1, "    hang: {after: 1s}\n"),
    ];
    let run = start(&editor, &document("hangs", &format!("tasks:\n{}", tasks.concat())));
    until(&editor, &run, "succeeded");
    let all = attempts(&editor, &run, "train");
    assert_eq!(all.len(), 2, "{all:?}");
    assert_eq!(
        (&all[0]["failure"]["kind"], &all[1]["outcome"]),
        (&json!("hung"), &json!("succeeded")),
        "{all:?}"
    );
    let hang = &all[0]["hang"];
    assert!(hang["message"].as_str().unwrap().contains("has reported no step for"), "{hang}");
    assert!(hang["rank"].as_u64().unwrap() < 3, "{hang}");
    let stack = |worker: usize| hang["stacks"][worker]["text"].as_str().unwrap_or_else(|| panic!("{hang}"));
    let at = [0, 1, 2].map(stack);
    assert!(at[1].contains("in wait_for_another") && at[1].contains("in deaf"), "{hang}");
    assert!(at[2].contains("in deadlock"), "{hang}");
    assert!(at[0].contains("File \"<string>\"") && !at[0].contains("in deaf"), "{hang}");

    assert!(
        attempts(&editor, &run, "epochs").iter().all(|one| one["hang"].is_null()),
        "long epochs are none"
    );
    let shown = page(&editor, &format!("/runs/{run}/tasks/train"));
    assert!(shown.contains("in deadlock") && shown.contains("failure: hang"), "{shown}");
    let effective = &of_task(&editor, &run, "train")["effective"];
    let parts = effective["parts"].as_array().unwrap();
    let lost = parts.iter().find(|part| part["part"] == "hang").unwrap_or_else(|| panic!("{effective}"));
    assert!(lost["seconds"].as_f64().unwrap() >= 4.5, "{effective}");
}

#[test]
fn what_hangs_is_marked_and_told_of_once_also_when_the_server_dies() {
    let server = alerts::server(&[]);
    let (url, heard) = alerts::receiver(alerts::FINE);
    let channel =
        json!({"name": "ops", "kind": "webhook", "address": url, "rules": {"events": ["task_hangs"]}});
    server.as_(Who::Owner).post("/projects/default/alerts", &channel).expect(201);
    let editor = server.as_(Who::Editor);
    let run = start(
        &editor,
        &document("marked", &format!("tasks:\n{}", task("train", WORKER, 3, "    hang: {after: 5s}\n"))),
    );
    let stored = |editor: &Client| {
        let all = attempts(editor, &run, "train");
        let stacks = all.first().and_then(|one| one["hang"]["stacks"].as_array()).map_or(0, Vec::len);
        (stacks == 3).then(|| all[0]["hang"].clone())
    };
    wait_for("steps", || {
        of_task(&editor, &run, "train")["progress"]["step"].as_f64().is_some_and(|step| step >= 6.0)
    });
    server.kill();
    server.run();
    let editor = server.as_(Who::Editor);
    wait_for("the stacks of all workers", || stored(&editor).is_some());
    let before = stored(&editor).unwrap();
    assert_eq!(of_task(&editor, &run, "train")["hang"]["rank"], before["rank"]);
    server.kill();
    server.run();
    let editor = server.as_(Who::Editor);
    let task = of_task(&editor, &run, "train");
    assert_eq!(
        (&task["state"], &task["hang"]["since"]),
        (&json!("running"), &before["since"]),
        "it is only marked"
    );
    assert!(page(&editor, &format!("/runs/{run}")).contains("train hangs"));
    wait_for("the owner to be told", || !heard.lock().unwrap().is_empty());
    let told = heard.lock().unwrap().clone();
    let body: Value = serde_json::from_str(&told[0].1).unwrap();
    assert_eq!(body["title"], "train of marked in default hangs", "{body}");
    assert!(body["text"].as_str().unwrap().contains(before["message"].as_str().unwrap()), "{body}");
    assert!(
        body["alerts"][0]["url"].as_str().unwrap().ends_with(&format!("/runs/{run}/tasks/train")),
        "{body}"
    );
    let list = server.as_(Who::Owner).get("/projects/default/alert-deliveries").expect(200).json();
    assert_eq!(list["items"].as_array().unwrap().len(), 1, "{list}");
    editor.post(&format!("/runs/{run}/cancel"), &json!({})).expect(202);
    until(&editor, &run, "cancelled");
    let after = &attempts(&editor, &run, "train")[0]["hang"];
    assert_eq!((&after["since"], after["stacks"].as_array().map(Vec::len)), (&before["since"], Some(3)));
}

#[test]
fn whose_task_hangs_is_mailed_once_without_any_channel_unless_they_want_none() {
    let (port, mails) = alerts::sink();
    let server = alerts::mailing(port);
    let (editor, owner) = (server.as_(Who::Editor), server.as_(Who::Owner));
    let reached = editor.patch("/me", "*", &json!({"email": "emil@example.org"})).expect(200).json();
    assert_eq!(reached["mails"], true, "who has an address is mailed until they want none");
    let none = json!({"email": "olga@example.org", "mails": false});
    assert_eq!(owner.patch("/me", "*", &none).expect(200).json()["mails"], false);
    let stuck =
        |name| document(name, &format!("tasks:\n{}", task("train", STUCK, 1, "    hang: {after: 5s}\n")));
    let (quiet, run) = (start(&owner, &stuck("quiet")), start(&editor, &stuck("mailed")));
    for one in [&quiet, &run] {
        wait_for("the task to be marked", || !of_task(&owner, one, "train")["hang"].is_null());
    }
    let list = |owner: &Client| {
        let list = owner.get("/projects/default/alert-deliveries").expect(200).json();
        list["items"].as_array().unwrap().clone()
    };
    wait_for("the mail to be sent", || list(&owner).first().is_some_and(|one| one["state"] == "sent"));
    assert_eq!((&list(&owner)[0]["kind"], &list(&owner)[0]["user"]), (&json!("task_hangs"), &json!("emil")));
    assert!(page(&owner, "/projects/default/alerts").contains("mail to emil"));
    let (receivers, text) = mails.lock().unwrap()[0].clone();
    assert_eq!(receivers, "RCPT TO:<emil@example.org>\r\n");
    assert!(text.contains("Subject: [Cubeloom] train of mailed in default hangs\r\n"), "{text}");
    let said = alerts::said(&text);
    let why = of_task(&owner, &run, "train")["hang"]["message"].as_str().unwrap().to_owned();
    assert!(said.contains(&why) && said.contains(&format!("/runs/{run}/tasks/train")), "{said}");
    assert!(said.trim_end().ends_with("/me"), "{said}");
    // A server that adopts the runs records the hang and its end again.
    server.kill();
    server.run();
    let owner = server.as_(Who::Owner);
    for one in [&quiet, &run] {
        owner.post(&format!("/runs/{one}/cancel"), &json!({})).expect(202);
        until(&owner, one, "cancelled");
    }
    assert_eq!((list(&owner).len(), mails.lock().unwrap().len()), (1, 1));
}
