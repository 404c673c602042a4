//! Logs copied to a project's object store, a real S3 server.

use std::fs;

use serde_json::{Value, json};

use crate::api::runs::help::{document, start, until};
use crate::api::runs::pages::page;
use crate::api::support::{Answer, Client, Server, Who};
use crate::support::{S3, TestApp, wait_for};

const LOGS: &str = "/projects/default/volumes/far/files?path=cubeloom-logs";

/// Two workers; each writes a line at once and one a second later.
fn slow() -> String {
    let command =
        json!(["sh", "-c", "echo first $JOB_COMPLETION_INDEX; sleep 2.2; echo second; echo warn >&2"]);
    document(
        "slow",
        &format!(
            "tasks:\n  - name: talk\n    template: indexed\n    resources: {{cpu: 100m, memory: 64Mi}}\n    \
             arguments: {{workers: 2, command: {command}}}\n"
        ),
    )
}

fn add_store(owner: &Client, store: &S3) {
    for (name, key) in [("key-id", "access_key"), ("key-secret", "secret_key")] {
        let body = json!({"name": name, "value": store.said[key]});
        owner.post("/projects/default/secrets", &body).expect(201);
    }
    let place = json!({
        "kind": "object_store", "scheme": "s3", "bucket": "data", "prefix": "", "endpoint": store.said["endpoint"],
        "credentials": {"id": "key-id", "key": "key-secret"},
    });
    owner.post("/projects/default/volumes", &json!({"name": "far", "place": place})).expect(201);
}

fn keep(owner: &Client, keeping: &Value) -> Answer {
    owner.patch("/projects/default", "*", &json!({"keeping": keeping}))
}

fn is_copied(client: &Client, run: &str) -> bool {
    let files = client.get(&format!("{LOGS}/{run}"));
    files.status == 200 && files.text().contains("\"talk.0.1.json\"")
}

#[test]
fn logs_are_copied_into_s3_and_read_from_there() {
    let (store, mut app) = (S3::start(), TestApp::new());
    // The store of this test is on this machine.
    app.set("CUBELOOM_SERVER_PRIVATE_ENDPOINTS", "true");
    let server = Server::start_in(app);
    let owner = server.as_(Who::Owner);
    let before = start(&owner, &slow());
    until(&owner, &before, "succeeded");
    add_store(&owner, &store);
    keep(&owner, &json!({"logs": "far", "objects": 60})).expect(200);
    let after = start(&owner, &slow());
    until(&owner, &after, "succeeded");
    for run in [&before, &after] {
        wait_for("the logs to be copied", || is_copied(&owner, run));
        let text =
            |rest: &str| owner.get(&format!("/runs/{run}/logs/text?task=talk{rest}")).expect(200).json();
        let asked =
            ["", "&worker=worker-1&stream=stdout", "&worker=worker-0&stream=stdout&offset=3", "&tail=1"];
        let written = asked.map(text);
        let usage = || owner.get(&format!("/runs/{run}/tasks/talk/usage")).expect(200).json();
        let used = usage();
        assert_eq!(used["workers"].as_array().map(Vec::len), Some(2), "{used}");
        assert_eq!(used["workers"][0]["lines"][0]["name"], "cpu", "{used}");
        assert!(written[0].to_string().contains("second"), "{}", written[0]);
        fs::remove_dir_all(server.data().join("runs").join(run)).unwrap();
        for (rest, written) in asked.iter().zip(&written) {
            assert_eq!(&text(rest)["chunks"], &written["chunks"], "{rest}");
        }
        assert_eq!(usage(), used, "what its workers used is kept with its logs");
    }
    owner.delete("/projects/default/volumes/far", "*").expect(409).problem("conflict");
    owner.delete(&format!("/runs/{before}"), "*").expect(204);
    wait_for("the copies to be removed", || !is_copied(&owner, &before));
    assert!(is_copied(&owner, &after));
}

#[test]
fn what_s3_does_not_take_waits_and_says_why() {
    let (store, mut app) = (S3::start(), TestApp::new());
    app.set("CUBELOOM_SERVER_PRIVATE_ENDPOINTS", "true");
    let server = Server::start_in(app);
    let owner = server.as_(Who::Owner);
    add_store(&owner, &store);
    let secret = |value: &Value| {
        owner.put("/projects/default/secrets/key-secret", "*", &json!({"value": value})).expect(200);
    };
    secret(&json!("wrong-secret"));
    let before = start(&owner, &slow());
    until(&owner, &before, "succeeded");
    keep(&owner, &json!({"logs": "far"})).expect(200);
    let behind = || owner.get("/projects/default").expect(200).json()["logs_behind"].clone();
    wait_for("it to be said", || !behind().is_null());
    let behind_now = behind();
    assert_eq!(behind_now["attempts"], 0, "whether there is a copy only the store knows");
    assert!(behind_now["why"].as_str().unwrap().contains("credentials were refused"), "{behind_now}");
    assert!(page(&owner, "/projects/default").contains("The state of log copies is unknown"));
    let run = start(&owner, &slow());
    until(&owner, &run, "succeeded");
    wait_for("it to be counted", || behind()["attempts"] == 1);
    assert!(page(&owner, "/projects/default").contains("Attempts whose logs are not copied yet: 1"));
    secret(&store.said["secret_key"]);
    keep(&owner, &json!({"logs": "far"})).expect(200);
    for run in [&before, &run] {
        wait_for("the logs to be copied", || is_copied(&owner, run));
    }
    wait_for("nothing to be behind", || behind().is_null());
}

#[test]
fn what_cannot_be_kept_is_refused() {
    let server = Server::start();
    let owner = server.as_(Who::Owner);
    for (keeping, field) in [
        (json!({"logs": "workspace"}), "/keeping/logs"),
        (json!({"logs": "nothing"}), "/keeping/logs"),
        (json!({"objects": 31_536_001}), "/keeping/objects"),
    ] {
        let refused = keep(&owner, &keeping).expect(422).problem("invalid");
        assert_eq!(refused["problems"][0]["path"], field, "{refused}");
    }
    server.as_(Who::Editor).patch("/projects/default", "*", &json!({"keeping": {}})).expect(403);
    let kept = keep(&owner, &json!({"objects": 0})).expect(200).json();
    assert_eq!(kept["keeping"], json!({"objects": 0}));
    let named = owner.patch("/projects/default", "*", &json!({"label": "Other"})).expect(200).json();
    assert_eq!(named["keeping"], json!({"objects": 0}), "what is left out stays");
}
