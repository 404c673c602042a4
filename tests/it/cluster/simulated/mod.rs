//! The product on simulated nodes, where pods of a task named `simulated` succeed after a second or two.
//! These tests need no real node.

mod cards;
mod elastic;
pub mod frameworks;
mod growth;
mod killed;
mod nodes;
mod queues;
mod suspended;
mod told;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cubeloom_testkit::conformance::random;
use futures::StreamExt;
use kube::ResourceExt;
use kube::api::ListParams;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, watcher};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::harness::told;
use super::kubectl::{Kubectl, Object};
use super::product::until;
use crate::api::support::Client;

/// The uids of pods, by the key of their attempt.
type Uids = BTreeMap<String, BTreeSet<String>>;

/// A namespace with what a project needs; its jobs are simulated.
pub struct Place {
    pub runtime: Runtime,
    pub kubectl: Kubectl,
    pub namespace: String,
    /// All pods ever seen.
    seen: Arc<Mutex<Uids>>,
}

impl Place {
    /// With a bound claim: pods are not scheduled before.
    pub fn new() -> Self {
        let runtime = Runtime::new().unwrap();
        let namespace = format!("simulated-{:x}", random());
        let kubectl = runtime.block_on(async {
            let kubectl = Kubectl::new().await;
            for object in belongings(&namespace) {
                kubectl.create(&Object::of(object)).await;
            }
            let [.., claim] = belongings(&namespace).map(Object::of);
            while kubectl.phase(&claim).await.as_deref() != Some("Bound") {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            kubectl
        });
        let place = Self { runtime, kubectl, namespace, seen: Arc::default() };
        place.watch();
        place
    }

    /// Whether the cluster has no Cubeloom pods. A test's pods are deleted with its namespace, some time
    /// after its end, and keep their GPUs until then.
    pub fn is_alone(&self) -> bool {
        let pods = Object::of(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "any"}}));
        let ours = ListParams::default().labels("cubeloom/run");
        self.runtime.block_on(self.kubectl.api(&pods).list(&ours)).unwrap().items.is_empty()
    }

    /// Records every new pod.
    fn watch(&self) {
        let name = json!({"name": "any", "namespace": self.namespace});
        let of = Object::of(json!({"apiVersion": "v1", "kind": "Pod", "metadata": name}));
        let (api, seen) = (self.kubectl.api(&of), Arc::clone(&self.seen));
        self.runtime.spawn(async move {
            let mut stream = watcher(api, watcher::Config::default()).applied_objects().boxed();
            while let Some(event) = stream.next().await {
                let Ok(object) = event else { continue };
                let key = object.annotations().get("cubeloom/key").cloned().unwrap_or_default();
                seen.lock().unwrap().entry(key).or_default().extend(object.uid());
            }
        });
    }

    /// The keys of attempts, and the number of pods of each.
    fn counts(&self) -> BTreeMap<String, usize> {
        self.seen.lock().unwrap().iter().map(|(key, uids)| (key.clone(), uids.len())).collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let metadata = json!({"name": self.namespace});
        let namespace = Object::of(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}));
        self.runtime.block_on(self.kubectl.delete(&namespace));
    }
}

fn belongings(namespace: &str) -> [Value; 4] {
    let form = json!({"accessModes": ["ReadWriteMany"], "storageClassName": ""});
    let with = |more: Value| {
        let mut spec = form.clone();
        spec.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        spec
    };
    let volume = json!({"capacity": {"storage": "1Gi"}, "hostPath": {"path": "/nowhere"}});
    let claim = json!({"resources": {"requests": {"storage": "1Gi"}}, "volumeName": namespace});
    [
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}),
        json!({
            "apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": {"name": "cubeloom-worker", "namespace": namespace},
        }),
        json!({
            "apiVersion": "v1", "kind": "PersistentVolume",
            "metadata": {"name": namespace}, "spec": with(volume),
        }),
        json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"name": "workspace", "namespace": namespace}, "spec": with(claim),
        }),
    ]
}

/// Many one-pod tasks with the given concurrency, or all at once.
fn document(tasks: usize, parallelism: Option<usize>) -> Value {
    let mut elements = json!({"list": (0..tasks).collect::<Vec<usize>>()});
    elements.as_object_mut().unwrap().extend(parallelism.map(|most| ("parallelism".into(), most.into())));
    json!({
        "apiVersion": "cubeloom/v1",
        "kind": "Pipeline",
        "name": "many",
        "cluster": "simulated",
        "tasks": [{
            "name": "simulated",
            "template": "command",
            "arguments": {"command": ["true"]},
            "for_each": elements,
            "resources": {"cpu": "10m", "memory": "16Mi"},
        }],
    })
}

pub fn add(client: &Client, namespace: &str) {
    add_by(client, namespace, &std::fs::read_to_string(told("KUBECONFIG")).unwrap());
}

/// Adds the cluster with the given kubeconfig.
pub fn add_by(client: &Client, namespace: &str, kubeconfig: &str) {
    let cluster = json!({
        "name": "simulated",
        "access": "kubeconfig",
        "kubeconfig": kubeconfig,
        "namespace": namespace,
        "workspace_claim": "workspace",
        "operators_gang": true,
    });
    client.post("/clusters", &cluster).expect(201);
    until("the cluster's nodes are known", || {
        let seen = client.get("/clusters/simulated").expect(200).json();
        !seen["nodes"].as_array().unwrap().is_empty()
    });
}

/// Starts a run of this many tasks. Returns its id.
pub fn start(client: &Client, tasks: usize, parallelism: Option<usize>) -> String {
    let wanted = json!({"document": document(tasks, parallelism).to_string()});
    let started = client.post("/projects/default/runs", &wanted).expect(201).json();
    started["run"]["id"].as_str().unwrap().to_owned()
}
