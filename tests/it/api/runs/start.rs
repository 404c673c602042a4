//! Starting runs of stored pipelines and of documents, and refusals.

use serde_json::json;

use super::help::{document, id, of_task, start, task, until};
use crate::api::support::{Server, Who};

const TYPED: &str = "parameters:\n  n: {type: integer, default: 3}\n  name: {type: string}\ntasks:\n";

#[test]
fn a_stored_pipeline_is_started_in_its_newest_or_a_named_version() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let said =
        |word: &str| document("greet", &format!("tasks:\n{}", task("say", &format!("echo {word}"), "")));
    let made = editor.post("/projects/default/pipelines", &json!({"document": said("one")})).expect(201);
    let path = "/projects/default/pipelines/greet";
    editor.put(path, &made.etag(), &json!({"document": said("two")})).expect(200);
    for (version, expected, word) in [(None, 2, "two"), (Some(1), 1, "one")] {
        let body = json!({"pipeline": "greet", "version": version});
        let started = editor.post("/projects/default/runs", &body).expect(201);
        let run = started.json()["run"].clone();
        assert_eq!(started.header("location"), format!("/api/v1/runs/{}", id(&run)));
        assert_eq!((&run["version"], &run["user"]), (&json!(expected), &json!("emil")));
        let run = until(&editor, &id(&run), "succeeded");
        assert_eq!(run["tasks"], json!({"total": 1, "states": {"succeeded": 1}}));
        assert!(run["duration_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{run}");
        let text =
            editor.get(&format!("/runs/{}/logs/download?task=say&stream=stdout", id(&run))).expect(200);
        assert_eq!(text.text(), format!("{word}\n"));
    }
    let missing =
        editor.post("/projects/default/runs", &json!({"pipeline": "greet", "version": 9})).expect(422);
    assert_eq!(missing.problem("invalid")["problems"][0]["path"], "/version");
    let missing = editor.post("/projects/default/runs", &json!({"pipeline": "none"})).expect(422);
    assert_eq!(missing.problem("invalid")["problems"][0]["path"], "/pipeline");
}

#[test]
fn parameters_are_read_by_their_types() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let tasks = task("say", "echo {{ params.n + 1 }} {{ params.name }}", "");
    let document = document("typed", &format!("{TYPED}{tasks}"));
    let body = json!({"document": document, "parameters": {"n": "41", "name": "x"}});
    let run = id(&editor.post("/projects/default/runs", &body).expect(201).json()["run"]);
    until(&editor, &run, "succeeded");
    let text = editor.get(&format!("/runs/{run}/logs/download?task=say&stream=stdout")).expect(200).text();
    assert_eq!(text, "42 x\n");
    let plan = editor.get(&format!("/runs/{run}/plan")).expect(200).json();
    assert_eq!(plan["parameters"], json!({"n": 41, "name": "x"}));
}

#[test]
fn parameters_keep_the_order_of_the_document() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let parameters = "parameters:\n  to: {type: integer, default: 3}\n  from: {type: integer}\n  \
                      by: {type: integer, default: 1}\ntasks:\n";
    let tasks = task("say", "echo {{ params.from }} {{ params.to }} {{ params.by }}", "");
    let document = document("ordered", &format!("{parameters}{tasks}"));
    let order = |object: &serde_json::Value| -> Vec<String> {
        object["parameters"].as_object().unwrap().keys().cloned().collect()
    };
    let checked =
        editor.post("/projects/default/validate", &json!({"document": document})).expect(200).json();
    assert_eq!(order(&checked), ["to", "from", "by"]);
    let made = editor.post("/projects/default/pipelines", &json!({"document": document})).expect(201).json();
    assert_eq!(order(&made), ["to", "from", "by"]);
    let body = json!({"pipeline": "ordered", "parameters": {"by": 2, "from": 1}});
    let run = id(&editor.post("/projects/default/runs", &body).expect(201).json()["run"]);
    let plan = editor.get(&format!("/runs/{run}/plan")).expect(200).json();
    assert_eq!(order(&plan), ["to", "from", "by"]);
    until(&editor, &run, "succeeded");
}

#[test]
fn every_mistake_is_told_with_its_place() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let post = |body| editor.post("/projects/default/runs", &body);
    let document =
        document("wrong", &format!("{TYPED}{}", task("say", "echo {{ params.n }}", "    neds: [x]\n")));
    let refused = post(json!({"document": document})).expect(422).problem("invalid");
    let paths: Vec<&str> =
        refused["problems"].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap()).collect();
    assert!(paths.contains(&"/tasks/0/neds"), "{refused}");
    assert!(refused["problems"][0]["line"].is_number(), "{refused}");
    let good = document.replace("    neds: [x]\n", "");
    let body = json!({"document": good, "parameters": {"n": "many", "other": 1}});
    let refused = post(body).expect(422).problem("invalid");
    let paths: Vec<&str> =
        refused["problems"].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap()).collect();
    for path in ["/parameters/n", "/parameters/name", "/parameters"] {
        assert!(paths.contains(&path), "{path}: {refused}");
    }
    for (body, path) in [
        (json!({}), "/pipeline"),
        (json!({"pipeline": "a", "document": "b"}), "/document"),
        (json!({"document": "b", "version": 1}), "/version"),
        (json!({"document": good, "code": "../../etc"}), "/code"),
        (json!({"document": good, "parameters": [1]}), "/parameters"),
        (json!({"document": 5}), "/document"),
    ] {
        let refused = post(body.clone()).expect(422).problem("invalid");
        assert_eq!(refused["problems"][0]["path"], path, "{body}: {refused}");
    }
    // Some clients send the whole body before they read the response.
    post(json!({"document": "x".repeat(5 << 20)})).expect(413).problem("too-large");
    assert_eq!(editor.get("/runs").expect(200).json()["items"], json!([]), "nothing was stored");
}

#[test]
fn roles_decide_who_starts_and_who_looks() {
    let server = Server::start();
    let run =
        start(&server.as_(Who::Editor), &document("mine", &format!("tasks:\n{}", task("a", "true", ""))));
    let body = json!({"document": document("mine", &format!("tasks:\n{}", task("a", "true", "")))});
    let (viewer, stranger) = (server.as_(Who::Viewer), server.as_(Who::Stranger));
    viewer.post("/projects/default/runs", &body).expect(403).problem("forbidden");
    stranger.post("/projects/default/runs", &body).expect(404).problem("not-found");
    viewer.get(&format!("/runs/{run}")).expect(200);
    viewer.post(&format!("/runs/{run}/cancel"), &json!({})).expect(403);
    stranger.get(&format!("/runs/{run}")).expect(404).problem("not-found");
    stranger.get(&format!("/runs/{run}/logs?task=a")).expect(404);
    assert_eq!(stranger.get("/runs").expect(200).json()["items"], json!([]));
    server.as_(Who::Anonymous).get(&format!("/runs/{run}")).expect(401).problem("not-signed-in");
    until(&viewer, &run, "succeeded");
    assert_eq!(of_task(&viewer, &run, "a")["state"], "succeeded");
}
