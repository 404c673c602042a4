//! The cluster's metrics API, played: its kind is served as metrics-server serves it, and a test says what pods use, or has it told
//! what programs on the real node do use. Every server on the cluster finds it there, so who has it runs alone
//! (`.config/nextest.toml`).

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
/// How often it is looked whether it is served, or no more.
const LOOK: Duration = Duration::from_millis(100);
/// How often it is told what programs use.
const TELL: Duration = Duration::from_secs(1);

/// Served until it is dropped.
pub struct Metrics {
    runtime: Option<Runtime>,
    kubectl: Kubectl,
}

impl Metrics {
    /// Served, and found by whoever asks what is.
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

    /// Says how much memory a pod's program uses now.
    pub fn tell(&self, pod: &DynamicObject, memory: Bytes) {
        let told = apart(|| self.runtime().block_on(tell(&self.kubectl, pod, memory)));
        assert!(told, "the cluster does not take what a pod uses");
    }

    /// Says from now on what the programs of pods of a namespace use, which are on the real node.
    pub fn follow(&self, namespace: String) {
        let kubectl = Kubectl(self.kubectl.0.clone());
        self.runtime().spawn(async move {
            let (pods, ours) = (pods(&kubectl, &namespace), ListParams::default().labels("cubeloom/run"));
            loop {
                sleep(TELL).await;
                let Ok(found) = pods.list(&ours).await else { continue };
                for pod in found {
                    if let Some(memory) = used(&pod) {
                        // It is served no more when the test has ended.
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
    /// Nobody finds it any more.
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

/// Does it on a thread of its own: a test's own may be a runtime's, where nothing may wait.
fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join().unwrap())
}

/// The kind of what is told of pods. Its group is one of Kubernetes' own: the API server wants a word of who approved of it.
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

/// The pods of a namespace.
pub fn pods(kubectl: &Kubectl, namespace: &str) -> Api<DynamicObject> {
    let any = json!({"name": "any", "namespace": namespace});
    kubectl.api(&Object::of(json!({"apiVersion": "v1", "kind": "Pod", "metadata": any})))
}

/// Like metrics-server, which gives what it tells of a pod the pod's own name and labels; whether it was taken.
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

/// The memory limit of a pod's program on the real node, as the kernel has it.
pub fn limit(pod: &DynamicObject) -> Option<Bytes> {
    number(&group_of(pod)?, ["memory.max", "memory.limit_in_bytes"]).map(Bytes)
}

/// The memory that a pod's program on the real node uses, as a kubelet counts it: without what of files the kernel would drop first.
fn used(pod: &DynamicObject) -> Option<Bytes> {
    let group = group_of(pod)?;
    let used = number(&group, ["memory.current", "memory.usage_in_bytes"])?;
    let stat = fs::read_to_string(group.join("memory.stat")).ok()?;
    let amount = |name: &str| stat.lines().find_map(|line| line.strip_prefix(name)?.parse::<u64>().ok());
    let dropped = amount("total_inactive_file ").or_else(|| amount("inactive_file "))?;
    Some(Bytes(used.saturating_sub(dropped)))
}

/// The number in a file of a control group, which has another name in version 1.
fn number(group: &Path, names: [&str; 2]) -> Option<u64> {
    let text = names.iter().find_map(|name| fs::read_to_string(group.join(name)).ok())?;
    text.trim().parse().ok()
}

/// The control group of a pod's program, as long as it runs, where memory is counted.
fn group_of(pod: &DynamicObject) -> Option<PathBuf> {
    let id = pod.data["status"]["containerStatuses"][0]["containerID"].as_str()?;
    let id = id.strip_prefix("containerd://")?;
    // Version 1 has a tree for each controller.
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
