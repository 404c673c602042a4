//! Mirrors the quota tree into Volcano queues. Other users' jobs then do not take guaranteed resources, and
//! `kubectl get queues` shows the same picture. Which Cubeloom job starts is decided before it reaches the
//! cluster.
//!
//! Reconciles after every change of the tree or the cluster, and once a minute. Every server does the same,
//! so their order does not matter. Only queues with this server's labels are touched.

mod steps;
#[cfg(test)]
mod tests;
mod wanted;

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cubeloom_domain::clusters::{Finding, Subject};
use cubeloom_domain::executor::Facts;
use cubeloom_domain::kubernetes::{KubernetesFacts, labels};
use cubeloom_domain::quota::{Queue, QueueRecord};
use cubeloom_domain::{Bytes, Cpu, Timestamp};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::ResourceExt;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use serde_json::{Map, Value, json};
use tokio::sync::Notify;
use tokio::time::{interval, sleep};

use crate::cluster::Cluster;
use crate::config::KubernetesConfig;
use crate::error::{Refused, pause};
use crate::objects::resource;
use crate::quantity::number;
use crate::submit::MANAGER;

use steps::{Step, steps};
use wanted::{Amounts, ROOT, Spec, Wanted, wanted};

/// The API resource that a cluster with queues serves.
pub const KIND: &str = "queues.scheduling.volcano.sh/v1beta1";

/// Reconciliation interval.
const LOOK: Duration = Duration::from_secs(60);
/// How long an obsolete queue stays: a job assigned to it may be on its way.
const STAYS: Duration = Duration::from_secs(30);
/// Consecutive refusals of a queue before they are reported: Volcano's cache of queues lags a moment.
const SAID: u32 = 4;

/// Name of the stored assignment of queues.
const OPEN: &str = "queues";

/// The queues of a cluster.
#[derive(Default)]
pub struct Mirror {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// The quota tree; `None` until the engine has sent it.
    tree: Option<Arc<Vec<QueueRecord>>>,
    /// The open queue of each project.
    open: BTreeMap<String, String>,
    /// Why the cluster refused a queue, by name.
    refused: BTreeMap<String, String>,
    /// When queues became obsolete, by name.
    leaving: BTreeMap<String, Timestamp>,
}

impl Mirror {
    /// Starts with the stored assignment: jobs of an earlier server have these queues, and so do jobs that
    /// start before the first reconciliation.
    pub fn new(config: &KubernetesConfig) -> Self {
        let state = State { open: config.kept(OPEN), ..State::default() };
        Self { state: Mutex::new(state), changed: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the quota tree.
    pub fn share(&self, tree: &Arc<Vec<QueueRecord>>) {
        self.state().tree = Some(Arc::clone(tree));
        self.look();
    }

    /// Triggers a reconciliation.
    pub fn look(&self) {
        self.changed.notify_one();
    }

    /// The queue for a project's jobs; `None` if the project has none of its own.
    pub fn of_project(&self, project: &str) -> Option<String> {
        self.state().open.get(project).cloned()
    }

    /// Queues in sync, and queues that the cluster refuses.
    pub fn findings(&self) -> Vec<Finding> {
        let state = self.state();
        let finding = |name: &String, detail: Option<String>| Finding {
            subject: Subject::Queue,
            name: name.clone(),
            found: detail.is_none(),
            detail,
        };
        let open = state.open.values().filter(|name| !state.refused.contains_key(*name));
        let refused = state.refused.iter().map(|(name, why)| finding(name, Some(why.clone())));
        open.map(|name| finding(name, None)).chain(refused).collect()
    }
}

/// Reconciles the queues with the tree for as long as the server runs.
pub async fn keep(cluster: Arc<Cluster>) {
    let mut look = interval(LOOK);
    let mut tries = 0;
    loop {
        let again = async {
            match tries {
                0 => pending().await,
                tries => sleep(pause(tries)).await,
            }
        };
        tokio::select! {
            _ = look.tick() => {}
            () = cluster.queues.changed.notified() => {}
            () = again => {}
        }
        let refused = mirror(&cluster).await;
        tries = if refused.is_empty() { 0 } else { tries + 1 };
        if tries == 0 || tries >= SAID {
            note(&cluster, refused);
        }
    }
}

/// Records refusals, and logs each reason once.
fn note(cluster: &Cluster, refused: BTreeMap<String, String>) {
    let mut state = cluster.queues.state();
    for (name, why) in refused.iter().filter(|(name, why)| state.refused.get(*name) != Some(*why)) {
        tracing::warn!(cluster = cluster.config.name, name, why, "a queue does not match the quotas");
    }
    state.refused = refused;
}

/// Reconciles the queues. Returns refusals by name; an empty map means that all is done.
async fn mirror(cluster: &Cluster) -> BTreeMap<String, String> {
    let tree = cluster.queues.state().tree.clone();
    let facts = cluster.facts();
    let (Some(tree), Some(known)) = (tree, &facts.kubernetes) else { return BTreeMap::new() };
    if !known.kinds.contains_key(KIND) {
        give(cluster, BTreeMap::new());
        return BTreeMap::new();
    }
    // The capacity is unknown until nodes are listed.
    if facts.nodes.is_empty() {
        return BTreeMap::new();
    }
    let api = Queues { cluster, api: Api::all_with(cluster.client().await, &served()) };
    match api.list().await {
        Ok(there) => api.follow(there, &tree, &facts, known).await,
        Err(refused) => BTreeMap::from([("queues".to_owned(), refused.message().to_owned())]),
    }
}

fn served() -> ApiResource {
    resource("scheduling.volcano.sh/v1beta1", "Queue")
}

/// Sets the queues for jobs from now on.
fn give(cluster: &Cluster, open: BTreeMap<String, String>) {
    let mut state = cluster.queues.state();
    if state.open != open {
        cluster.config.keep(OPEN, &open);
        state.open = open;
    }
}

/// Client for queues.
struct Queues<'c> {
    cluster: &'c Cluster,
    api: Api<DynamicObject>,
}

impl Queues<'_> {
    async fn list(&self) -> Result<Vec<DynamicObject>, Refused> {
        let params = ListParams::default();
        Ok(self.cluster.ask("listing queues", self.api.list(&params)).await?.items)
    }

    async fn follow(
        &self,
        there: Vec<DynamicObject>,
        tree: &[QueueRecord],
        facts: &Facts,
        known: &KubernetesFacts,
    ) -> BTreeMap<String, String> {
        let own = namespace_of(&self.cluster.config.facts);
        let (ours, others): (Vec<_>, Vec<_>) = there.into_iter().partition(|queue| is_ours(queue, &own));
        let mut refused = BTreeMap::new();
        let wanted = without_others(wanted(tree, facts, &known.cards), &others, &mut refused);
        let found: BTreeMap<String, Spec> =
            ours.iter().map(|queue| (queue.name_any(), read(queue))).collect();
        // From now on, no job gets an obsolete queue.
        give(self.cluster, open(&wanted, &ours));
        for step in steps(&found, &wanted) {
            if let Err(why) = self.put(&step, &own).await {
                refused.insert(step.name, why.message().to_owned());
            }
        }
        self.take_away(&ours, &wanted, &mut refused).await;
        // A queue accepts jobs only once Volcano has recorded it as open.
        if let Some(new) = wanted.iter().find(|one| !found.contains_key(&one.name)) {
            refused.entry(new.name.clone()).or_insert_with(|| "it is not open yet".to_owned());
        }
        let opening = ours.iter().filter(|queue| state(queue).is_empty());
        for queue in opening.filter(|queue| wanted.iter().any(|one| one.name == queue.name_any())) {
            refused.entry(queue.name_any()).or_insert_with(|| "it is not open yet".to_owned());
        }
        refused
    }

    async fn put(&self, step: &Step, own: &str) -> Result<(), Refused> {
        let params = PatchParams::apply(MANAGER).force();
        let queue = Patch::Apply(written(step, own));
        let sent = self.api.patch(&step.name, &params, &queue);
        self.cluster.ask("updating queues", sent).await.map(drop)
    }

    /// Removes obsolete queues once they are empty.
    async fn take_away(
        &self,
        ours: &[DynamicObject],
        wanted: &[Wanted],
        refused: &mut BTreeMap<String, String>,
    ) {
        let now = self.cluster.clock.now();
        let leaves = |queue: &&DynamicObject| !wanted.iter().any(|one| one.name == queue.name_any());
        let leaving: BTreeSet<String> = ours.iter().filter(leaves).map(ResourceExt::name_any).collect();
        let due: Vec<String> = {
            let mut state = self.cluster.queues.state();
            state.leaving.retain(|name, _| leaving.contains(name));
            for name in &leaving {
                state.leaving.entry(name.clone()).or_insert(now);
            }
            let is_due = |(_, since): &(&String, &Timestamp)| now.since(**since) >= STAYS;
            state.leaving.iter().filter(is_due).map(|(name, _)| name.clone()).collect()
        };
        if due.is_empty() {
            return;
        }
        let used = match self.used().await {
            Ok(used) => used,
            Err(why) => {
                refused.extend(due.into_iter().map(|name| (name, why.message().to_owned())));
                return;
            }
        };
        for name in due.into_iter().filter(|name| !used.contains(name)) {
            let params = DeleteParams::default();
            match self.cluster.ask("removing a queue", self.api.delete(&name, &params)).await {
                Ok(_) | Err(Refused::NotFound) => {}
                Err(why) => _ = refused.insert(name, why.message().to_owned()),
            }
        }
    }

    /// Queues in use by any user. Completed pod groups do not count: they may stay for long.
    async fn used(&self) -> Result<BTreeSet<String>, Refused> {
        let groups = resource("scheduling.volcano.sh/v1beta1", "PodGroup");
        let api: Api<DynamicObject> = Api::all_with(self.cluster.client().await, &groups);
        let params = ListParams::default();
        let all = self.cluster.ask("listing jobs of a queue", api.list(&params)).await?;
        let going_on = all.items.iter().filter(|group| group.data["status"]["phase"] != "Completed");
        Ok(going_on.filter_map(|group| group.data["spec"]["queue"].as_str()).map(Into::into).collect())
    }
}

/// The namespace of this server's jobs, as label value. Two servers that share a cluster use different ones.
pub fn namespace_of(facts: &KubernetesFacts) -> String {
    facts.of_project("p").namespace
}

fn is_ours(queue: &DynamicObject, own: &str) -> bool {
    let label = |name: &str| queue.labels().get(name).map(String::as_str);
    label(labels::MANAGED_BY) == Some(labels::CUBELOOM) && label(labels::NAMESPACE) == Some(own)
}

/// Leaves out queues whose name another user's queue has, and the queues below them.
fn without_others(
    wanted: Vec<Wanted>,
    others: &[DynamicObject],
    refused: &mut BTreeMap<String, String>,
) -> Vec<Wanted> {
    let mut out: BTreeSet<String> = others.iter().map(ResourceExt::name_any).collect();
    let mut left = Vec::new();
    for one in wanted {
        if out.contains(&one.name) {
            let why =
                "a queue of this name already exists, and this server did not create it: it is not changed";
            refused.insert(one.name, why.to_owned());
        } else if one.spec.parent != ROOT && out.contains(&one.spec.parent) {
            out.insert(one.name);
        } else {
            left.push(one);
        }
    }
    left
}

/// The open queue of each project.
fn open(wanted: &[Wanted], ours: &[DynamicObject]) -> BTreeMap<String, String> {
    let is_open = |name: &str| ours.iter().any(|queue| queue.name_any() == name && state(queue) == "Open");
    let of_project = |one: &Wanted| match &one.queue {
        Queue::Project(project) if is_open(&one.name) => Some((project.clone(), one.name.clone())),
        _ => None,
    };
    wanted.iter().filter_map(of_project).collect()
}

fn state(queue: &DynamicObject) -> &str {
    queue.data["status"]["state"].as_str().unwrap_or_default()
}

/// The current state of a queue.
fn read(queue: &DynamicObject) -> Spec {
    let spec = &queue.data["spec"];
    let amounts = |value: &Value| -> Amounts {
        let all = value.as_object().into_iter().flatten();
        let read = all.map(|(name, amount)| {
            let text = amount.as_str().map_or_else(|| amount.to_string(), ToOwned::to_owned);
            let scale = if name == "cpu" { 1000.0 } else { 1.0 };
            (name.clone(), (number(&Quantity(text)) * scale).round() as u64)
        });
        read.collect()
    };
    Spec {
        parent: spec["parent"].as_str().unwrap_or(ROOT).to_owned(),
        weight: spec["weight"].as_u64().and_then(|weight| u32::try_from(weight).ok()).unwrap_or(1),
        guarantee: amounts(&spec["guarantee"]["resource"]),
        deserved: amounts(&spec["deserved"]),
        capability: amounts(&spec["capability"]),
    }
}

/// The manifest of a queue.
fn written(step: &Step, own: &str) -> Value {
    let mut spec = json!({"parent": step.spec.parent, "weight": step.spec.weight, "reclaimable": true});
    let parts = [
        ("guarantee", &step.spec.guarantee),
        ("deserved", &step.spec.deserved),
        ("capability", &step.spec.capability),
    ];
    for (part, amounts) in parts.into_iter().filter(|(_, amounts)| !amounts.is_empty()) {
        let quantity = |(name, amount): (&String, &u64)| {
            let text = match name.as_str() {
                "cpu" => Cpu(*amount).to_string(),
                "memory" => Bytes(*amount).to_string(),
                _ => amount.to_string(),
            };
            (name.clone(), Value::from(text))
        };
        let amounts: Map<String, Value> = amounts.iter().map(quantity).collect();
        spec[part] = if part == "guarantee" { json!({"resource": amounts}) } else { amounts.into() };
    }
    let annotations: Map<String, Value> = match &step.queue {
        Some(Queue::Project(name)) => {
            [("cubeloom/project".to_owned(), name.as_str().into())].into_iter().collect()
        }
        Some(Queue::Group(name)) => {
            [("cubeloom/group".to_owned(), name.as_str().into())].into_iter().collect()
        }
        None => Map::new(),
    };
    let served = served();
    json!({
        "apiVersion": served.api_version,
        "kind": served.kind,
        "metadata": {
            "name": step.name,
            "labels": {labels::MANAGED_BY: labels::CUBELOOM, labels::NAMESPACE: own},
            "annotations": annotations,
        },
        "spec": spec,
    })
}
