//! GPUs of simulated nodes. A lost GPU, as node monitoring reports it: the worker that failed there is not to
//! blame. MIG slices, limited to what nodes advertise. GPU fractions, which no component allocates here.

use cubeloom_domain::clock::Clock;
use cubeloom_testkit::clock::SystemClock;
use cubeloom_web::time::Time;
use kube::Api;
use kube::api::{DynamicObject, ListParams, Patch, PatchParams};
use serde_json::{Value, json};

use super::{Place, add};
use crate::api::support::{Client, Server, Who};
use crate::cluster::kubectl::Object;
use crate::cluster::product::{ended, until};
use crate::support::TestApp;

/// Sets the condition of the simulated GPU nodes.
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

/// A run of one task with GPUs.
fn with_cards(name: &str, gpu: Value) -> Value {
    let document = json!({
        "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "cards", "cluster": "simulated",
        "tasks": [{
            "name": name, "template": "command", "arguments": {"command": ["true"]},
            "resources": {"cpu": "100m", "memory": "64Mi", "gpu": gpu},
        }],
    });
    json!({"document": document.to_string()})
}

/// The failure of the first attempt of a GPU task, whose pod exits with code 3. A failure caused by a lost
/// GPU is retried; later attempts start after it.
fn failure(client: &Client) -> Value {
    let wanted = with_cards("failing", json!({"count": 1}));
    let started = client.post("/projects/default/runs", &wanted).expect(201).json();
    let run = started["run"]["id"].as_str().unwrap();
    ended(client, run);
    let attempts = client.get(&format!("/runs/{run}/tasks/failing/instances/0/attempts")).expect(200).json();
    attempts["items"][0]["failure"].clone()
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
    assert!(message.contains("lost its GPU") && message.contains("fallen off the bus"), "{message}");
}

#[ignore = "needs a cluster"]
#[test]
fn a_task_runs_with_slices_of_a_card_and_with_no_more_than_there_are() {
    let place = Place::new();
    let server = Server::start_in(TestApp::new());
    let admin = server.as_(Who::Administrator);
    add(&admin, &place.namespace);
    let wanted = with_cards("simulated", json!({"count": 2, "type": "1g.10gb"}));
    let started = admin.post("/projects/default/runs", &wanted).expect(201).json();
    let run = started["run"]["id"].as_str().unwrap();
    assert_eq!(ended(&admin, run)["state"], "succeeded");
    let named = json!({"name": "any", "namespace": place.namespace});
    let pods = place.kubectl.api(&Object::of(json!({"apiVersion": "v1", "kind": "Pod", "metadata": named})));
    let chosen = ListParams::default().labels(&format!("cubeloom/run={run}"));
    let found = place.runtime.block_on(pods.list(&chosen)).unwrap();
    let spec = &found.items[0].data["spec"];
    assert_eq!(spec["nodeName"], "slices-0");
    assert_eq!(spec["containers"][0]["resources"]["limits"]["nvidia.com/mig-1g.10gb"], "2", "{spec:#}");
    for (gpu, most) in [
        (json!({"count": 8, "type": "1g.10gb"}), "the most on one node: 7"),
        (json!({"count": 5}), "the most on one node: 4"),
    ] {
        let refused = admin.post("/projects/default/runs", &with_cards("simulated", gpu)).expect(422).text();
        assert!(refused.contains(most), "{refused}");
    }
}

#[ignore = "needs a cluster"]
#[test]
fn shares_of_hami_are_refused_where_volcano_places_every_pod() {
    let place = Place::new();
    let has = json!({"cpu": "1", "memory": "1Gi", "pods": "1"});
    let node = Object::of(json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {
            "name": "hami-0", "labels": {"type": "kwok"},
            "annotations": {"hami.io/node-nvidia-register": "GPU-1"},
        },
        "status": {"allocatable": has, "capacity": has},
    }));
    place.runtime.block_on(place.kubectl.apply(&node));
    let server = Server::start_in(TestApp::new());
    let admin = server.as_(Who::Administrator);
    add(&admin, &place.namespace);
    until("it is said that HAMi's shares are not known", || {
        let problems = admin.get("/clusters/simulated").expect(200).json()["problems"].to_string();
        problems.contains("HAMi shares its GPUs, but Volcano schedules every pod")
    });
    let wanted = with_cards("simulated", json!({"memory": "8Gi"}));
    let refused = admin.post("/projects/default/runs", &wanted).expect(422).text();
    place.runtime.block_on(place.kubectl.delete(&node));
    assert!(refused.contains("Volcano's vGPU device plugin (`volcano.sh/vgpu-number`)"), "{refused}");
}
