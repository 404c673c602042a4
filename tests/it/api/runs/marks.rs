//! Manually set outcomes: permissions, refusals and records.

use serde_json::json;

use super::help::{document, of_task, start, task, until};
use crate::api::support::{Server, Who};
use crate::support::wait_for;

fn path(run: &str, task: &str) -> String {
    format!("/runs/{run}/tasks/{task}/instances/0/mark")
}

#[test]
fn a_run_goes_on_as_if_its_task_had_ended_so() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let first = task("pull", "exit 3", "");
    let then = task("train", "true", "    needs: [pull]\n");
    let run = start(&editor, &document("marked", &format!("tasks:\n{first}{then}")));
    until(&editor, &run, "failed");
    let mark = json!({"as": "succeeded", "reason": " the file is there "});
    server.as_(Who::Viewer).post(&path(&run, "pull"), &mark).expect(403);
    server.as_(Who::Stranger).post(&path(&run, "pull"), &mark).expect(404);
    for (wrong, field) in [
        (json!({"as": "succeeded", "reason": " "}), "/reason"),
        (json!({"as": "failed", "reason": "x", "outputs": {"n": 1}}), "/outputs"),
    ] {
        let refused = editor.post(&path(&run, "pull"), &wrong).expect(422);
        assert_eq!(refused.json()["problems"][0]["path"], field, "{}", refused.text());
    }
    let known = editor.post(&path(&run, "pull"), &json!({"as": "done", "reason": "x"}));
    assert!(matches!(known.status, 400 | 422), "{}", known.text());
    editor.post(&path(&run, "nobody"), &mark).expect(404);
    let none = format!("/runs/{run}/tasks/pull/instances/1/mark");
    editor.post(&none, &mark).expect(409);

    editor.post(&path(&run, "pull"), &mark).expect(202);
    let ended = until(&editor, &run, "succeeded");
    assert_eq!(ended["tasks"]["states"], json!({"succeeded": 2}));
    let pulled = editor.get(&format!("/runs/{run}/tasks/pull/instances")).expect(200).json();
    assert_eq!(pulled["items"][0]["note"], "marked as succeeded by emil: the file is there");
    let log = server.as_(Who::Owner).get("/projects/default/audit").expect(200).text();
    assert!(log.contains("task.mark") && log.contains(r#""reason":"the file is there""#), "{log}");
}

#[test]
fn a_task_that_runs_is_stopped_first() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = start(&editor, &document("stopped", &format!("tasks:\n{}", task("wait", "sleep 1000", ""))));
    wait_for("the task to run", || of_task(&editor, &run, "wait")["state"] == "running");
    editor.post(&path(&run, "wait"), &json!({"as": "skipped", "reason": "not today"})).expect(202);
    let ended = until(&editor, &run, "succeeded");
    assert_eq!(ended["tasks"]["states"], json!({"skipped": 1}));
    assert_eq!(of_task(&editor, &run, "wait")["attempts"], 1, "it was not tried again");
}
