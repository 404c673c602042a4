//! The model registry: tasks report versions, people assign aliases, and pipelines use them.

use serde_json::{Value, json};

use super::runs::help::{document, id, start, task, until};
use super::runs::pages::page;
use super::support::{Client, Server, Who};
use crate::cluster::product::uploaded;

const LIST: &str = "/projects/default/models";

/// A template that takes a model and prints the file that it got.
const TAKES: &str = r#"{apiVersion: cubeloom/v1, kind: TaskTemplate, name: takes, version: 1.0.0, group: basics,
label: {en: Takes, zh: 取}, help: {en: Takes a model., zh: 取模型。}, framework: single,
parameters: {type: object, additionalProperties: false, required: [model],
  properties: {model: {type: string, format: model, title: Model}}},
roles: [{name: worker, replicas: 1, resources: {cpu: 100m, memory: 64Mi}}],
command: [sh, -c, 'echo "{\"output\": {\"got\": \"$0\"}}" >> "$CUBELOOM_OUTPUTS"', "{{ args.model }}"]}"#;

/// A pipeline with a task that reports a model.
fn making(model: &Value) -> String {
    let line = format!("echo '{}' >> $CUBELOOM_OUTPUTS", json!({"model": model}));
    document("make", &format!("tasks:\n{}", task("fit", &line, "")))
}

/// Registers a version in a project. Returns the run that did.
pub fn register(client: &Client, project: &str, model: &Value) -> String {
    done(client, project, &json!({"document": making(model)}))
}

/// Starts a run and waits until it has succeeded.
fn done(client: &Client, project: &str, body: &Value) -> String {
    let run = id(&client.post(&format!("/projects/{project}/runs"), body).expect(201).json()["run"]);
    until(client, &run, "succeeded");
    run
}

fn digits(number: u32, accuracy: f64) -> Value {
    json!({
        "name": "digits", "path": format!("models/digits/{number}"), "format": "onnx",
        "digest": "sha256:0123", "size": 5, "metrics": {"accuracy": accuracy}, "parameters": {"depth": 3},
        "data": ["s3://bucket/digits.csv"], "description": "<b>trained</b>",
    })
}

#[test]
fn what_a_task_reports_is_a_version_with_where_it_comes_from() {
    let server = Server::start();
    let (editor, viewer) = (server.as_(Who::Editor), server.as_(Who::Viewer));
    assert_eq!(viewer.get(LIST).expect(200).json()["items"], json!([]));
    assert!(page(&viewer, LIST).contains("No models yet"));
    let first = register(&editor, "default", &digits(1, 0.5));
    let mut second = digits(2, 0.75);
    second["alias"] = json!("candidate");
    let code = uploaded(&editor);
    let second = done(&editor, "default", &json!({"document": making(&second), "code": code}));

    let listed = viewer.get(&format!("{LIST}?q=DIG")).expect(200).json();
    let model = &listed["items"][0];
    assert_eq!((&model["name"], &model["versions"]), (&json!("digits"), &json!(2)), "{listed}");
    assert_eq!(model["aliases"], json!({"candidate": 2}));
    assert_eq!(model["newest"]["aliases"], json!(["candidate"]));
    assert_eq!(viewer.get(&format!("{LIST}?q=letters")).expect(200).json()["items"], json!([]));

    let versions = viewer.get(&format!("{LIST}/digits/versions?limit=1")).expect(200).json();
    assert_eq!(versions["items"][0]["version"], 2);
    let cursor = versions["next_cursor"].as_str().unwrap();
    let rest = viewer.get(&format!("{LIST}/digits/versions?limit=1&cursor={cursor}")).expect(200).json();
    assert_eq!((&rest["items"][0]["version"], &rest["next_cursor"]), (&json!(1), &Value::Null));
    let version = viewer.get(&format!("{LIST}/digits/versions/1")).expect(200).json();
    let origin = ["run", "task", "instance", "attempt", "pipeline", "user"].map(|key| version[key].clone());
    let name = Who::Editor.name();
    assert_eq!(json!(origin), json!([first, "fit", 0, 1, "make", name]), "{version}");
    assert_eq!(version["metrics"], json!({"accuracy": 0.5}));
    assert_eq!((&version["format"], &version["size"]), (&json!("onnx"), &json!(5)));
    assert_eq!(version["code"], Value::Null, "its run had no programs");
    let made_of = viewer.get(&format!("{LIST}/digits/versions/2")).expect(200).json();
    assert_eq!(made_of["code"], json!(code), "{made_of}");
    assert!(page(&viewer, &format!("{LIST}/digits/versions/2")).contains(&code));
    let of_run = viewer.get(&format!("/runs/{second}/models")).expect(200).json();
    assert_eq!(of_run["items"][0]["version"], 2, "{of_run}");
    for (path, words) in [
        (LIST.to_owned(), ["digits", "candidate → 2", "0.75"]),
        (format!("{LIST}/digits"), ["Version 1", "&#60;b&#62;trained", "model: digits@candidate"]),
        (format!("{LIST}/digits/versions/2"), ["+0.25", "s3://bucket/digits.csv", "model: digits/2"]),
    ] {
        let text = page(&viewer, &path);
        for word in words {
            assert!(text.contains(word), "{path}: {word}");
        }
        assert!(!text.contains("<b>trained"), "{path}");
    }
    assert!(page(&viewer, &format!("/runs/{second}?tab=outputs")).contains("digits, version 2"));
    viewer.get(&format!("{LIST}/letters")).expect(404);
    viewer.get(&format!("{LIST}/digits/versions/3")).expect(404);
}

#[test]
fn aliases_move_and_what_they_stand_for_is_not_deleted() {
    let server = Server::start();
    let (editor, viewer) = (server.as_(Who::Editor), server.as_(Who::Viewer));
    for number in [1, 2] {
        register(&editor, "default", &digits(number, 0.5));
    }
    let alias = format!("{LIST}/digits/aliases/production");
    viewer.put(&alias, "", &json!({"version": 1})).expect(403);
    editor.put(&alias, "", &json!({"version": 1})).expect(200);
    assert_eq!(editor.put(&alias, "", &json!({"version": 2})).expect(200).json()["aliases"]["production"], 2);
    let refused = editor.put(&alias, "", &json!({"version": 9})).expect(422).problem("invalid");
    assert_eq!(refused["problems"][0]["path"], "/version", "{refused}");
    for wrong in ["3", "Production", "-a"] {
        let path = format!("{LIST}/digits/aliases/{wrong}");
        let refused = editor.put(&path, "", &json!({"version": 1})).expect(422).problem("invalid");
        assert_eq!(refused["problems"][0]["path"], "/alias", "{wrong}");
    }
    editor.delete(&format!("{LIST}/digits/versions/2"), "").expect(409).problem("conflict");
    editor.delete(&alias, "").expect(204);
    editor.delete(&alias, "").expect(404);
    editor.delete(&format!("{LIST}/digits/versions/2"), "").expect(204);
    register(&editor, "default", &digits(3, 0.5));
    let numbers = editor.get(&format!("{LIST}/digits/versions")).expect(200).json();
    let numbers: Vec<_> = numbers["items"].as_array().unwrap().iter().map(|one| &one["version"]).collect();
    assert_eq!(numbers, [3, 1], "a number is given once");
    let etag =
        editor.patch(&format!("{LIST}/digits"), "*", &json!({"description": "Numbers"})).expect(200).etag();
    editor.delete(&format!("{LIST}/digits"), "\"1\"").expect(412);
    editor.delete(&format!("{LIST}/digits"), &etag).expect(204);
    assert_eq!(editor.get(LIST).expect(200).json()["items"], json!([]));
}

#[test]
fn an_argument_names_a_version_which_is_settled_at_the_start() {
    let server = Server::start();
    let (ada, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    ada.post("/templates", &json!({"document": TAKES})).expect(201);
    let using = |model: &str| {
        document(
            "use",
            &format!("tasks:\n  - {{name: use, template: takes, arguments: {{model: '{model}'}}}}\n"),
        )
    };
    let try_it = |model: &str| editor.post("/projects/default/runs", &json!({"document": using(model)}));
    let refused = try_it("digits").expect(422).problem("invalid");
    assert_eq!(refused["problems"][0]["code"], "unknown_model", "{refused}");
    assert_eq!(refused["problems"][0]["path"], "/tasks/0/arguments/model");
    for (number, alias) in [(1, "production"), (2, "candidate")] {
        let mut model = digits(number, 0.5);
        model["alias"] = json!(alias);
        register(&editor, "default", &model);
    }
    for (model, got) in [
        ("digits", "models/digits/2"),
        ("digits@production", "models/digits/1"),
        ("digits/2", "models/digits/2"),
        ("models/other.onnx", "models/other.onnx"),
    ] {
        let run = id(&try_it(model).expect(201).json()["run"]);
        until(&editor, &run, "succeeded");
        let outputs = editor.get(&format!("/runs/{run}/outputs")).expect(200).json();
        assert_eq!(outputs["items"][0]["outputs"]["got"], got, "{model}");
    }
    for (model, says) in [
        ("digts", "did you mean `digits`?"),
        ("digits/7", "the model `digits` has no version 7"),
        ("digits@prodction", "did you mean `production`?"),
    ] {
        let refused = try_it(model).expect(422).problem("invalid");
        assert!(refused["problems"][0]["message"].as_str().unwrap().contains(says), "{refused}");
    }
}

#[test]
fn a_run_that_registers_several_tells_them_page_by_page() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let names = ["digits", "digits-onnx", "digits0"];
    let lines =
        names.map(|name| json!({"model": {"name": name, "path": format!("models/{name}/1")}}).to_string());
    let command =
        format!("for line in '{}'; do echo \"$line\" >> $CUBELOOM_OUTPUTS; done", lines.join("' '"));
    let run = start(&editor, &document("several", &format!("tasks:\n{}", task("fit", &command, ""))));
    until(&editor, &run, "succeeded");
    let mut found = Vec::new();
    let mut next = String::new();
    loop {
        let page = editor.get(&format!("/runs/{run}/models?limit=1{next}")).expect(200).json();
        found.extend(
            page["items"].as_array().unwrap().iter().map(|one| one["model"].as_str().unwrap().to_owned()),
        );
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        next = format!("&cursor={cursor}");
    }
    found.sort();
    assert_eq!(found, names);
}

#[test]
fn what_cannot_be_a_version_is_told_and_a_task_that_failed_registers_nothing() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = register(&editor, "default", &json!({"name": "No Label", "path": "../elsewhere"}));
    let outputs = editor.get(&format!("/runs/{run}/outputs")).expect(200).json();
    let warning = outputs["items"][0]["warnings"][0].as_str().unwrap();
    assert!(warning.contains("the model `No Label` is not registered"), "{outputs}");
    assert!(page(&editor, &format!("/runs/{run}?tab=outputs")).contains("is not registered"));
    let run = register(&editor, "default", &json!({"name": "digits", "path": "models/1", "data": "one.csv"}));
    let outputs = editor.get(&format!("/runs/{run}/outputs")).expect(200).text();
    assert!(outputs.contains("a model is not registered, because its line cannot be read"), "{outputs}");
    let line = format!("echo '{}' >> $CUBELOOM_OUTPUTS; exit 3", json!({"model": digits(1, 0.5)}));
    let failing = document("fails", &format!("tasks:\n{}", task("fit", &line, "")));
    let run = start(&editor, &failing);
    until(&editor, &run, "failed");
    assert_eq!(editor.get(LIST).expect(200).json()["items"], json!([]));
}
