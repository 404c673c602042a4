//! What people are told of a cluster that is not well, and of jobs that the cluster does not take, or takes away.

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{EvictParams, ListParams};
use serde_json::{Value, json};

use super::super::harness::told;
use super::super::kubectl::Object;
use super::super::product::{ended, until};
use super::super::proxy::{Proxy, Weather};
use super::{Place, add, add_by, start};
use crate::api::support::{Client, Server, Who};
use crate::support::TestApp;

fn standing(client: &Client) -> Value {
    client.get("/clusters/simulated").expect(200).json()["standing"].clone()
}

#[ignore = "needs a cluster"]
#[test]
fn the_clusters_page_says_since_when_it_is_away_and_why() {
    let place = Place::new();
    let kubeconfig = std::fs::read_to_string(told("KUBECONFIG")).unwrap();
    let proxy = place.runtime.block_on(Proxy::start(&kubeconfig));
    let server = Server::start_in(TestApp::new());
    let admin = server.as_(Who::Administrator);
    add_by(&admin, &place.namespace, &proxy.kubeconfig());
    for (weather, state, words) in
        [(Weather::Away, "away", "Does not answer"), (Weather::Strangers, "refused", "Credentials refused")]
    {
        proxy.becomes(weather);
        until(state, || standing(&admin)["state"] == state);
        let seen = standing(&admin);
        assert!(seen["since"].is_string(), "{seen:#}");
        let why = seen["why"].as_str().unwrap();
        assert!(!why.is_empty());
        let page = admin.get("page:/clusters").expect(200).text();
        assert!(page.contains(words), "{page}");
        proxy.becomes(Weather::Fine);
        until("it is well again", || standing(&admin)["state"] == "connected");
    }
}

/// What the task's page is made from.
fn task(client: &Client, run: &str, task: &str) -> String {
    client.get(&format!("/runs/{run}/tasks/{task}")).expect(200).json().to_string()
}

#[ignore = "needs a cluster"]
#[test]
fn a_quota_without_room_is_told_and_waited_for() {
    let place = Place::new();
    let server = Server::start_in(TestApp::new());
    let admin = server.as_(Who::Administrator);
    add(&admin, &place.namespace);
    let metadata = json!({"name": "none", "namespace": place.namespace});
    let quota = Object::of(json!({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata,
        "spec": {"hard": {"count/jobs.batch": "0"}},
    }));
    place.runtime.block_on(place.kubectl.create(&quota));
    let run = start(&admin, 1, None);
    until("the quota is named", || task(&admin, &run, "simulated").contains("exceeded quota: none"));
    assert_eq!(standing(&admin)["state"], "connected", "a refusal is an answer");
    place.runtime.block_on(place.kubectl.delete(&quota));
    assert_eq!(ended(&admin, &run)["state"], "succeeded");
}

#[ignore = "needs a cluster"]
#[test]
fn a_worker_that_is_evicted_did_not_fail_by_itself() {
    let place = Place::new();
    let server = Server::start_in(TestApp::new());
    let admin = server.as_(Who::Administrator);
    add(&admin, &place.namespace);
    let document = json!({
        "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "evicted", "cluster": "simulated",
        "tasks": [{
            "name": "long", "template": "command", "arguments": {"command": ["true"]},
            "resources": {"cpu": "100m", "memory": "64Mi"},
        }],
    });
    let started = admin.post("/projects/default/runs", &json!({"document": document.to_string()}));
    let started = started.expect(201).json();
    let run = started["run"]["id"].as_str().unwrap();
    until("it runs", || {
        admin.get(&format!("/runs/{run}/tasks/long")).expect(200).json()["state"] == "running"
    });
    let pods: Api<Pod> = Api::namespaced(place.kubectl.0.clone(), &place.namespace);
    place.runtime.block_on(async {
        let found = pods.list(&ListParams::default()).await.unwrap();
        let name = found.items[0].metadata.name.clone().unwrap();
        pods.evict(&name, &EvictParams::default()).await.unwrap();
    });
    ended(&admin, run);
    let failure = admin.get(&format!("/runs/{run}/tasks/long")).expect(200).json()["failure"].clone();
    assert_eq!(failure["kind"], "preempted", "{failure:#}");
    assert!(failure["message"].as_str().unwrap().contains("evicted"), "{failure:#}");
}
