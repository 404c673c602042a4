//! Manual approval tasks: the question, who may answer, and the effect of an answer.

use serde_json::{Value, json};

use super::help::{document, of_task, start, task, until};
use crate::api::support::{Client, Server, Who};
use crate::support::wait_for;

/// A pipeline that measures, asks for approval, and goes on; `arguments` and `rest` belong to the approval
/// task.
fn asking(arguments: &str, rest: &str) -> String {
    let measure = task("measure", r#"echo '{"output": {"accuracy": 0.97}}' > $CUBELOOM_OUTPUTS"#, "");
    let publish = task("publish", "true", "    needs: [ask]\n    when: tasks.ask.outputs.approved\n");
    let ask = format!(
        "  - name: ask\n    template: approval\n    needs: [measure]\n{rest}    arguments:\n      \
         message: 'Publish it with {{{{ tasks.measure.outputs.accuracy }}}}?'\n{arguments}"
    );
    document("asking", &format!("tasks:\n{measure}{ask}{publish}"))
}

fn path(run: &str) -> String {
    format!("/runs/{run}/tasks/ask/instances/0/decision")
}

/// Waits until a run asks for approval.
fn asked(client: &Client, run: &str) -> Value {
    wait_for("the task to ask, or to fail", || {
        ["waiting", "failed"].contains(&of_task(client, run, "ask")["state"].as_str().unwrap_or_default())
    });
    let waiting = of_task(client, run, "ask");
    assert_eq!(waiting["wait"]["rule"], "decision", "{waiting}");
    waiting
}

#[test]
fn a_task_waits_for_a_person_through_a_restart_and_goes_on_when_they_say_yes() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = start(&editor, &asking("", ""));
    let waiting = asked(&editor, &run);
    assert_eq!(waiting["wait"]["message"], "Publish it with 0.97?");
    assert_eq!(waiting["attempts"], json!(0), "nothing runs meanwhile: {waiting}");
    let asking = editor.get(&format!("/runs/{run}")).expect(200).json();
    assert_eq!((&asking["state"], &asking["phase"]), (&json!("running"), &json!("approval")), "{asking}");
    let listed = editor.get("/projects/default/runs").expect(200).json();
    assert_eq!(listed["items"][0]["phase"], "approval", "{listed}");
    server.kill();
    server.run();
    let editor = server.as_(Who::Editor);
    let still = asked(&editor, &run);
    assert_eq!((&still["wait"], &still["ready_at"]), (&waiting["wait"], &waiting["ready_at"]));
    let denied = server.as_(Who::Viewer).post(&path(&run), &json!({"approved": true})).expect(403);
    assert!(denied.text().contains("role editor"), "{}", denied.text());
    let told = editor.post(&path(&run), &json!({"approved": true, "comment": " good \n"})).expect(202).json();
    assert_eq!(told["state"], "succeeded", "{told}");
    assert_eq!(told["outputs"], json!({"approved": true, "by": "emil", "comment": "good"}));
    let ended = until(&editor, &run, "succeeded");
    assert_eq!(ended["tasks"]["states"], json!({"succeeded": 3}));
    assert_eq!(ended["phase"], "succeeded");
    let again = editor.post(&path(&run), &json!({"approved": false})).expect(409);
    assert!(again.text().contains("does not wait for a decision"));
    let log = server.as_(Who::Owner).get("/projects/default/audit").expect(200).text();
    assert!(log.contains("task.decide") && log.contains(r#""comment":"good""#), "{log}");

    // A rerun from there asks again.
    editor.post(&format!("/runs/{run}/rerun"), &json!({"from": ["ask"]})).expect(202);
    asked(&editor, &run);
    editor.post(&path(&run), &json!({"approved": false, "comment": "too late"})).expect(202);
    until(&editor, &run, "failed");
    let failed = of_task(&editor, &run, "ask");
    assert_eq!(failed["failure"]["kind"], "rejected");
    assert_eq!(failed["failure"]["message"], "emil rejected it: too late");
    assert_eq!(of_task(&editor, &run, "publish")["state"], "upstream_failed");
}

#[test]
fn who_is_named_decides_and_nobody_else() {
    let server = Server::start();
    let (editor, viewer) = (server.as_(Who::Editor), server.as_(Who::Viewer));
    let run = start(&editor, &asking("      approvers: [vera, emil]\n      four_eyes: true\n", ""));
    assert_eq!(asked(&editor, &run)["wait"]["approvers"], json!(["vera", "emil"]));
    let own = editor.post(&path(&run), &json!({"approved": true})).expect(403);
    assert!(own.text().contains("another user has to decide"), "{}", own.text());
    let owner = server.as_(Who::Owner).post(&path(&run), &json!({"approved": true})).expect(403);
    assert!(owner.text().contains("vera, emil"), "{}", owner.text());
    server.as_(Who::Stranger).post(&path(&run), &json!({"approved": true})).expect(404);
    // A read-only token is insufficient, whatever its owner's role.
    server.as_(Who::Reader).post(&path(&run), &json!({"approved": true})).expect(403);
    assert_eq!(of_task(&editor, &run, "ask")["state"], "waiting");
    let long = viewer.post(&path(&run), &json!({"approved": true, "comment": "x".repeat(2_001)})).expect(422);
    assert_eq!(long.problem("invalid")["problems"][0]["path"], "/comment");
    viewer.post(&path(&run), &json!({"approved": "perhaps"})).expect(422);
    viewer.post(&path(&run).replace("/0/", "/7/"), &json!({"approved": true})).expect(409);
    viewer.post(&path(&run), &json!({"approved": true})).expect(202);
    until(&editor, &run, "succeeded");
}

#[test]
fn a_no_may_let_the_run_go_on_and_silence_ends_it() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = start(&editor, &asking("      on_rejection: go_on\n", ""));
    asked(&editor, &run);
    editor.post(&path(&run), &json!({"approved": false})).expect(202);
    until(&editor, &run, "succeeded");
    assert_eq!(of_task(&editor, &run, "publish")["state"], "skipped");

    let silent = start(&editor, &asking("", "    timeout: 2s\n"));
    let stopped = start(&editor, &asking("", ""));
    asked(&editor, &stopped);
    editor.post(&format!("/runs/{stopped}/cancel"), &json!({})).expect(202);
    until(&editor, &stopped, "cancelled");
    until(&editor, &silent, "failed");
    let failure = of_task(&editor, &silent, "ask")["failure"].clone();
    assert_eq!((&failure["kind"], &failure["message"]), (&json!("timeout"), &json!("no decision within 2s")));
}

#[test]
fn each_instance_asks_for_itself() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let tasks = "tasks:\n  - name: ask\n    template: approval\n    for_each: {list: [a, b, c], parallelism: 1}\n    \
                 arguments: {message: 'Delete {{ item }}?', on_rejection: go_on}\n";
    let run = start(&editor, &document("each", tasks));
    let instances =
        || editor.get(&format!("/runs/{run}/tasks/ask/instances")).expect(200).json()["items"].clone();
    wait_for("three questions", || {
        let asked = instances();
        let asked = asked.as_array().unwrap();
        asked.len() == 3 && asked.iter().all(|one| one["wait"]["rule"] == "decision")
    });
    assert_eq!(instances()[1]["wait"]["message"], "Delete b?");
    for (instance, approved) in [(2, true), (0, false), (1, true)] {
        let path = path(&run).replace("/0/", &format!("/{instance}/"));
        editor.post(&path, &json!({"approved": approved})).expect(202);
    }
    until(&editor, &run, "succeeded");
    let answers: Vec<Value> = (0..3).map(|at| instances()[at]["outputs"]["approved"].clone()).collect();
    assert_eq!(answers, [false, true, true]);
}

#[test]
fn what_is_asked_is_checked_before_anything_starts() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    for (arguments, place) in [
        ("      approver: [ada]\n", "approver"),
        ("      on_rejection: maybe\n", "on_rejection"),
        ("      approvers: [nobody-here]\n", "no user `nobody-here` can see this project"),
    ] {
        let answer =
            editor.post("/projects/default/runs", &json!({"document": asking(arguments, "")})).expect(422);
        assert!(answer.text().contains(place), "{}", answer.text());
    }
}
