//! Registries: a host, an account, and the secret with its password.

use serde_json::json;

use crate::api::support::{Server, Who};

#[test]
fn a_registry_is_added_changed_and_taken_away() {
    let server = Server::start();
    let (owner, editor) = (server.as_(Who::Owner), server.as_(Who::Editor));
    let list = "/projects/default/registries";
    let body =
        json!({"name": "hub", "host": "registry.example.org:5000", "user": "bot", "secret": "password"});
    let refused = owner.post(list, &body).expect(422).problem("invalid");
    assert_eq!(refused["problems"][0]["path"], "/secret", "{refused}");
    owner
        .post("/projects/default/secrets", &json!({"name": "password", "value": "pw-of-the-hub"}))
        .expect(201);
    editor.post(list, &body).expect(403);
    owner.post(list, &body).expect(201);
    owner.post(list, &body).expect(409).problem("conflict");
    let wrong = json!({"name": "other", "host": "https://registry.example.org/path"});
    assert_eq!(owner.post(list, &wrong).expect(422).problem("invalid")["problems"][0]["path"], "/host");
    let change = json!({"host": "registry.example.org", "user": "bot", "secret": "password"});
    assert_eq!(owner.put(&format!("{list}/hub"), "\"1\"", &change).expect(200).etag(), "\"2\"");
    owner.put(&format!("{list}/hub"), "\"1\"", &change).expect(412).problem("stale");
    let seen = editor.get(list).expect(200).json();
    assert_eq!(seen["items"][0]["host"], "registry.example.org");
    owner.delete(&format!("{list}/hub"), "\"2\"").expect(204);
    assert_eq!(owner.get(list).expect(200).json()["items"], json!([]));
}
