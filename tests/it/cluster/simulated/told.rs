//! Messages about an unhealthy cluster, and about jobs that the cluster refuses or removes.

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod, ResourceQuota};
use k8s_openapi::jiff;
use kube::Api;
use kube::api::{DeleteParams, EvictParams, ListParams, Patch, PatchParams};
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
    for (weather, state, words) in [
        (Weather::Away, "away", "Unreachable"),
        (Weather::Full, "away", "TooManyRequests"),
        (Weather::Strangers, "refused", "Credentials refused"),
    ] {
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
    assert!(has_problem(&admin, "requests of the last ten minutes"), "what was is told for a while");
    // Simulated nodes terminate deleted pods. Only a foreign finalizer delays the deletion.
    let held = Object::of(json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "held", "namespace": place.namespace, "finalizers": ["example.org/held"]},
    }));
    let namespaces: Api<Namespace> = Api::all(place.kubectl.0.clone());
    place.runtime.block_on(place.kubectl.create(&held));
    place.runtime.block_on(namespaces.delete(&place.namespace, &DeleteParams::default())).unwrap();
    until("the check says that the namespace goes", || {
        has_problem(&admin, "is being deleted: it accepts no jobs")
    });
    let let_go = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    let maps: Api<ConfigMap> = Api::namespaced(place.kubectl.0.clone(), &place.namespace);
    place.runtime.block_on(maps.patch("held", &PatchParams::default(), &let_go)).unwrap();
}

/// Whether the cluster's check reports this problem.
fn has_problem(client: &Client, words: &str) -> bool {
    let check = client.get("/clusters/simulated/check").expect(200).json();
    check["problems"].as_array().unwrap().iter().any(|problem| problem.as_str().unwrap().contains(words))
}

/// The data of the task's page.
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
        "spec": {"hard": {"pods": "0"}},
    }));
    place.runtime.block_on(place.kubectl.create(&quota));
    let quotas: Api<ResourceQuota> = Api::namespaced(place.kubectl.0.clone(), &place.namespace);
    until("the quota holds", || {
        let quota = place.runtime.block_on(quotas.get("none")).unwrap();
        quota.status.is_some_and(|status| status.used.is_some())
    });
    let run = start(&admin, 1, None);
    until("the quota is named", || task(&admin, &run, "simulated").contains("exceeded quota: none"));
    assert_eq!(standing(&admin)["state"], "connected", "a refusal is an answer");
    place.runtime.block_on(place.kubectl.delete(&quota));
    assert_eq!(ended(&admin, &run)["state"], "succeeded");
}

/// Starts a task whose workers run until they are disturbed. Returns the run and a worker's pod.
fn long(place: &Place, client: &Client, workers: u32) -> (String, String) {
    let (template, arguments) = match workers {
        1 => ("command", json!({"command": ["true"]})),
        _ => ("indexed", json!({"command": ["true"], "workers": workers})),
    };
    let document = json!({
        "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "disturbed", "cluster": "simulated",
        "tasks": [{
            "name": "long", "template": template, "arguments": arguments,
            "resources": {"cpu": "100m", "memory": "64Mi"},
        }],
    });
    let started = client.post("/projects/default/runs", &json!({"document": document.to_string()}));
    let run = started.expect(201).json()["run"]["id"].as_str().unwrap().to_owned();
    until("it runs", || {
        client.get(&format!("/runs/{run}/tasks/long")).expect(200).json()["state"] == "running"
    });
    let of_run = ListParams::default().labels(&format!("cubeloom/run={run}"));
    let mut running = None;
    until("its pod runs", || {
        let found = place.runtime.block_on(pods(place).list(&of_run)).unwrap().items.into_iter();
        running = { found }
            .find(|pod| pod.status.as_ref().is_some_and(|status| status.phase.as_deref() == Some("Running")));
        running.is_some()
    });
    (run, running.unwrap().metadata.name.unwrap())
}

fn pods(place: &Place) -> Api<Pod> {
    Api::namespaced(place.kubectl.0.clone(), &place.namespace)
}

/// The failure of its first attempt. A failure caused by the cluster is retried at once, which is cancelled
/// here.
fn failure(client: &Client, run: &str) -> (String, String) {
    let attempts = format!("/runs/{run}/tasks/long/instances/0/attempts");
    let first = || client.get(&attempts).expect(200).json()["items"][0].clone();
    until("it fails", || first()["state"] == "ended");
    client.post(&format!("/runs/{run}/cancel"), &json!({})).expect(202);
    ended(client, run);
    let failure = first()["failure"].clone();
    let text = |name: &str| failure[name].as_str().unwrap().to_owned();
    (text("kind"), text("message"))
}

#[ignore = "needs a cluster"]
#[test]
fn a_worker_that_is_evicted_did_not_fail_by_itself() {
    let place = Place::new();
    let server = Server::start_in(TestApp::new());
    let admin = server.as_(Who::Administrator);
    add(&admin, &place.namespace);
    let (run, pod) = long(&place, &admin, 1);
    place.runtime.block_on(pods(&place).evict(&pod, &EvictParams::default())).unwrap();
    let (kind, message) = failure(&admin, &run);
    assert_eq!(kind, "preempted", "{message}");
    assert!(message.starts_with("worker-0 was evicted"), "{message}");
}

/// A finalizer that keeps a deleted pod, as on an unreachable node.
const HELD: &str = "cubeloom.test/held";

/// Replaces the finalizers of a pod.
fn hold(place: &Place, pod: &str, finalizers: &Value) {
    let (params, patch) =
        (PatchParams::default(), Patch::Merge(json!({"metadata": {"finalizers": finalizers}})));
    place.runtime.block_on(pods(place).patch(pod, &params, &patch)).unwrap();
}

#[ignore = "needs a cluster"]
#[test]
fn a_worker_whose_node_does_not_answer_is_lost_in_the_end() {
    let place = Place::new();
    let server = Server::start_in(TestApp::new());
    let admin = server.as_(Who::Administrator);
    add(&admin, &place.namespace);
    // The condition that the control plane sets just before it deletes a pod. It reverts older ones.
    let now = jiff::Timestamp::now().to_string();
    let tainted = json!([{
        "type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
        "message": "Taint manager: deleting due to NoExecute taint", "lastTransitionTime": now,
    }]);
    let soon = DeleteParams { grace_period_seconds: Some(1), ..DeleteParams::default() };
    let ways =
        [(Some(tainted), "its node is unreachable"), (None, "another user deleted it from the cluster")];
    let begun = ways.map(|(conditions, words)| {
        let (run, pod) = long(&place, &admin, 1);
        hold(&place, &pod, &json!([HELD]));
        if let Some(conditions) = conditions {
            let status = Patch::Strategic(json!({"status": {"conditions": conditions}}));
            let (params, api) = (PatchParams::default(), pods(&place));
            place.runtime.block_on(api.patch_status(&pod, &params, &status)).unwrap();
        }
        place.runtime.block_on(pods(&place).delete(&pod, &soon)).unwrap();
        (run, pod, words)
    });
    for (run, pod, words) in begun {
        let (kind, message) = failure(&admin, &run);
        hold(&place, &pod, &Value::Null);
        assert_eq!(kind, "lost", "{message}");
        assert!(message.contains(words), "{message}");
    }
}

#[ignore = "needs a cluster"]
#[test]
fn a_cancelled_task_ends_whatever_holds_its_pods() {
    let place = Place::new();
    let server = Server::start_in(TestApp::new());
    let admin = server.as_(Who::Administrator);
    add(&admin, &place.namespace);
    // A pod that is a job itself, and one of a gang.
    let begun = [1, 2].map(|workers| {
        let (run, pod) = long(&place, &admin, workers);
        hold(&place, &pod, &json!([HELD]));
        admin.post(&format!("/runs/{run}/cancel"), &json!({})).expect(202);
        (run, pod)
    });
    for (run, pod) in begun {
        assert_eq!(ended(&admin, &run)["state"], "cancelled");
        let held = place.runtime.block_on(pods(&place).get(&pod)).unwrap();
        assert!(held.metadata.deletion_timestamp.is_some());
        hold(&place, &pod, &Value::Null);
    }
}
