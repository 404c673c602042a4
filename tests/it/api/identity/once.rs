//! `Idempotency-Key`: a repeated request takes effect once.

use reqwest::Method;
use serde_json::{Value, json};

use crate::api::runs::help::{document, task};
use crate::api::support::client::send;
use crate::api::support::{Answer, Client, Server, Who};

fn post(client: &Client, path: &str, key: &str, body: &Value) -> Answer {
    send(client.request(Method::POST, path).header("idempotency-key", key).json(body))
}

fn names(client: &Client, list: &str) -> Vec<String> {
    let page = client.get(list).expect(200).json();
    page["items"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_same_sent_again_is_answered_again_and_done_once() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    let body = json!({"name": "nightly", "scope": "read"});
    let first = post(&ada, "/tokens", "one", &body).expect(201);
    assert_eq!(first.header("idempotency-replayed"), "");
    let again = post(&ada, "/tokens", "one", &body).expect(201);
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(
        (again.body, again.headers.get("content-type")),
        (first.body.clone(), first.headers.get("content-type"))
    );
    let list = ada.get("/tokens").expect(200).json();
    let nightly = list["items"].as_array().unwrap().iter().filter(|one| one["name"] == "nightly").count();
    assert_eq!(nightly, 1, "{list}");
    // The response contains a secret: the database does not store it in plain text.
    let token = first.json()["token"].as_str().unwrap().to_owned();
    let lies = std::fs::read_dir(server.data().join("db")).unwrap().flatten().any(|file| {
        let bytes = std::fs::read(file.path()).unwrap_or_default();
        bytes.windows(token.len()).any(|window| window == token.as_bytes())
    });
    assert!(!lies);
    // The response headers are replayed, too.
    let project = json!({"name": "vision"});
    let (made, again) = (post(&ada, "/projects", "two", &project), post(&ada, "/projects", "two", &project));
    for answer in [made.expect(201), again.expect(201)] {
        assert_eq!((answer.header("location"), answer.etag().as_str()), ("/api/v1/projects/vision", "\"1\""));
    }
}

#[test]
fn a_key_is_for_one_request_of_one_person() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    post(&ada, "/projects", "key", &json!({"name": "one"})).expect(201);
    let other = post(&ada, "/projects", "key", &json!({"name": "two"})).expect(422).problem("invalid");
    assert!(other["detail"].as_str().unwrap().contains("another request"), "{other}");
    post(&ada, "/tokens", "key", &json!({"name": "one", "scope": "read"})).expect(422);
    assert_eq!(names(&ada, "/projects"), ["default", "one"]);
    // The same key of another person is a different key.
    server.user("eve", &["--admin"]);
    let eve = server.with_token(Some(server.token("eve", &["--scope", "admin"])));
    post(&eve, "/projects", "key", &json!({"name": "two"})).expect(201);
    for wrong in ["", &"k".repeat(256)] {
        post(&ada, "/projects", wrong, &json!({"name": "three"})).expect(400).problem("malformed");
    }
}

#[test]
fn of_many_at_once_one_is_carried_out() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let text = document("once", &format!("tasks:\n{}", task("say", "true", "")));
    let body = json!({"document": text});
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| post(&editor, "/projects/default/runs", "run-once", &body)))
            .collect();
        asked.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let carried =
        answers.iter().filter(|one| one.status == 201 && one.header("idempotency-replayed").is_empty());
    assert_eq!(carried.count(), 1);
    for answer in answers {
        match answer.status {
            201 => {}
            409 => {
                assert_eq!(answer.header("retry-after"), "1");
                answer.problem("conflict");
            }
            other => panic!("{other}: {}", answer.text()),
        }
    }
    let runs = editor.get("/projects/default/runs").expect(200).json();
    assert_eq!(runs["items"].as_array().unwrap().len(), 1, "{runs}");
    let id = runs["items"][0]["id"].as_str().unwrap().to_owned();
    let later = post(&editor, "/projects/default/runs", "run-once", &body).expect(201).json();
    assert_eq!(later["run"]["id"], id.as_str(), "whoever was told to wait gets the answer");
    crate::api::runs::help::until(&editor, &id, "succeeded");
}

#[test]
fn what_failed_may_be_sent_again_with_its_key() {
    let server = Server::start();
    let (owner, ada) = (server.as_(Who::Owner), server.as_(Who::Administrator));
    let hub = json!({"name": "hub", "host": "registry.example.org", "user": "bot", "secret": "password"});
    let list = "/projects/default/registries";
    post(&owner, list, "hub", &hub).expect(422).problem("invalid");
    owner.post("/projects/default/secrets", &json!({"name": "password", "value": "of the hub"})).expect(201);
    let made = post(&owner, list, "hub", &hub).expect(201);
    assert_eq!(made.header("idempotency-replayed"), "", "now it is carried out");
    assert_eq!(post(&owner, list, "hub", &hub).expect(201).header("idempotency-replayed"), "true");
    // Current permissions also apply to replayed responses.
    ada.put("/projects/default/members/olga", "*", &json!({"role": "owner"})).expect(200);
    server.user("olaf", &["--project", "default", "--role", "owner"]);
    ada.delete("/projects/default/members/olga", "*").expect(204);
    post(&owner, list, "hub", &hub).expect(404).problem("not-found");
}
