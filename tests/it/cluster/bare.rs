//! Elastic jobs on a cluster without Volcano and operators: a change of the Job adds and removes single
//! workers. Runs on simulated nodes, in a cluster started by `tests/cluster/up --bare`.

use std::collections::{BTreeMap, BTreeSet};

use kube::api::ListParams;
use serde_json::{Value, json};

use super::kubectl::Object;
use super::product::{until, uploaded};
use super::simulated::{Place, add};
use crate::api::support::{Client, Server, Who};
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

/// Twelve GPUs; an elastic job uses what two gangs leave.
struct Shared {
    place: Place,
    server: Server,
    code: String,
    elastic: String,
}

impl Shared {
    fn new() -> Self {
        let place = Place::new();
        until("no pod of another test is left", || place.is_alone());
        let mut app = TestApp::new();
        app.set("CUBELOOM_SHARING_COOL_DOWN", "2s");
        let server = Server::start_in(app);
        let admin = server.as_(Who::Administrator);
        add(&admin, &place.namespace);
        let code = uploaded(&admin);
        for name in ["one", "two"] {
            start(&admin, &code, name, json!({"workers": 4}));
        }
        let elastic = start(&admin, &code, "stretches", json!({"elastic": {"min": 2, "max": 4}}));
        let shared = Self { place, server, code, elastic };
        until("it has what is left", || shared.running().len() == 4);
        shared
    }

    fn admin(&self) -> Client {
        self.server.as_(Who::Administrator)
    }

    /// Starts a job that needs two GPUs. Its name makes the simulated pods end by themselves.
    fn needs(&self) -> String {
        start(&self.admin(), &self.code, "simulated", json!({"workers": 2}))
    }

    fn state(&self, run: &str) -> Value {
        self.admin().get(&format!("/runs/{run}")).expect(200).json()["state"].clone()
    }

    fn listed(&self, version: &str, kind: &str) -> Vec<Value> {
        let named = json!({"name": "any", "namespace": self.place.namespace});
        let api = self
            .place
            .kubectl
            .api(&Object::of(json!({"apiVersion": version, "kind": kind, "metadata": named})));
        let chosen = ListParams::default().labels(&format!("cubeloom/run={}", self.elastic));
        let found = self.place.runtime.block_on(api.list(&chosen)).unwrap();
        found.items.into_iter().map(|object| serde_json::to_value(object).unwrap()).collect()
    }

    /// The running workers of the elastic job by index, with their pods' uids, without terminating ones.
    fn running(&self) -> BTreeMap<String, String> {
        let runs = |pod: &Value| {
            pod["status"]["phase"] == "Running" && pod["metadata"]["deletionTimestamp"].is_null()
        };
        let index = |pod: &Value| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let index = &pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"];
            (text(index), text(&pod["metadata"]["uid"]))
        };
        self.listed("v1", "Pod").iter().filter(|pod| runs(pod)).map(index).collect()
    }

    fn indexes(&self) -> BTreeSet<String> {
        self.running().into_keys().collect()
    }

    /// The elastic job's manifest.
    fn job(&self) -> Value {
        let mut jobs = self.listed("batch/v1", "Job");
        assert_eq!(jobs.len(), 1, "it is one attempt throughout");
        jobs.remove(0)
    }

    /// The attempt of the elastic task.
    fn attempt(&self) -> Value {
        let path = format!("/runs/{}/tasks/stretches/instances/0/attempts", self.elastic);
        let mut all = self.admin().get(&path).expect(200).json();
        assert_eq!(all["items"].as_array().unwrap().len(), 1, "{all:#}");
        all["items"][0].take()
    }

    /// The recorded history of the elastic job's worker counts, with a GPU each.
    fn had(&self) -> Vec<u64> {
        let attempt = self.attempt();
        let earlier = attempt["earlier"].as_array().cloned().unwrap_or_default();
        let workers = earlier.iter().map(|was| was["workers"].as_u64().unwrap());
        workers.chain([attempt["gpus"].as_u64().unwrap()]).collect()
    }

    /// Patches the elastic job's manifest.
    fn change(&self, change: &Value) {
        let name = json!({"name": self.job()["metadata"]["name"], "namespace": self.place.namespace});
        let object = Object::of(json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": name}));
        self.place.runtime.block_on(self.place.kubectl.merge(&object, change));
    }
}

fn set(indexes: &[&str]) -> BTreeSet<String> {
    indexes.iter().map(|index| (*index).to_owned()).collect()
}

#[ignore = "needs a cluster without Volcano"]
#[test]
fn an_elastic_job_gives_single_workers_to_one_that_needs_room_and_takes_them_again() {
    let shared = Shared::new();
    let first = shared.running()["0"].clone();
    for _ in 0..2 {
        let needs = shared.needs();
        until("the other has its room, and ends", || shared.state(&needs) == "succeeded");
        until("it has them again", || shared.indexes() == set(&["0", "1", "2", "3"]));
        assert_eq!(shared.running()["0"], first, "the first worker stays");
    }
    assert_eq!(shared.had(), [4, 2, 4, 2, 4], "what it had is counted");
}

/// A server is killed after it has scaled down the Job, and before it has recorded that.
#[ignore = "needs a cluster without Volcano"]
#[test]
fn the_next_server_writes_down_what_a_killed_one_has_taken() {
    let shared = Shared::new();
    let kept = shared.running();
    shared.server.kill();
    let smaller = json!({"completions": 2, "parallelism": 2, "maxFailedIndexes": 0});
    shared.change(&json!({"metadata": {"annotations": {"cubeloom/keeps": "2"}}, "spec": smaller}));
    until("they are gone", || shared.indexes() == set(&["0", "1"]));
    shared.server.run();
    until("it is written down", || shared.had().starts_with(&[4, 2]));
    until("it has them again", || shared.indexes() == set(&["0", "1", "2", "3"]));
    for index in ["0", "1"] {
        assert_eq!(shared.running()[index], kept[index], "those that stay went on");
    }
    // Without a scale-down request in the Job, the recorded size wins.
    let before = shared.had();
    shared.server.kill();
    shared.change(&json!({"spec": smaller}));
    until("they are gone", || shared.indexes() == set(&["0", "1"]));
    shared.server.run();
    until("it has them again", || shared.indexes() == set(&["0", "1", "2", "3"]));
    assert_eq!(shared.had(), before);
}

#[ignore = "needs a cluster without Volcano"]
#[test]
fn a_lost_worker_fails_no_job_and_another_takes_its_place() {
    let shared = Shared::new();
    let pod = shared
        .listed("v1", "Pod")
        .into_iter()
        .find(|pod| pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] == "1");
    let name = json!({"name": pod.unwrap()["metadata"]["name"], "namespace": shared.place.namespace});
    let object = Object::of(json!({"apiVersion": "v1", "kind": "Pod", "metadata": name}));
    shared.place.runtime.block_on(shared.place.kubectl.delete(&object));
    until("it is lost", || shared.job()["status"]["failedIndexes"] == "1");
    let needs = shared.needs();
    until("the other has its room, and ends", || shared.state(&needs) == "succeeded");
    assert_eq!(shared.state(&shared.elastic), "running");
    until("two that must stay do, without the lost one", || shared.indexes().is_superset(&set(&["0", "2"])));
    let id = shared.elastic.clone();
    shared.admin().post(&format!("/runs/{id}/cancel"), &json!({})).expect(202);
    until("it is cancelled", || shared.state(&id) == "cancelled");
}
