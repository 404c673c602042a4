//! Controlling existing runs.

use serde_json::{Value, json};

use super::help::{document, id, of_task, start, task, until, until_task};
use super::pages::page;
use crate::api::support::{Client, Server, Who};
use crate::support::wait_for;

fn wish(client: &Client, run: &str, what: &str) -> crate::api::support::Answer {
    client.post(&format!("/runs/{run}/{what}"), &json!({}))
}

#[test]
fn a_run_is_cancelled_while_it_runs_and_resumed_afterwards() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let held = server.path("held");
    std::fs::write(&held, "").unwrap();
    let line = format!("while [ -e {} ]; do sleep 0.1; done", held.display());
    let tasks = [task("first", "true", ""), task("hold", &line, "    needs: [first]\n")].concat();
    let run = start(&editor, &document("held", &format!("tasks:\n{tasks}")));
    until_task(&editor, &run, "hold", "running");
    wish(&editor, &run, "resume").expect(409).problem("conflict");
    let running = editor.post(&format!("/runs/{run}/rerun"), &json!({"from": ["first"]})).expect(409);
    assert!(running.text().contains("cancel it first"), "{}", running.text());
    let path = format!("/runs/{run}/tasks/hold/instances/0/suspend");
    let suspended = editor.post(&path, &json!({"suspended": true})).expect(409).problem("conflict");
    assert!(suspended["detail"].as_str().unwrap().contains("cannot be suspended"), "{suspended}");
    wish(&editor, &run, "cancel").expect(202);
    let ended = until(&editor, &run, "cancelled");
    assert_eq!(ended["tasks"]["states"], json!({"succeeded": 1, "cancelled": 1}));
    let again = wish(&editor, &run, "cancel").expect(409).problem("conflict");
    assert!(again["detail"].as_str().unwrap().contains("has ended already"), "{again}");
    std::fs::remove_file(&held).unwrap();
    wish(&editor, &run, "resume").expect(202);
    until(&editor, &run, "succeeded");
    let attempts = |task: &str| {
        let path = format!("/runs/{run}/tasks/{task}/instances/0/attempts");
        let items = editor.get(&path).expect(200).json()["items"].clone();
        items.as_array().unwrap().iter().map(|one| one["outcome"].clone()).collect::<Vec<Value>>()
    };
    assert_eq!(attempts("first"), ["succeeded"], "what had succeeded was kept");
    assert_eq!(attempts("hold"), ["cancelled", "succeeded"]);
    let log = server.as_(Who::Owner).get("/projects/default/audit").expect(200).text();
    for action in ["run.start", "run.cancel", "run.resume"] {
        assert!(log.contains(action), "{action}: {log}");
    }
}

#[test]
fn tasks_and_all_after_them_run_again() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let tasks =
        [task("a", "true", ""), task("b", "true", "    needs: [a]\n"), task("c", "true", "    needs: [b]\n")];
    let run = start(&editor, &document("chain", &format!("tasks:\n{}", tasks.concat())));
    until(&editor, &run, "succeeded");
    wish(&editor, &run, "resume").expect(409).problem("conflict");
    let path = format!("/runs/{run}/rerun");
    let refused = editor.post(&path, &json!({"from": ["b", "x"]})).expect(422).problem("invalid");
    assert_eq!(refused["problems"][0]["path"], "/from/1");
    editor.post(&path, &json!({"from": []})).expect(422);
    editor.post(&path, &json!({"from": ["b"]})).expect(202);
    wait_for("b and c to have run again", || {
        ["a", "b", "c"].map(|name| of_task(&editor, &run, name)["attempts"].as_u64())
            == [Some(1), Some(2), Some(2)]
    });
    until(&editor, &run, "succeeded");
}

#[test]
fn a_deleted_run_is_gone_with_its_files() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let held = server.path("held");
    std::fs::write(&held, "").unwrap();
    let line =
        format!("echo x > $CUBELOOM_RUN_DIR/kept; while [ -e {} ]; do sleep 0.1; done", held.display());
    let run = start(&editor, &document("gone", &format!("tasks:\n{}", task("a", &line, ""))));
    until_task(&editor, &run, "a", "running");
    let live = editor.delete(&format!("/runs/{run}"), "").expect(409).problem("conflict");
    assert!(live["detail"].as_str().unwrap().contains("cancel it first"), "{live}");
    std::fs::remove_file(&held).unwrap();
    until(&editor, &run, "succeeded");
    let folders =
        [server.data().join("runs").join(&run), server.data().join("workspace/default/runs").join(&run)];
    assert!(folders.iter().all(|folder| folder.exists()), "{folders:?}");
    wait_for("the engine to let go of the run", || editor.delete(&format!("/runs/{run}"), "").status == 204);
    editor.get(&format!("/runs/{run}")).expect(404).problem("not-found");
    editor.get(&format!("/runs/{run}/tasks")).expect(404);
    wait_for("its files to go", || folders.iter().all(|folder| !folder.exists()));
    assert_eq!(editor.get("/runs").expect(200).json()["items"], json!([]));
}

#[test]
fn several_runs_are_cancelled_and_started_again_with_a_result_each() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let text = document(
        "many",
        &format!(
            "parameters: {{n: {{type: integer, default: 0}}}}\ntasks:\n{}",
            task("a", "sleep {{ params.n }}", "")
        ),
    );
    editor.post("/projects/default/pipelines", &json!({"document": text})).expect(201);
    let begin = |n: u32| {
        let body = json!({"pipeline": "many", "parameters": {"n": n}});
        id(&editor.post("/projects/default/runs", &body).expect(201).json()["run"])
    };
    let (short, long) = (begin(0), begin(600));
    until(&editor, &short, "succeeded");
    until_task(&editor, &long, "a", "running");
    let unknown = "01hzzzzzzzzzzzzzzzzzzzzzzz";
    let runs = json!({"runs": [short, long, unknown, "nonsense"]});
    let results = editor.post("/projects/default/runs/cancel", &runs).expect(200).json()["results"].clone();
    let done: Vec<bool> =
        results.as_array().unwrap().iter().map(|one| one["ok"].as_bool().unwrap()).collect();
    assert_eq!(done, [false, true, false, false], "{results}");
    assert!(results[0]["message"].as_str().unwrap().contains("has ended already"), "{results}");
    until(&editor, &long, "cancelled");
    let body = json!({"runs": [short, unknown]});
    let results = editor.post("/projects/default/runs/rerun", &body).expect(200).json()["results"].clone();
    let fresh = results[0]["started"].as_str().unwrap();
    let run = until(&editor, fresh, "succeeded");
    assert_eq!((&run["parameters"], &run["version"]), (&json!({"n": 0}), &json!(1)));
    assert_eq!(results[1]["ok"], false);
    editor.post("/projects/default/runs/cancel", &json!({"runs": []})).expect(422);
    let again = editor.post(&format!("/runs/{short}/again"), &json!({})).expect(201).json();
    until(&editor, &id(&again["run"]), "succeeded");
    let posted = start(&editor, &document("posted", &format!("tasks:\n{}", task("a", "true", ""))));
    let refused = editor.post(&format!("/runs/{posted}/again"), &json!({})).expect(409).problem("conflict");
    assert!(refused["detail"].as_str().unwrap().contains("submit it again"), "{refused}");
}

#[test]
fn a_queued_run_says_which_runs_are_before_it() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let held = server.path("held");
    std::fs::write(&held, "").unwrap();
    let line = format!("while [ -e {} ]; do sleep 0.1; done", held.display());
    let source = document("one-at-a-time", &format!("max_active_runs: 1\ntasks:\n{}", task("a", &line, "")));
    let first = start(&editor, &source);
    until(&editor, &first, "running");
    let (second, third) = (start(&editor, &source), start(&editor, &source));
    let wait = |run: &str| editor.get(&format!("/runs/{run}")).expect(200).json()["wait"].clone();
    wait_for("the third to be queued behind both", || wait(&third)["ahead"] == 1);
    let why = wait(&third);
    assert_eq!(
        (&why["rule"], &why["limit"], &why["active"]),
        (&json!("max_active_runs"), &json!(1), &json!(1))
    );
    let before: Vec<_> =
        why["runs"].as_array().unwrap().iter().map(|one| [&one["run"], &one["state"]]).collect();
    assert_eq!(before, [[&json!(first), &json!("running")], [&json!(second), &json!("queued")]]);
    assert_eq!(wait(&first), Value::Null, "it has begun");
    let text = page(&editor, &format!("/runs/{third}"));
    assert!(text.contains("run-wait") && text.contains(&format!("href=\"/runs/{second}\"")), "{text}");
    assert_eq!(why["start"], Value::Null, "nobody knows how long they take");
    std::fs::remove_file(&held).unwrap();
    until(&editor, &third, "succeeded");
    assert_eq!(wait(&third), Value::Null);
    // After three runs, the estimate is known.
    std::fs::write(&held, "").unwrap();
    let first = start(&editor, &source);
    until(&editor, &first, "running");
    let second = start(&editor, &source);
    wait_for("the second to have an estimate", || wait(&second)["start"]["p50"].is_string());
    assert!(page(&editor, &format!("/runs/{second}")).contains("stimated start in"), "the page says it");
    std::fs::remove_file(&held).unwrap();
}

#[test]
fn a_run_whose_tasks_all_wait_is_pending_and_a_cancelled_one_says_who_did_it() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let large = |name: &str| {
        document(name, &format!("tasks:\n{}", task("hold", "sleep 600", ""))).replace("cpu: 100m", "cpu: 8")
    };
    let holder = start(&editor, &large("holder"));
    until_task(&editor, &holder, "hold", "running");
    let pending = start(&editor, &large("pending"));
    wait_for("it to wait", || of_task(&editor, &pending, "hold")["wait"]["rule"] == "capacity");
    let phase = |run: &str| editor.get(&format!("/runs/{run}")).expect(200).json()["phase"].clone();
    assert_eq!((phase(&holder), phase(&pending)), (json!("running"), json!("pending")));
    let text = page(&editor, &format!("/runs/{pending}"));
    assert!(
        text.contains("Pending: no task is running") && text.contains("Insufficient resources"),
        "{text}"
    );
    for run in [&holder, &pending] {
        wish(&editor, run, "cancel").expect(202);
        until(&editor, run, "cancelled");
        assert_eq!(phase(run), "cancelled");
        assert!(page(&editor, &format!("/runs/{run}")).contains("Cancelled by emil"));
    }
}
