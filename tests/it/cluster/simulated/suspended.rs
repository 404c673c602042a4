//! Suspending tasks: permissions, the page, and the audit log.

use serde_json::{Value, json};

use super::{Place, add};
use crate::api::support::{Server, Who};
use crate::cluster::product::until;
use crate::support::TestApp;

#[ignore = "needs a cluster"]
#[test]
fn people_suspend_a_task_and_let_it_go_on() {
    let place = Place::new();
    let server = Server::start_in(TestApp::new());
    let admin = server.as_(Who::Administrator);
    add(&admin, &place.namespace);
    let document = json!({
        "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "held", "cluster": "simulated",
        "tasks": [{
            "name": "held", "template": "command", "arguments": {"command": ["true"]},
            "resources": {"cpu": "10m", "memory": "16Mi"},
        }],
    });
    let editor = server.as_(Who::Editor);
    let started =
        editor.post("/projects/default/runs", &json!({"document": document.to_string()})).expect(201);
    let run = started.json()["run"]["id"].as_str().unwrap().to_owned();
    let instance = format!("/runs/{run}/tasks/held/instances/0");
    let suspended = || {
        let attempts = editor.get(&format!("{instance}/attempts")).expect(200).json();
        attempts["items"][0]["suspended"].clone()
    };
    let page = || editor.get(&format!("page:/runs/{run}/tasks/held")).expect(200).text();
    let path = format!("{instance}/suspend");
    server.as_(Who::Viewer).post(&path, &json!({"suspended": true})).expect(403).problem("forbidden");
    until("it runs", || {
        suspended() == false
            && editor.get(&format!("/runs/{run}/tasks/held")).expect(200).json()["state"] == "running"
    });
    for (wish, word) in [(true, "data-do=\"unsuspend\""), (false, "data-do=\"suspend\"")] {
        let answer = editor.post(&path, &json!({"suspended": wish})).expect(202).json();
        assert_eq!(answer["suspended"], wish);
        until("it is so", || suspended() == wish);
        assert!(page().contains(word), "{word}");
    }
    let log = admin.get("/audit?action=task.suspend").expect(200).json();
    let after: Vec<&Value> = log["items"].as_array().unwrap().iter().map(|entry| &entry["after"]).collect();
    assert_eq!(after, [&json!({"suspended": false}), &json!({"suspended": true})]);
    editor.post(&format!("/runs/{run}/cancel"), &json!({})).expect(202);
    until("it has ended", || suspended().is_null());
    editor.post(&path, &json!({"suspended": true})).expect(409).problem("conflict");
}
