//! The cluster's nodes (watched) and installed components (polled every minute). Stored on disk, so that runs
//! can be planned while the cluster is unreachable.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use cubeloom_domain::executor::{Facts, GpuFacts, NodeFacts};
use cubeloom_domain::kubernetes::{KubernetesFacts, NodeGroupFacts, OperatorFacts, QueueFacts};
use cubeloom_domain::pipeline::Toleration;
use cubeloom_domain::spares::{Member, spares};
use cubeloom_domain::{Bytes, Cpu};
use futures::{StreamExt, pin_mut, stream};
use k8s_openapi::api::core::v1::{Node, Taint};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, ResourceExt};
use tokio::time::interval;

use crate::cards::trouble;
use crate::cluster::Cluster;
use crate::config::KubernetesConfig;
use crate::quantity::number;
use crate::survey::{RESIZING, may_all};
use crate::taken;
use crate::watch::{Tries, heard};

/// How often to poll the installed components.
pub const ASK: Duration = Duration::from_secs(60);
/// Nodes change often; derived facts are computed at most this often.
const GATHER: Duration = Duration::from_secs(1);
/// How many namespaces to query at once.
const AT_ONCE: usize = 8;

/// API groups that matter, e.g. those of operators.
const GROUPS: [&str; 10] = [
    "kubeflow.org",
    "ray.io",
    "sparkoperator.k8s.io",
    "batch.volcano.sh",
    "scheduling.volcano.sh",
    "scheduling.run.ai",
    "kueue.x-k8s.io",
    "jobset.x-k8s.io",
    "frameworkcontroller.microsoft.com",
    "metrics.k8s.io",
];

/// Name of the stored state.
const FACTS: &str = "facts";

/// Prefix of NVIDIA's device plugin before a MIG profile, where slices are separate resources.
pub const MIG: &str = "nvidia.com/mig-";
/// GPU shares, as Volcano's device plugin names them.
const VGPU: &str = "volcano.sh/vgpu-number";

/// An operator entry under this name applies to all kinds without an entry.
const ALL: &str = "*";

/// The facts that the last server saved.
#[must_use]
pub fn last_known(config: &KubernetesConfig) -> Facts {
    let known: Facts = config.kept(FACTS);
    let kinds =
        known.kubernetes.as_ref().map(|facts| facts.kinds.keys().cloned().collect()).unwrap_or_default();
    let kept_off =
        known.kubernetes.map(|facts| KeptOff { spares: facts.spare_nodes, aside: facts.aside_nodes });
    facts(config, known.nodes, kept_off.unwrap_or_default(), &kinds, &Cards::default())
}

/// Updates the facts for as long as the server runs.
pub async fn keep(cluster: Arc<Cluster>) {
    let api: Api<Node> = Api::all(cluster.client().await);
    let stream = watcher(api, watcher::Config::default()).backoff(Tries::default());
    pin_mut!(stream);
    let mut nodes: BTreeMap<String, Node> = BTreeMap::new();
    let mut kinds = installed_before(&cluster);
    let (mut ask, mut gather) = (interval(ASK), interval(GATHER));
    let mut aside = cluster.aside.watch();
    let mut changed = false;
    loop {
        tokio::select! {
            event = stream.next() => changed |= see(&cluster, &mut nodes, event),
            _ = ask.tick() => if let Some(found) = installed(&cluster).await {
                changed |= std::mem::replace(&mut kinds, found) != kinds;
                ask_for_resizing(&cluster).await;
            },
            // Never closed: the cluster outlives this loop.
            _ = aside.changed() => changed = true,
            _ = gather.tick() => {
                if std::mem::take(&mut changed) {
                    publish(&cluster, &nodes, &kinds);
                } else {
                    note_taken(&cluster);
                }
            },
        }
    }
}

fn installed_before(cluster: &Cluster) -> BTreeSet<String> {
    cluster.facts().kubernetes.map(|facts| facts.kinds.into_keys().collect()).unwrap_or_default()
}

/// Applies a node event; returns whether the facts change.
fn see(
    cluster: &Cluster,
    nodes: &mut BTreeMap<String, Node>,
    event: Option<Result<Event<Node>, watcher::Error>>,
) -> bool {
    let mut put = |mut node: Node| {
        // Heartbeats every few seconds are no change.
        node.metadata.managed_fields = None;
        node.metadata.resource_version = None;
        cluster.note_trouble(&node.name_any(), trouble(&node));
        let same = |old: &Node| contribution(old) == contribution(&node);
        let changes = !nodes.get(&node.name_any()).is_some_and(same);
        nodes.insert(node.name_any(), node);
        changes
    };
    match event.and_then(|event| heard(cluster, "nodes", event)) {
        Some(Event::InitApply(node) | Event::Apply(node)) => put(node),
        Some(Event::Delete(node)) => {
            cluster.note_trouble(&node.name_any(), None);
            nodes.remove(&node.name_any()).is_some()
        }
        Some(Event::InitDone) => true,
        Some(Event::Init) | None => false,
    }
}

/// The parts of a node that the facts derive from.
fn contribution(node: &Node) -> impl PartialEq + '_ {
    let status = node.status.as_ref();
    let taints = node.spec.as_ref().and_then(|spec| spec.taints.as_ref());
    (
        is_ready(node),
        is_cordoned(node),
        status.and_then(|status| status.allocatable.as_ref()),
        &node.metadata.labels,
        taints,
    )
}

fn publish(cluster: &Cluster, nodes: &BTreeMap<String, Node>, kinds: &BTreeSet<String>) {
    let config = &cluster.config;
    // A deleted node needs no exclusion.
    let aside = cluster.aside.names().into_iter().filter(|name| nodes.contains_key(name)).collect();
    let kept_off = KeptOff { aside, ..KeptOff::default() };
    let usable = nodes.values().filter(|node| kept_off.lets(node) && is_usable(node, &config.facts));
    let kept_off = KeptOff { spares: spares_now(cluster, nodes, &kept_off), ..kept_off.clone() };
    let works = usable.clone().filter(|node| kept_off.lets(node));
    let found = works.map(|node| node_facts(node, &config.facts)).collect();
    let mut facts = facts(config, found, kept_off.clone(), kinds, &cards(usable));
    config.keep(FACTS, &facts);
    taken::note(cluster, &mut facts.nodes);
    *cluster.facts.write().unwrap_or_else(PoisonError::into_inner) = facts;
    cluster.queues.look();
}

/// Records the current allocations on the nodes. These are not stored: the next server would read stale ones.
fn note_taken(cluster: &Cluster) {
    let mut nodes = cluster.facts().nodes;
    if taken::note(cluster, &mut nodes) {
        cluster.facts.write().unwrap_or_else(PoisonError::into_inner).nodes = nodes;
    }
}

/// Healthy nodes that get no jobs.
#[derive(Clone, Default)]
struct KeptOff {
    spares: Vec<String>,
    /// Cordoned nodes.
    aside: Vec<String>,
}

impl KeptOff {
    fn lets(&self, node: &Node) -> bool {
        let name = node.name_any();
        !self.spares.contains(&name) && !self.aside.contains(&name)
    }
}

/// The standby nodes, given the previous ones and the state of the others.
fn spares_now(cluster: &Cluster, nodes: &BTreeMap<String, Node>, kept_off: &KeptOff) -> Vec<String> {
    let (config, before) = (&cluster.config.facts, cluster.facts());
    let used = before.nodes.iter().map(|node| node.name.as_str()).collect();
    let known = before.kubernetes.as_ref().map(|facts| facts.spare_nodes.as_slice()).unwrap_or_default();
    let member = |node: &Node| Member {
        name: node.name_any(),
        groups: config
            .node_groups
            .iter()
            .filter(|(_, group)| would_be_of(node, group))
            .map(|(name, _)| name.clone())
            .collect(),
        is_well: kept_off.lets(node) && is_usable(node, config),
    };
    let wanted = config.node_groups.iter().map(|(name, group)| (name.clone(), group.spares)).collect();
    spares(&wanted, &nodes.values().map(member).collect::<Vec<_>>(), known, &used)
}

/// GPU facts of the nodes.
#[derive(Default)]
struct Cards {
    products: BTreeSet<String>,
    mig: BTreeSet<String>,
    hami: bool,
    vgpu: bool,
    rdma: Option<String>,
}

fn cards<'a>(nodes: impl Iterator<Item = &'a Node>) -> Cards {
    let mut cards = Cards::default();
    for node in nodes {
        let annotations = node.metadata.annotations.iter().flatten();
        cards.hami |= annotations.into_iter().any(|(name, _)| name.starts_with("hami.io/node-"));
        cards.products.extend(node.labels().get("nvidia.com/gpu.product").cloned());
        let resources = node.status.iter().flat_map(|status| status.allocatable.iter().flatten());
        for (name, _) in resources.filter(|(_, amount)| number(amount) > 0.0) {
            cards.mig.extend(name.strip_prefix(MIG).map(Into::into));
            cards.vgpu |= name == VGPU;
            if name.starts_with("rdma/") && cards.rdma.is_none() {
                cards.rdma = Some(name.clone());
            }
        }
    }
    cards
}

/// Combines configured and detected facts.
fn facts(
    config: &KubernetesConfig,
    nodes: Vec<NodeFacts>,
    kept_off: KeptOff,
    kinds: &BTreeSet<String>,
    cards: &Cards,
) -> Facts {
    let own = &config.facts;
    let gang = |kind: &str| own.kinds.get(kind).or(own.kinds.get(ALL)).copied().unwrap_or_default();
    let has = |group: &str| kinds.iter().any(|kind| kind.contains(&format!(".{group}/")));
    let mut facts = own.clone();
    facts.kinds = kinds.iter().map(|kind| (kind.clone(), gang(kind))).collect::<BTreeMap<_, OperatorFacts>>();
    let default = || QueueFacts { queue: "default".into(), priority_class: None };
    facts.volcano = has("batch.volcano.sh").then(|| own.volcano.clone().unwrap_or_else(default));
    facts.kueue = own.kueue.clone().filter(|_| has("kueue.x-k8s.io"));
    facts.cards.products.extend(cards.products.iter().cloned());
    facts.cards.products.sort();
    facts.cards.products.dedup();
    facts.cards.mig.extend(cards.mig.iter().filter(|mig| !own.cards.mig.contains(mig)).cloned());
    facts.cards.hami |= cards.hami;
    facts.cards.vgpu |= cards.vgpu;
    facts.cards.kai = own.cards.kai.clone().filter(|_| has("scheduling.run.ai"));
    facts.rdma = own.rdma.clone().or_else(|| cards.rdma.clone());
    (facts.spare_nodes, facts.aside_nodes) = (kept_off.spares, kept_off.aside);
    Facts {
        cluster: config.name.clone(),
        kind: "kubernetes".into(),
        nodes,
        node_groups: own.node_groups.keys().cloned().collect(),
        kubernetes: Some(facts),
        ..Facts::default()
    }
}

/// The kinds of the relevant groups that the cluster serves; `None` if it is unreachable.
async fn installed(cluster: &Cluster) -> Option<BTreeSet<String>> {
    let client = cluster.client().await;
    let groups = cluster.ask("listing installed APIs", client.list_api_groups()).await.ok()?;
    let mut kinds = BTreeSet::new();
    for group in groups.groups.iter().filter(|group| GROUPS.contains(&group.name.as_str())) {
        for version in &group.versions {
            let resources = client.list_api_group_resources(&version.group_version);
            let Ok(resources) = cluster.ask("listing installed APIs", resources).await else { continue };
            let whole = resources.resources.iter().filter(|resource| !resource.name.contains('/'));
            kinds.extend(
                whole.map(|resource| format!("{}.{}/{}", resource.name, group.name, version.version)),
            );
        }
    }
    Some(kinds)
}

/// Finds the namespaces in which the server may resize running pods: the API server must support it
/// (Kubernetes 1.33) and RBAC must allow it. Checks the namespaces that have jobs, and the one from the
/// settings.
async fn ask_for_resizing(cluster: &Cluster) {
    let client = cluster.client().await;
    let Ok(core) = cluster.ask("listing installed APIs", client.list_core_api_resources("v1")).await else {
        return;
    };
    if !core.resources.iter().any(|resource| resource.name == "pods/resize") {
        return cluster.resizes.set(BTreeMap::new());
    }
    let mut namespaces = cluster.board.namespaces();
    namespaces.extend(cluster.resizes.wanted());
    namespaces.insert(cluster.config.facts.of_project("default").namespace);
    let ask = |namespace: String| async move {
        let may = may_all(cluster, &namespace, &RESIZING).await;
        (namespace, may)
    };
    cluster.resizes.set(stream::iter(namespaces).map(ask).buffer_unordered(AT_ONCE).collect().await);
}

fn is_ready(node: &Node) -> bool {
    let conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.into_iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

fn is_cordoned(node: &Node) -> bool {
    node.spec.as_ref().is_some_and(|spec| spec.unschedulable == Some(true))
}

/// Whether jobs may run on the node: it is ready, not cordoned, and every taint is tolerated by some node
/// group.
fn is_usable(node: &Node, facts: &KubernetesFacts) -> bool {
    let every: Vec<&Toleration> = facts.node_groups.values().flat_map(|group| &group.tolerations).collect();
    is_ready(node) && !is_cordoned(node) && lets_in(node, &every)
}

/// Whether these tolerations admit jobs to a node; ignores its other conditions.
fn lets_in(node: &Node, tolerations: &[&Toleration]) -> bool {
    tolerates(node, tolerations, |_| true)
}

/// Whether a node would belong to a group if it were healthy. Ignores the taints that Kubernetes sets itself
/// on unreachable, pressured or cordoned nodes.
fn would_be_of(node: &Node, group: &NodeGroupFacts) -> bool {
    let lasts = |taint: &Taint| !taint.key.starts_with("node.kubernetes.io/");
    has_labels_of(node, group) && tolerates(node, &group.tolerations.iter().collect::<Vec<_>>(), lasts)
}

/// Whether the tolerations cover all taints for which `counts` is true.
fn tolerates(node: &Node, tolerations: &[&Toleration], counts: impl Fn(&Taint) -> bool) -> bool {
    let tolerated = |taint: &Taint| {
        tolerations.iter().any(|toleration| {
            toleration.key == taint.key
                && (toleration.value.is_none() || toleration.value == taint.value)
                && toleration.effect.as_ref().is_none_or(|effect| *effect == taint.effect)
        })
    };
    let taints = node.spec.iter().flat_map(|spec| spec.taints.iter().flatten());
    taints.filter(|taint| taint.effect != "PreferNoSchedule" && counts(taint)).all(tolerated)
}

/// Whether a node belongs to a group: it has the group's labels, and its taints admit the group's jobs.
fn is_of(node: &Node, group: &NodeGroupFacts) -> bool {
    has_labels_of(node, group) && lets_in(node, &group.tolerations.iter().collect::<Vec<_>>())
}

fn has_labels_of(node: &Node, group: &NodeGroupFacts) -> bool {
    let has = |(key, value): (&String, &String)| node.labels().get(key) == Some(value);
    group.selector.iter().all(has)
}

fn node_facts(node: &Node, facts: &KubernetesFacts) -> NodeFacts {
    let allocatable = node.status.as_ref().and_then(|status| status.allocatable.as_ref());
    let amount = |name: &str| allocatable.and_then(|all| all.get(name)).map_or(0.0, number);
    let cards = amount(&facts.cards.resource) as u32;
    let label = |name: &str| node.labels().get(name).cloned().unwrap_or_default();
    let memory = label("nvidia.com/gpu.memory").parse::<u64>().unwrap_or(0);
    let name = node.name_any();
    let card = |n: u32| GpuFacts {
        uuid: format!("{name}/{n}"),
        name: label(&facts.cards.product_label),
        memory: Bytes(memory << 20),
        xid: None,
    };
    NodeFacts {
        cpu: Cpu((amount("cpu") * 1000.0) as u64),
        memory: Bytes(amount("memory") as u64),
        gpus: (0..cards).map(card).collect(),
        mig: allocatable
            .into_iter()
            .flatten()
            .filter_map(|(name, amount)| Some((name.strip_prefix(MIG)?.to_owned(), number(amount) as u32)))
            .filter(|(_, slices)| *slices > 0)
            .collect(),
        vgpus: amount(VGPU) as u32,
        groups: facts
            .node_groups
            .iter()
            .filter(|(_, group)| is_of(node, group))
            .map(|(group, _)| group.clone())
            .collect(),
        name: name.clone(),
        taken: None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::access::Access;
    use crate::testing::config;

    /// A node with GPU slices, as device plugins and feature discovery show them.
    fn with_cards(annotations: serde_json::Value, has: serde_json::Value) -> Node {
        let mut node = node(json!({"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}), json!([]));
        node.metadata.annotations = serde_json::from_value(annotations).unwrap();
        let allocatable: BTreeMap<_, _> = serde_json::from_value(has).unwrap();
        node.status.as_mut().unwrap().allocatable.as_mut().unwrap().extend(allocatable);
        node
    }

    #[test]
    fn cards_and_their_parts_are_found_and_counted() {
        let nodes = [
            with_cards(json!({}), json!({"nvidia.com/gpu": "2", "rdma/hca": "1"})),
            // The plugin keeps listing a resource with none left.
            with_cards(json!({}), json!({"nvidia.com/mig-1g.10gb": "7", "nvidia.com/mig-2g.20gb": "0"})),
            with_cards(json!({"hami.io/node-nvidia-register": "GPU-1"}), json!({"nvidia.com/gpu": "10"})),
            with_cards(json!({}), json!({"volcano.sh/vgpu-number": "10", "volcano.sh/vgpu-memory": "81920"})),
        ];
        let found = cards(nodes.iter());
        assert_eq!(found.products, BTreeSet::from(["NVIDIA-A100-SXM4-80GB".to_owned()]));
        assert_eq!(found.mig, BTreeSet::from(["1g.10gb".to_owned()]));
        assert_eq!((found.hami, found.vgpu, found.rdma.as_deref()), (true, true, Some("rdma/hca")));
        let none = cards(nodes[..1].iter());
        assert_eq!((none.mig.len(), none.hami, none.vgpu), (0, false, false));
        let nodes = nodes.each_ref().map(|node| node_facts(node, &KubernetesFacts::default()));
        assert_eq!(nodes.each_ref().map(|node| node.gpus.len()), [2, 0, 10, 0]);
        assert_eq!(nodes.each_ref().map(|node| node.vgpus), [0, 0, 0, 10]);
        assert_eq!(nodes[1].mig, BTreeMap::from([("1g.10gb".to_owned(), 7)]));
        assert!(nodes.iter().all(|node| node.mig.is_empty() || node.gpus.is_empty()));
    }

    fn node(labels: serde_json::Value, taints: serde_json::Value) -> Node {
        let node = json!({
            "metadata": {"name": "n", "labels": labels},
            "spec": {"taints": taints},
            "status": {
                "allocatable": {"cpu": "4", "memory": "8Gi"},
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        });
        serde_json::from_value(node).unwrap()
    }

    #[test]
    fn a_node_is_of_the_groups_whose_labels_it_has_and_whose_jobs_it_lets_in() {
        let facts: KubernetesFacts = serde_json::from_value(json!({"node_groups": {
            "cards": {"selector": {"pool": "cards"}, "tolerations": [{"key": "card", "effect": "NoSchedule"}]},
            "cards-too": {"selector": {"pool": "cards"}},
            "every": {},
        }}))
        .unwrap();
        let groups = |node: &Node| node_facts(node, &facts).groups;
        let taint = |effect: &str| json!([{"key": "card", "value": "yes", "effect": effect}]);
        assert_eq!(groups(&node(json!({}), json!([]))), ["every"]);
        assert_eq!(groups(&node(json!({"pool": "cards"}), json!([]))), ["cards", "cards-too", "every"]);
        let kept = node(json!({"pool": "cards"}), taint("NoSchedule"));
        assert_eq!((groups(&kept), is_usable(&kept, &facts)), (vec!["cards".to_owned()], true));
        // The toleration is for another effect.
        let emptied = node(json!({"pool": "cards"}), taint("NoExecute"));
        assert_eq!((groups(&emptied), is_usable(&emptied, &facts)), (Vec::new(), false));
        assert_eq!(groups(&node(json!({}), taint("PreferNoSchedule"))), ["every"]);
    }

    #[test]
    fn kai_shares_cards_where_it_is_there_and_a_queue_is_named() {
        let mut config = config(Path::new("/nowhere"), Access::InCluster);
        config.facts.cards.kai = Some(QueueFacts { queue: "q".into(), priority_class: None });
        let kai = |kinds: BTreeSet<String>| {
            let facts = facts(&config, Vec::new(), KeptOff::default(), &kinds, &Cards::default());
            facts.kubernetes.unwrap().cards.kai
        };
        assert_eq!(kai(BTreeSet::from(["queues.scheduling.run.ai/v2".into()])), config.facts.cards.kai);
        assert_eq!(kai(BTreeSet::new()), None);
    }
}
