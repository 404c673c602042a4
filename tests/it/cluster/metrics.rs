//! A mock of the cluster's metrics API: it serves the kind as metrics-server does. A test sets the usage of
//! pods, or mirrors the real usage of programs on the real node. Every server on the cluster finds it, so
//! tests that use it run alone (`.config/nextest.toml`).

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use cubeloom_domain::Bytes;
use cubeloom_domain::clock::Clock;
use cubeloom_testkit::clock::SystemClock;
use cubeloom_testkit::conformance::PATIENCE;
use cubeloom_web::time::Time;
use kube::ResourceExt;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, Patch, PatchParams};
use kube::core::GroupVersionKind;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::time::{sleep, timeout};

use super::kubectl::{Kubectl, Object};

const GROUP: &str = "metrics.k8s.io";
const VERSION: &str = "metrics.k8s.io/v1beta1";
/// Poll interval of API discovery.
const LOOK: Duration = Duration::from_millis(100);
/// Interval of usage updates.
const TELL: Duration = Duration::from_secs(1);

/// Serves the API until dropped.
pub struct Metrics {
    runtime: Option<Runtime>,
    kubectl: Kubectl,
}

impl Metrics {
    /// Serves the API, and waits until discovery finds it.
    pub fn new() -> Self {
        apart(|| {
            let runtime = Runtime::new().unwrap();
            let kubectl = runtime.block_on(async {
                let kubectl = Kubectl::new().await;
                kubectl.apply(&definition()).await;
                while !is_served(&kubectl).await {
                    sleep(LOOK).await;
                }
                kubectl
            });
            Self { runtime: Some(runtime), kubectl }
        })
    }

    /// Sets the current memory usage of a pod's program.
    pub fn tell(&self, pod: &DynamicObject, memory: Bytes) {
        let told = apart(|| self.runtime().block_on(tell(&self.kubectl, pod, memory)));
        assert!(told, "the cluster does not take what a pod uses");
    }

    /// Reports the real usage of programs in a namespace's pods, which run on the real node, from now on.
    pub fn follow(&self, namespace: String) {
        let kubectl = Kubectl(self.kubectl.0.clone());
        self.runtime().spawn(async move {
            let (pods, ours) = (pods(&kubectl, &namespace), ListParams::default().labels("cubeloom/run"));
            loop {
                sleep(TELL).await;
                let Ok(found) = pods.list(&ours).await else { continue };
                for pod in found {
                    if let Some(memory) = used(&pod) {
                        // The API is gone when the test has ended.
                        tell(&kubectl, &pod, memory).await;
                    }
                }
            }
        });
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().unwrap()
    }
}

impl Drop for Metrics {
    /// Removes the API, and waits until discovery no longer finds it.
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        let gone = async {
            self.kubectl.delete(&definition()).await;
            while has_group(&self.kubectl).await {
                sleep(LOOK).await;
            }
        };
        let gone = apart(|| runtime.block_on(async { timeout(PATIENCE, gone).await }));
        runtime.shutdown_background();
        assert!(gone.is_ok() || thread::panicking(), "the metrics API is still served");
    }
}

/// Runs `work` on its own thread: the test's thread may belong to a runtime, where nothing may block.
fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join().unwrap())
}

/// The CRD of pod metrics. Its group is a reserved Kubernetes group, so the API server requires an approval
/// annotation.
fn definition() -> Object {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    Object::of(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {
            "name": format!("pods.{GROUP}"),
            "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"},
        },
        "spec": {
            "group": GROUP, "scope": "Namespaced", "names": {"plural": "pods", "kind": "PodMetrics"},
            "versions": [
                {"name": "v1beta1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}},
            ],
        },
    }))
}

async fn has_group(kubectl: &Kubectl) -> bool {
    let found = kubectl.0.list_api_groups().await;
    found.is_ok_and(|found| found.groups.iter().any(|group| group.name == GROUP))
}

async fn is_served(kubectl: &Kubectl) -> bool {
    let found = kubectl.0.list_api_group_resources(VERSION).await;
    let has_pods = found.is_ok_and(|found| found.resources.iter().any(|one| one.name == "pods"));
    has_pods && has_group(kubectl).await
}

pub fn pods(kubectl: &Kubectl, namespace: &str) -> Api<DynamicObject> {
    let any = json!({"name": "any", "namespace": namespace});
    kubectl.api(&Object::of(json!({"apiVersion": "v1", "kind": "Pod", "metadata": any})))
}

/// Writes pod metrics with the pod's name and labels, like metrics-server. Returns whether the write
/// succeeded.
async fn tell(kubectl: &Kubectl, pod: &DynamicObject, memory: Bytes) -> bool {
    let (name, namespace) = (pod.name_any(), pod.namespace().unwrap());
    let usage = json!({"cpu": "10m", "memory": format!("{}Ki", memory.0 >> 10)});
    let told = json!({
        "apiVersion": VERSION, "kind": "PodMetrics",
        "metadata": {"name": name, "namespace": namespace, "labels": pod.metadata.labels},
        "timestamp": Time(SystemClock.now()), "window": "15s",
        "containers": [{"name": pod.data["spec"]["containers"][0]["name"], "usage": usage}],
    });
    let kind = GroupVersionKind::gvk(GROUP, "v1beta1", "PodMetrics");
    let kind = ApiResource::from_gvk_with_plural(&kind, "pods");
    let api: Api<DynamicObject> = Api::namespaced_with(kubectl.0.clone(), &namespace, &kind);
    let params = PatchParams::apply("metrics-server").force();
    api.patch(&name, &params, &Patch::Apply(&told)).await.is_ok()
}

/// The memory limit of a pod's program on the real node, from its cgroup.
pub fn limit(pod: &DynamicObject) -> Option<Bytes> {
    number(&group_of(pod)?, ["memory.max", "memory.limit_in_bytes"]).map(Bytes)
}

/// The working-set memory of a pod's program on the real node, as the kubelet computes it: without inactive
/// file cache.
fn used(pod: &DynamicObject) -> Option<Bytes> {
    let group = group_of(pod)?;
    let used = number(&group, ["memory.current", "memory.usage_in_bytes"])?;
    let stat = fs::read_to_string(group.join("memory.stat")).ok()?;
    let amount = |name: &str| stat.lines().find_map(|line| line.strip_prefix(name)?.parse::<u64>().ok());
    let dropped = amount("total_inactive_file ").or_else(|| amount("inactive_file "))?;
    Some(Bytes(used.saturating_sub(dropped)))
}

/// The number in a cgroup file, whose name differs in cgroup v1.
fn number(group: &Path, names: [&str; 2]) -> Option<u64> {
    let text = names.iter().find_map(|name| fs::read_to_string(group.join(name)).ok())?;
    text.trim().parse().ok()
}

/// The memory cgroup of a pod's program, while it runs.
fn group_of(pod: &DynamicObject) -> Option<PathBuf> {
    let id = pod.data["status"]["containerStatuses"][0]["containerID"].as_str()?;
    let id = id.strip_prefix("containerd://")?;
    // cgroup v1 has a hierarchy per controller.
    let first = Path::new("/sys/fs/cgroup/memory");
    let root = if first.join("cgroup.procs").exists() { first } else { Path::new("/sys/fs/cgroup") };
    let is_node = |folder: &PathBuf| {
        let name = folder.file_name().unwrap_or_default();
        name.to_string_lossy().starts_with("cubeloom-node-")
    };
    let mut folders: Vec<PathBuf> = below(root).into_iter().filter(is_node).collect();
    while let Some(folder) = folders.pop() {
        if folder.ends_with(id) {
            return Some(folder);
        }
        folders.extend(below(&folder));
    }
    None
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}
