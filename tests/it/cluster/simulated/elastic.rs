//! Elastic jobs that Volcano scales, on simulated nodes: they use what is left, scale down for a job that
//! needs it, and scale up again. Their first worker stays.

use std::collections::BTreeSet;

use kube::api::ListParams;
use serde_json::{Value, json};

use super::{Place, add};
use crate::api::support::{Client, Server, Who};
use crate::cluster::kubectl::Object;
use crate::cluster::product::{until, uploaded};
use crate::support::TestApp;

/// A run of one task whose workers have a GPU each, of twelve in total.
fn start(client: &Client, code: &str, name: &str, size: Value) -> String {
    let mut arguments = json!({"script": "/opt/train.py"});
    arguments.as_object_mut().unwrap().extend(size.as_object().cloned().unwrap());
    let document = json!({
        "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": name, "cluster": "simulated",
        "tasks": [{
            "name": name, "template": "pytorch", "arguments": arguments,
            "resources": {"cpu": "100m", "memory": "64Mi", "gpu": {"count": 1}},
        }],
    });
    let wanted = json!({"document": document.to_string(), "code": code});
    let started = client.post("/projects/default/runs", &wanted).expect(201).json();
    started["run"]["id"].as_str().unwrap().to_owned()
}

/// The running workers of a run's job by index, without terminating ones.
fn running(place: &Place, run: &str) -> BTreeSet<String> {
    let named = json!({"name": "any", "namespace": place.namespace});
    let pods = place.kubectl.api(&Object::of(json!({"apiVersion": "v1", "kind": "Pod", "metadata": named})));
    let chosen = ListParams::default().labels(&format!("cubeloom/run={run}"));
    let found = place.runtime.block_on(pods.list(&chosen)).unwrap();
    let runs = found
        .items
        .into_iter()
        .filter(|pod| pod.data["status"]["phase"] == "Running" && pod.metadata.deletion_timestamp.is_none());
    runs.map(|pod| pod.metadata.labels.unwrap()["training.kubeflow.org/replica-index"].clone()).collect()
}

#[ignore = "needs a cluster"]
#[test]
fn an_elastic_job_gives_room_and_takes_it_back_and_its_first_worker_stays() {
    let place = Place::new();
    let server = Server::start_in(TestApp::new());
    let admin = server.as_(Who::Administrator);
    add(&admin, &place.namespace);
    let code = uploaded(&admin);
    for name in ["one", "two"] {
        let gang = start(&admin, &code, name, json!({"workers": 4}));
        until("a gang runs", || !running(&place, &gang).is_empty());
    }
    let elastic = start(&admin, &code, "stretches", json!({"elastic": {"min": 2, "max": 4}}));
    until("it has what is left", || running(&place, &elastic).len() == 4);
    for round in 0..2 {
        // Its name makes the simulated pods end by themselves.
        let needs = start(&admin, &code, "simulated", json!({"workers": 2}));
        let least = std::cell::Cell::new(4);
        until("the other has its room, and ends", || {
            let workers = running(&place, &elastic);
            assert!(workers.contains("0"), "round {round}: {workers:?}");
            least.set(least.get().min(workers.len()));
            admin.get(&format!("/runs/{needs}")).expect(200).json()["state"] == "succeeded"
        });
        assert_eq!(least.get(), 2, "no more was taken than was needed");
        until("it has it again", || running(&place, &elastic).len() == 4);
    }
    let state = || admin.get(&format!("/runs/{elastic}")).expect(200).json()["state"].clone();
    assert_eq!(state(), "running");
    admin.post(&format!("/runs/{elastic}/cancel"), &json!({})).expect(202);
    until("it is cancelled", || state() == "cancelled");
}
