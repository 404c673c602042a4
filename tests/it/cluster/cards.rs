//! A node that loses a graphics card, as what watches nodes tells it: the worker that failed there is not to blame.

use cubeloom_domain::clock::Clock;
use cubeloom_testkit::clock::SystemClock;
use cubeloom_web::time::Time;
use kube::Api;
use kube::api::{DynamicObject, Patch, PatchParams};
use serde_json::{Value, json};

use super::kubectl::Object;
use super::product::ended;
use super::simulated::{Place, add};
use crate::api::support::{Client, Server, Who};
use crate::support::TestApp;

/// The condition of the simulated nodes that have cards.
fn tell(place: &Place, status: &str, message: &str) {
    let named = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "any"}});
    let api: Api<DynamicObject> = place.kubectl.api(&Object::of(named));
    let condition = json!({
        "type": "GpuXidError", "status": status, "reason": "Xid", "message": message,
        "lastTransitionTime": Time(SystemClock.now()),
    });
    let patch = Patch::Strategic(json!({"status": {"conditions": [condition]}}));
    for index in 0..3 {
        let (name, params) = (format!("gpu-{index}"), PatchParams::default());
        place.runtime.block_on(api.patch_status(&name, &params, &patch)).unwrap();
    }
}

/// Why a task with a card failed, whose pod ends with exit code 3.
fn failure(client: &Client) -> Value {
    let document = json!({
        "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "cards", "cluster": "simulated",
        "tasks": [{
            "name": "failing", "template": "command", "arguments": {"command": ["true"]},
            "resources": {"cpu": "100m", "memory": "64Mi", "gpu": {"count": 1}},
        }],
    });
    let wanted = json!({"document": document.to_string()});
    let started = client.post("/projects/default/runs", &wanted).expect(201).json();
    let run = started["run"]["id"].as_str().unwrap();
    ended(client, run);
    client.get(&format!("/runs/{run}/tasks/failing")).expect(200).json()["failure"].clone()
}

#[ignore = "needs a cluster"]
#[test]
fn a_lost_card_is_told_as_the_cause() {
    let place = Place::new();
    let server = Server::start_in(TestApp::new());
    let admin = server.as_(Who::Administrator);
    add(&admin, &place.namespace);
    tell(&place, "True", "NVRM: Xid (PCI:0000:3b:00): 31, pid=1234, name=python");
    let own = failure(&admin);
    assert_eq!((&own["kind"], &own["exit_code"]), (&json!("exit"), &json!(3)), "{own:#}");
    tell(&place, "True", "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.");
    let lost = failure(&admin);
    tell(&place, "False", "");
    assert_eq!(lost["kind"], "lost", "{lost:#}");
    let message = lost["message"].as_str().unwrap();
    assert!(
        message.contains("lost its graphics card") && message.contains("fallen off the bus"),
        "{message}"
    );
}
