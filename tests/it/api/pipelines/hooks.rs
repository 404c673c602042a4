//! Hooks: signed URLs that start pipelines.

use reqwest::Method;
use serde_json::json;

use super::super::support::{Answer, Server, Who, client::send};
use super::{PIPELINES, create, editor};

/// Calls a hook's URL without signing in.
fn call(server: &Server, url: &str, body: &str) -> Answer {
    let nobody = server.as_(Who::Anonymous);
    let path = url.split("/api/v1").nth(1).expect("a URL of this server");
    send(nobody.request(Method::POST, path).body(body.to_owned()))
}

#[test]
fn a_hook_starts_its_pipeline_until_it_changes() {
    let (server, editor) = editor();
    create(&editor, "greet");
    let hooks = format!("{PIPELINES}/greet/hooks");
    let made = editor.post(&hooks, &json!({"name": "nightly", "parameters": {"n": 4}})).expect(201);
    let hook = made.json();
    let (id, url) = (hook["id"].as_str().unwrap(), hook["url"].as_str().unwrap());
    assert!(url.starts_with(&server.url()), "{url}");
    server.as_(Who::Viewer).get(&hooks).expect(403).problem("forbidden");

    let run = |answer: Answer| answer.expect(201).json()["run"].as_str().unwrap().to_owned();
    let first = editor.get(&format!("/runs/{}", run(call(&server, url, "")))).expect(200).json();
    assert_eq!((&first["user"], &first["parameters"]), (&json!("emil"), &json!({"n": 4})));
    let body = r#"{"parameters": {"n": 5}, "of": "another program"}"#;
    let second = editor.get(&format!("/runs/{}", run(call(&server, url, body)))).expect(200).json();
    assert_eq!(second["parameters"], json!({"n": 5}));
    call(&server, url, "[1").expect(400).problem("malformed");
    call(&server, url, r#"{"parameters": {"n": -1}}"#).expect(422).problem("invalid");

    let log = server.as_(Who::Owner).get("/projects/default/audit").expect(200).json();
    let started = log["items"].as_array().unwrap().iter().find(|one| one["via"] == "hook nightly");
    assert_eq!(started.expect("an entry")["action"], "run.start");

    let mut wrong = url.to_owned();
    let last = wrong.pop();
    wrong.push(if last == Some('0') { '1' } else { '0' });
    call(&server, &wrong, "").expect(404).problem("not-found");
    call(&server, &url.replace(id, "01aaaaaaaaaaaaaaaaaaaaaaaa"), "").expect(404).problem("not-found");
    call(&server, url.split('?').next().unwrap(), "").expect(422).problem("invalid");

    let rotated = editor.patch(&format!("{hooks}/{id}"), "\"1\"", &json!({})).expect(200);
    assert_eq!(rotated.etag(), "\"2\"");
    let fresh = rotated.json()["url"].as_str().unwrap().to_owned();
    call(&server, url, "").expect(404);
    run(call(&server, &fresh, ""));
    editor.patch(&format!("{hooks}/{id}"), "\"1\"", &json!({})).expect(412).problem("stale");
    editor.delete(&format!("{hooks}/{id}"), "\"2\"").expect(204);
    call(&server, &fresh, "").expect(404);
}

#[test]
fn a_hook_may_no_more_than_its_maker() {
    let (server, editor) = editor();
    create(&editor, "greet");
    let made = editor.post(&format!("{PIPELINES}/greet/hooks"), &json!({"name": "mine"})).expect(201).json();
    let url = made["url"].as_str().unwrap();
    let owner = server.as_(Who::Owner);
    let member = "/projects/default/members/emil";
    let change = owner.put(member, "*", &json!({"role": "viewer"})).expect(200);
    assert!(call(&server, url, "").expect(403).text().contains("may no longer start its runs"));
    owner.put(member, &change.etag(), &json!({"role": "editor"})).expect(200);
    call(&server, url, "").expect(201);
    let admin = server.as_(Who::Administrator);
    let user = admin.get("/users/emil").expect(200);
    admin.patch("/users/emil", &user.etag(), &json!({"disabled": true})).expect(200);
    assert!(call(&server, url, "").expect(403).text().contains("may no longer sign in"));
}
