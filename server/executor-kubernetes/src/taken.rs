//! Allocations on each node: pods of jobs from the board, and all other pods if the account may list and
//! watch all namespaces. Pods of a job that this board does not know count as others: the job belongs, or
//! belonged, to another server. A pod takes what the scheduler counts: its requests, whatever it uses.
//!
//! <https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers>

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cubeloom_domain::executor::{NodeFacts, Taken};
use cubeloom_domain::kubernetes::labels;
use cubeloom_domain::resources::Amount;
use cubeloom_domain::{Bytes, Cpu, Timestamp};
use futures::{StreamExt, pin_mut};
use k8s_openapi::api::core::v1::{Container, Pod, PodStatus, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, ResourceExt};
use tokio::time::interval;

use crate::board::JobName;
use crate::cluster::Cluster;
use crate::facts::ASK;
use crate::pods::{is_refused_for_good, moment};
use crate::quantity::number;
use crate::survey::{OF_OTHERS, may_all};
use crate::watch::{Tries, heard};

/// Field selector for pods that occupy resources of a node.
const FIELDS: &str = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed";

/// How long a job's pods may appear before the job does: the order of two watches is not fixed.
const UNKNOWN: Duration = Duration::from_secs(60);

/// A pod bound to a node.
struct OnNode {
    node: String,
    takes: Amount,
    /// The job in its labels.
    job: Option<JobName>,
    created: Timestamp,
}

/// All pods by uid; `None` while unknown.
#[derive(Default)]
pub struct Others(Mutex<Option<HashMap<String, OnNode>>>);

impl Others {
    fn lock(&self) -> MutexGuard<'_, Option<HashMap<String, OnNode>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies a watch event; `listed` collects the pods of a relist.
    fn hear(&self, event: Event<Pod>, listed: &mut HashMap<String, OnNode>) {
        let mut known = self.lock();
        match event {
            Event::Init => listed.clear(),
            Event::InitApply(pod) => listed.extend(on_node(&pod)),
            Event::InitDone => *known = Some(std::mem::take(listed)),
            Event::Apply(pod) => known.get_or_insert_default().extend(on_node(&pod)),
            Event::Delete(pod) => {
                _ = known.as_mut().and_then(|known| known.remove(&pod.uid().unwrap_or_default()));
            }
        }
    }

    /// Resources per node that pods outside these jobs occupy.
    fn by_node(&self, jobs: &HashSet<JobName>, now: Timestamp) -> Option<HashMap<String, Amount>> {
        let known = self.lock();
        let mut sums: HashMap<String, Amount> = HashMap::new();
        let is_others = |pod: &&OnNode| {
            let is_unknown = |job| !jobs.contains(job) && now.since(pod.created) >= UNKNOWN;
            pod.job.as_ref().is_none_or(is_unknown)
        };
        for pod in known.as_ref()?.values().filter(is_others) {
            let sum = sums.entry(pod.node.clone()).or_default();
            *sum = sum.plus(pod.takes);
        }
        Some(sums)
    }
}

fn on_node(pod: &Pod) -> Option<(String, OnNode)> {
    let node = pod.spec.as_ref()?.node_name.clone()?;
    let job = pod.labels().get(labels::JOB).map(|job| (pod.namespace().unwrap_or_default(), job.clone()));
    let created = moment(pod.metadata.creation_timestamp.as_ref());
    Some((pod.uid()?, OnNode { node, takes: requests(pod), job, created }))
}

/// Watches the pods of all namespaces for as long as the server runs. Without the right, they stay unknown.
pub async fn keep(cluster: Arc<Cluster>) {
    let mut ask = interval(ASK);
    loop {
        ask.tick().await;
        if may_all(&cluster, "", &OF_OTHERS).await {
            follow(&cluster).await;
            *cluster.others.lock() = None;
        }
    }
}

/// Watches until forbidden.
async fn follow(cluster: &Cluster) {
    let api: Api<Pod> = Api::all(cluster.client().await);
    let stream = watcher(api, watcher::Config::default().fields(FIELDS)).backoff(Tries::default());
    pin_mut!(stream);
    let mut listed = HashMap::new();
    while let Some(event) = stream.next().await {
        if is_forbidden(&event) {
            return;
        }
        if let Some(event) = heard(cluster, "pods of others", event) {
            cluster.others.hear(event, &mut listed);
        }
    }
}

fn is_forbidden(event: &Result<Event<Pod>, watcher::Error>) -> bool {
    let (Err(watcher::Error::InitialListFailed(error)) | Err(watcher::Error::WatchStartFailed(error))) =
        event
    else {
        return false;
    };
    matches!(error, kube::Error::Api(status) if status.code == 403)
}

/// Updates the allocations of each node. Returns whether they changed.
pub fn note(cluster: &Cluster, nodes: &mut [NodeFacts]) -> bool {
    let (mut ours, jobs) = cluster.board.by_node();
    let others = cluster.others.by_node(&jobs, cluster.clock.now());
    let mut changed = false;
    for node in nodes {
        let of_node = |others: &HashMap<String, Amount>| {
            let of = others.get(&node.name).copied().unwrap_or_default();
            // GPUs of another vendor do not count.
            let cards = u32::try_from(node.gpus.len()).unwrap_or(u32::MAX);
            Amount { gpus: of.gpus.min(cards), ..of }
        };
        let taken = Some(Taken {
            others: others.as_ref().map(of_node),
            ours: ours.remove(&node.name).unwrap_or_default(),
        });
        changed |= std::mem::replace(&mut node.taken, taken.clone()) != taken;
    }
    changed
}

/// The resources that a pod occupies on its node.
#[must_use]
pub fn requests(pod: &Pod) -> Amount {
    let Some(spec) = &pod.spec else { return Amount::default() };
    let of_running = |container: &Container| of_running(container, pod.status.as_ref());
    let containers = spec.containers.iter().map(of_running).fold(Amount::default(), Amount::plus);
    // A sidecar keeps running beside later containers; other init containers each end before the next starts.
    let (mut sidecars, mut first) = (Amount::default(), Amount::default());
    for container in spec.init_containers.iter().flatten() {
        let own = of_container(container);
        if container.restart_policy.as_deref() == Some("Always") {
            sidecars = sidecars.plus(own);
            first = larger(first, sidecars);
        } else {
            first = larger(first, sidecars.plus(own));
        }
    }
    let mut sum = larger(containers.plus(sidecars), first);
    if let Some(whole) = spec.resources.as_ref().and_then(|resources| resources.requests.as_ref()) {
        let whole = amount(whole);
        if whole.cpu > Cpu(0) {
            sum.cpu = whole.cpu;
        }
        if whole.memory > Bytes(0) {
            sum.memory = whole.memory;
        }
    }
    sum.plus(spec.overhead.as_ref().map(amount).unwrap_or_default())
}

fn of_container(container: &Container) -> Amount {
    asked(container.resources.as_ref())
}

/// What a container requests, or what it has if that is more: a resize may switch between them at any moment.
/// An infeasible request reserves nothing.
fn of_running(container: &Container, status: Option<&PodStatus>) -> Amount {
    let wants = of_container(container);
    let statuses = status.into_iter().flat_map(|status| status.container_statuses.iter().flatten());
    let told = statuses.into_iter().find(|one| one.name == container.name);
    let Some(told) = told.filter(|one| one.resources.is_some()) else { return wants };
    let allocated = told.allocated_resources.as_ref().map(amount).unwrap_or_default();
    let has = larger(asked(told.resources.as_ref()), allocated);
    if !is_refused_for_good(status) {
        return larger(wants, has);
    }
    let or_wants = |has: u64, wants: u64| if has > 0 { has } else { wants };
    Amount {
        cpu: Cpu(or_wants(has.cpu.0, wants.cpu.0)),
        memory: Bytes(or_wants(has.memory.0, wants.memory.0)),
        ..wants
    }
}

fn asked(resources: Option<&ResourceRequirements>) -> Amount {
    resources.and_then(|resources| resources.requests.as_ref()).map(amount).unwrap_or_default()
}

fn larger(one: Amount, other: Amount) -> Amount {
    Amount {
        cpu: one.cpu.max(other.cpu),
        memory: one.memory.max(other.memory),
        gpus: one.gpus.max(other.gpus),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "none is below 0")]
fn amount(of: &BTreeMap<String, Quantity>) -> Amount {
    let one = |name: &str| of.get(name).map_or(0.0, number);
    // Neither slices, nor HAMi's GPU memory and percentages.
    let whole = |name: &&String| name.ends_with("/gpu") || name.ends_with("/gpu.shared");
    Amount {
        cpu: Cpu((one("cpu") * 1000.0).ceil() as u64),
        memory: Bytes(one("memory") as u64),
        gpus: of.keys().filter(whole).map(|name| one(name) as u32).sum(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Value, json};

    use super::*;
    use crate::access::Access;
    use crate::pods::PodView;
    use crate::roots::RootView;
    use crate::testing::{Still, config};

    fn pod(name: &str, node: &str, cpu: &str, labels: Value) -> Pod {
        serde_json::from_value(json!({
            "metadata": {"name": name, "namespace": "team", "uid": name, "labels": labels},
            "spec": {
                "nodeName": node,
                "containers": [{"name": "main", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}],
            },
            "status": {"phase": "Running"},
        }))
        .unwrap()
    }

    #[test]
    fn a_pod_takes_what_the_scheduler_counts() {
        let of = |cpu: &str, more: Value| {
            let mut one = json!({"name": "c", "resources": {"requests": {"cpu": cpu}}});
            one.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            one
        };
        let requests = |spec: Value| requests(&serde_json::from_value(json!({"spec": spec})).unwrap());
        let always = || json!({"restartPolicy": "Always"});
        let cpu = |spec: Value| requests(spec).cpu.0;
        assert_eq!(cpu(json!({"containers": [of("1", json!({})), of("500m", json!({}))]})), 1500);
        let first = json!([of("1", json!({})), of("2", json!({}))]);
        assert_eq!(cpu(json!({"containers": [of("1", json!({}))], "initContainers": first})), 2000);
        let beside = json!([of("1", always()), of("2", json!({}))]);
        assert_eq!(cpu(json!({"containers": [of("1", json!({}))], "initContainers": beside})), 3000);
        let whole = json!({"containers": [of("1", json!({}))], "overhead": {"cpu": "250m"},
            "resources": {"requests": {"cpu": "4"}}});
        assert_eq!(cpu(whole), 4250);
        let asked = json!({"nvidia.com/gpu": "2", "nvidia.com/mig-1g.10gb": "3", "memory": "2Gi",
            "nvidia.com/gpumem": "8000", "nvidia.com/gpucores": "30"});
        let cards = requests(json!({"containers": [{"name": "c", "resources": {"requests": asked}}]}));
        assert_eq!((cards.gpus, cards.memory), (2, Bytes(2 << 30)));
    }

    #[test]
    fn it_is_noted_who_is_on_a_node() {
        let config = config(Path::new("/nowhere"), Access::InCluster);
        let cluster = Cluster::new(config, Default::default(), Arc::new(Still));
        let node = |name: &str| NodeFacts { name: name.into(), ..NodeFacts::default() };
        let mut nodes = vec![node("a"), node("b")];
        assert!(note(&cluster, &mut nodes));
        assert_eq!(nodes[0].taken, Some(Taken::default()), "nobody knows the pods of others");

        let worker = pod("cl-x-0", "b", "3", json!({labels::JOB: "cl-x", labels::ROLE: "worker"}));
        cluster.board.pod("team", PodView::read(&worker).unwrap());
        let key = format!("{}.train.0.1", "0".repeat(26));
        let root = serde_json::from_value(json!({
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": "cl-x", "labels": {labels::JOB: "cl-x"}, "annotations": {labels::KEY: key}},
        }));
        let kind = Arc::new(crate::objects::resource("batch/v1", "Job"));
        cluster.board.root("team", RootView::read(&kind, &root.unwrap()).unwrap());
        let mut listed = HashMap::new();
        let events = [
            Event::Init,
            Event::InitApply(pod("db", "a", "2", json!({}))),
            Event::InitDone,
            Event::Apply(pod("web", "a", "1", json!({}))),
            Event::Apply(pod("far", "elsewhere", "8", json!({}))),
        ];
        events.into_iter().for_each(|event| cluster.others.hear(event, &mut listed));
        assert!(note(&cluster, &mut nodes));
        let others = |node: &NodeFacts| node.taken.as_ref().unwrap().others.unwrap().cpu.0;
        assert_eq!((others(&nodes[0]), others(&nodes[1])), (3000, 0));
        let ours = &nodes[1].taken.as_ref().unwrap().ours;
        assert_eq!(ours[&key.parse().unwrap()].cpu, Cpu(3000));
        assert!(!note(&cluster, &mut nodes), "nothing has changed");

        // The watch of all pods includes workers of jobs. Pods of a job that is not on the board count as
        // others once the grace period for the order of watches is over.
        let of_another = |name: &str, created: &str| {
            let mut pod = pod(name, "b", "5", json!({labels::JOB: "cl-y"}));
            pod.metadata.creation_timestamp = serde_json::from_value(json!(created)).unwrap();
            pod
        };
        cluster.others.hear(Event::Apply(worker.clone()), &mut listed);
        let new = of_another("new", "1969-12-31T23:59:01Z");
        cluster.others.hear(Event::Apply(new), &mut listed);
        assert!(!note(&cluster, &mut nodes), "one is counted already, nobody knows whose the other is");
        let old = of_another("old", "1969-12-31T23:59:00Z");
        cluster.others.hear(Event::Apply(old.clone()), &mut listed);
        assert!(note(&cluster, &mut nodes));
        assert_eq!(others(&nodes[1]), 5000);
        [old, worker].into_iter().for_each(|gone| cluster.others.hear(Event::Delete(gone), &mut listed));

        cluster.others.hear(Event::Delete(pod("db", "a", "2", json!({}))), &mut listed);
        cluster.board.only_pods("team", &Default::default());
        assert!(note(&cluster, &mut nodes));
        assert_eq!(others(&nodes[0]), 1000);
        assert!(nodes[1].taken.as_ref().unwrap().ours.is_empty());
    }
}
