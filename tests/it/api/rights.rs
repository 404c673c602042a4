//! Revoked permissions, and tokens with fewer permissions than their person.

use serde_json::json;

use super::runs::help::{Events, document, start, task, until};
use super::support::{Server, Who};

#[test]
fn who_administers_no_more_hears_of_other_projects_no_more() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    server.user("eve", &["--admin"]);
    let eve = server.with_token(Some(server.token("eve", &["--scope", "read"])));
    let events = Events::open(&eve, "/events", None);
    assert_eq!(events.next().name, "snapshot");
    let etag = ada.get("/users/eve").expect(200).etag();
    ada.patch("/users/eve", &etag, &json!({"admin": false})).expect(200);
    events.find(|event| event.name == "revoked");
    // From now on she sees only her own.
    assert_eq!(eve.get("/projects").expect(200).json()["items"], json!([]));
}

#[test]
fn a_token_that_only_looks_does_not_learn_what_starts_runs() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let text = document("hooked", &format!("tasks:\n{}", task("say", "echo one", "")));
    editor.post("/projects/default/pipelines", &json!({"document": text})).expect(201);
    let path = "/projects/default/pipelines/hooked/hooks";
    editor.post(path, &json!({"name": "nightly"})).expect(201);
    let with = |scope| server.with_token(Some(server.token(Who::Editor.name(), &["--scope", scope])));
    let page = "page:/projects/default/pipelines/hooked?tab=hooks";
    assert!(editor.get(page).expect(200).text().contains("signature="));
    let reader = with("read");
    reader.get(path).expect(403).problem("forbidden");
    assert!(!reader.get(page).expect(200).text().contains("signature="));
    assert!(with("run").get(path).expect(200).text().contains("signature="));
}

#[test]
fn a_change_of_what_is_no_longer_so_is_refused() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    server.as_(Who::Editor);
    let etag = ada.get("/users/emil").expect(200).etag();
    ada.patch("/users/emil", &etag, &json!({"display_name": "Emil"})).expect(200);
    // A revision from the future proves nothing about what was read.
    for seen in [etag.as_str(), "\"99\""] {
        ada.patch("/users/emil", seen, &json!({"email": "emil@example.org"})).expect(412).problem("stale");
    }
    let kept = ada.patch("/users/emil", "*", &json!({"email": "emil@example.org"})).expect(200).json();
    assert_eq!(kept["display_name"], "Emil");
}

#[test]
fn nobody_is_led_to_another_server_by_a_link_to_this_one() {
    let server = Server::start();
    let viewer = server.as_(Who::Viewer);
    for next in ["//evil.example", "/%09/evil.example", "/%5Cevil.example", "https:%2F%2Fevil.example"] {
        let answer = viewer.get(&format!("page:/sign-in?next={next}")).expect(303);
        assert_eq!(answer.header("location"), "/", "{next}");
    }
    let answer = viewer.get("page:/sign-in?next=%2Fruns%3Fa%3Db").expect(303);
    assert_eq!(answer.header("location"), "/runs?a=b");
}

#[test]
fn a_hook_does_not_give_its_makers_own_secrets_to_who_changes_the_pipeline() {
    let server = Server::start();
    let (owner, editor) = (server.as_(Who::Owner), server.as_(Who::Editor));
    owner.post("/me/secrets", &json!({"name": "olgas", "value": "tops3cret-of-olga"})).expect(201);
    owner.post("/projects/default/secrets", &json!({"name": "ours", "value": "s3cret-of-all"})).expect(201);
    let said = |secret: &str| {
        let secrets = if secret.is_empty() { String::new() } else { format!("    secrets: [{secret}]\n") };
        document("nightly", &format!("tasks:\n{}", task("t", "true", &secrets)))
    };
    let path = "/projects/default/pipelines/nightly";
    owner.post("/projects/default/pipelines", &json!({"document": said("")})).expect(201);
    let hook = owner.post(&format!("{path}/hooks"), &json!({"name": "nightly"})).expect(201).json();
    let url = hook["url"].as_str().and_then(|url| url.split_once("/api/v1")).map(|(_, path)| path.to_owned());
    let fire = || server.as_(Who::Anonymous).post(url.as_deref().unwrap(), &json!({}));
    let change = |secret: &str| {
        let etag = editor.get(path).expect(200).etag();
        editor.put(path, &etag, &json!({"document": said(secret)})).expect(200);
    };
    change("olgas");
    let refused = fire().expect(422).problem("invalid");
    assert_eq!(refused["problems"][0]["path"], "/tasks/0/secrets/0", "{refused}");
    // She may use her own, and everyone may use the project's.
    owner.post("/projects/default/runs", &json!({"pipeline": "nightly"})).expect(201);
    change("ours");
    fire().expect(201);
}

#[test]
fn a_strangers_answer_about_a_run_is_that_about_no_run() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = start(&editor, &document("mine", &format!("tasks:\n{}", task("say", "true", ""))));
    let none = "01arz3ndektsv4rrffq69g5fav";
    let stranger = server.as_(Who::Stranger);
    for rest in ["", "/plan", "/logs/text?task=say", "/events"] {
        let told = |run: &str| {
            let problem = stranger.get(&format!("/runs/{run}{rest}")).expect(404).problem("not-found");
            problem["detail"].as_str().unwrap().replace(run, "RUN")
        };
        assert_eq!(told(&run), told(none), "{rest}");
    }
    until(&editor, &run, "succeeded");
}
