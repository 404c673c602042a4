//! Resuming a run with a newer version of its pipeline: reused results, executed tasks, refusals.

use serde_json::{Value, json};

use super::help::{document, id, of_task, start, task, until, until_task};
use crate::api::support::{Client, Server, Who};

/// A pipeline whose second task runs `line`. The first task's outputs depend on the time and the run's
/// folder.
fn chain(line: &str) -> String {
    let tasks = [
        task("first", "echo '{{ run.date }}' > {{ run.dir }}/date", ""),
        task("second", line, "    needs: [first]\n"),
        task("third", "cat {{ run.dir }}/date", "    needs: [second]\n"),
        task("aside", "true", ""),
        task("beside", "true", "    needs: [first]\n"),
    ];
    document(
        "chain",
        &format!("parameters: {{n: {{type: integer, default: 1}}}}\ntasks:\n{}", tasks.concat()),
    )
}

/// Stores a document as the next version of `chain`; `version` is the current one.
#[track_caller]
fn store(client: &Client, version: u32, document: &str) {
    let body = json!({"document": document});
    if version == 0 {
        client.post("/projects/default/pipelines", &body).expect(201);
    } else {
        client.put("/projects/default/pipelines/chain", &format!("\"{version}\""), &body).expect(200);
    }
}

#[track_caller]
fn run(client: &Client, state: &str) -> String {
    let body = json!({"pipeline": "chain", "parameters": {"n": 7}});
    let run = id(&client.post("/projects/default/runs", &body).expect(201).json()["run"]);
    until(client, &run, state);
    run
}

fn foresee(client: &Client, run: &str, version: &str) -> crate::api::support::Answer {
    client.get(&format!("/runs/{run}/resume-with{version}"))
}

fn resume(client: &Client, run: &str, body: &Value) -> crate::api::support::Answer {
    client.post(&format!("/runs/{run}/resume-with"), body)
}

fn log(client: &Client, run: &str, task: &str) -> String {
    client.get(&format!("/runs/{run}/logs/download?task={task}&stream=stdout")).expect(200).text()
}

#[test]
fn what_succeeded_and_has_not_changed_is_kept_and_the_rest_runs_as_the_newer_version_says() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    store(&editor, 0, &chain("exit 3"));
    let failed = run(&editor, "failed");
    store(&editor, 1, &chain("echo fixed {{ params.n }}"));

    let plan = foresee(&server.as_(Who::Viewer), &failed, "").expect(200).json();
    let again = json!([
        {"task": "second", "reason": "changed", "changed": ["arguments"]},
        {"task": "third", "reason": "unfinished"},
    ]);
    assert_eq!(plan, json!({"version": 2, "kept": ["first", "aside", "beside"], "again": again}));
    let old = foresee(&editor, &failed, "?version=1").expect(200).json();
    assert_eq!(old["again"][0], json!({"task": "second", "reason": "unfinished"}), "{old}");

    let started = resume(&editor, &failed, &json!({"version": 2})).expect(201).json();
    let resumed = id(&started["run"]);
    assert_ne!(resumed, failed);
    assert_eq!((&started["run"]["version"], &started["warnings"]), (&json!(2), &json!([])));
    assert!(started["run"]["message"].as_str().unwrap().contains(&failed), "{started}");
    let ended = until(&editor, &resumed, "succeeded");
    assert_eq!(ended["tasks"], json!({"total": 5, "states": {"reused": 3, "succeeded": 2}}), "{ended}");
    assert_eq!(ended["parameters"], json!({"n": 7}));
    assert_eq!(log(&editor, &resumed, "second"), "fixed 7\n");
    assert!(log(&editor, &resumed, "third").starts_with("20"), "the folder has what the first task left");
    assert_eq!(of_task(&editor, &failed, "second")["state"], "failed", "the earlier run stays as it was");

    let renamed = chain("exit 3").replace("echo '{{ run.date }}'", "echo '{{ run.date }} again'");
    store(&editor, 2, &renamed);
    let plan = foresee(&editor, &failed, "").expect(200).json();
    let reasons: Vec<_> =
        plan["again"].as_array().unwrap().iter().map(|one| one["reason"].as_str().unwrap()).collect();
    assert_eq!(
        (reasons, &plan["kept"]),
        (vec!["changed", "unfinished", "unfinished", "upstream"], &json!(["aside"]))
    );

    // The same remaining tasks run again, and a second failure is resumed like the first.
    let again = id(&editor.post(&format!("/runs/{resumed}/again"), &json!({})).expect(201).json()["run"]);
    assert_eq!(until(&editor, &again, "succeeded")["tasks"]["states"], json!({"reused": 3, "succeeded": 2}));
    store(&editor, 3, &chain("exit 4"));
    let worse = id(&resume(&editor, &failed, &json!({})).expect(201).json()["run"]);
    until(&editor, &worse, "failed");
    store(&editor, 4, &chain("true"));
    let better = id(&resume(&editor, &worse, &json!({})).expect(201).json()["run"]);
    let ended = until(&editor, &better, "succeeded");
    assert_eq!((&ended["version"], &ended["tasks"]["states"]["reused"]), (&json!(5), &json!(3)));
    let first = editor.get(&format!("/runs/{better}/tasks/first/instances")).expect(200).json();
    assert_eq!(first["items"][0]["reused"]["run"], failed.as_str(), "where it ran: {first}");
}

#[test]
fn tasks_that_are_new_or_gone_and_a_part_of_a_pipeline() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    store(&editor, 0, &chain("exit 3"));
    let failed = run(&editor, "failed");
    let without = document(
        "chain",
        &format!(
            "parameters: {{n: {{type: integer, default: 1}}}}\ntasks:\n{}{}",
            task("aside", "true", ""),
            task("new", "true", "    needs: [aside]\n"),
        ),
    );
    store(&editor, 1, &without);
    let plan = foresee(&editor, &failed, "").expect(200).json();
    assert_eq!(plan["again"], json!([{"task": "new", "reason": "new"}]), "{plan}");
    assert_eq!(plan["kept"], json!(["aside"]));
    let resumed = id(&resume(&editor, &failed, &json!({})).expect(201).json()["run"]);
    let ended = until(&editor, &resumed, "succeeded");
    assert_eq!(ended["tasks"]["states"], json!({"reused": 1, "succeeded": 1}));

    // With nothing left to run, it ends at once.
    store(
        &editor,
        2,
        &document(
            "chain",
            &format!(
                "parameters: {{n: {{type: integer, default: 1}}}}\ntasks:\n{}",
                task("aside", "true", "")
            ),
        ),
    );
    let all = id(&resume(&editor, &failed, &json!({})).expect(201).json()["run"]);
    assert_eq!(until(&editor, &all, "succeeded")["tasks"]["states"], json!({"reused": 1}));

    // Resuming a partial run keeps the same part.
    store(&editor, 3, &chain("exit 3"));
    let body = json!({"pipeline": "chain", "tasks": {"only": "second", "of": failed}});
    let part = id(&editor.post("/projects/default/runs", &body).expect(201).json()["run"]);
    until(&editor, &part, "failed");
    store(&editor, 4, &chain("true"));
    let plan = foresee(&editor, &part, "").expect(200).json();
    assert_eq!((&plan["kept"], plan["again"].as_array().unwrap().len()), (&json!(["first"]), 1), "{plan}");
    let resumed = id(&resume(&editor, &part, &json!({})).expect(201).json()["run"]);
    assert_eq!(until(&editor, &resumed, "succeeded")["tasks"]["total"], json!(2));
}

#[test]
fn what_cannot_be_resumed_says_why() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    store(&editor, 0, &chain("exit 3"));
    let failed = run(&editor, "failed");
    server.as_(Who::Viewer).post(&format!("/runs/{failed}/resume-with"), &json!({})).expect(403);
    foresee(&server.as_(Who::Stranger), &failed, "").expect(404);
    let path = |answer: Value| answer["problems"][0]["path"].clone();
    for (body, at) in [(json!({"version": 9}), "/version"), (json!({"verison": 1}), "/verison")] {
        assert_eq!(path(resume(&editor, &failed, &body).expect(422).problem("invalid")), at, "{body}");
    }
    assert_eq!(path(foresee(&editor, &failed, "?version=9").expect(422).problem("invalid")), "/version");
    let other = chain("true").replace("{n:", "{m:");
    store(&editor, 1, &other);
    let refused = resume(&editor, &failed, &json!({})).expect(422).problem("invalid");
    assert_eq!(refused["problems"][0]["code"], "invalid_parameter", "{refused}");

    store(&editor, 2, &chain("true"));
    let done = run(&editor, "succeeded");
    let refused = resume(&editor, &done, &json!({})).expect(409).problem("conflict");
    assert!(refused["detail"].as_str().unwrap().contains("has succeeded"), "{refused}");
    let unstored = start(&editor, &chain("exit 3"));
    until(&editor, &unstored, "failed");
    foresee(&editor, &unstored, "").expect(409).problem("conflict");
    let slow = start(&editor, &document("slow", &format!("tasks:\n{}", task("hold", "sleep 600", ""))));
    until_task(&editor, &slow, "hold", "running");
    resume(&editor, &slow, &json!({})).expect(409).problem("conflict");
    editor.post(&format!("/runs/{slow}/cancel"), &json!({})).expect(202);
    until(&editor, &slow, "cancelled");

    std::fs::remove_dir_all(server.data().join("workspace/default/runs").join(&failed)).unwrap();
    let refused = resume(&editor, &failed, &json!({})).expect(422).problem("invalid");
    assert!(refused["problems"][0]["message"].as_str().unwrap().contains("start a new run"), "{refused}");
}
