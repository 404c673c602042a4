//! Cordons nodes where the server has the right to. In any case the server keeps its own pods off them by
//! node name.
//!
//! A node that this server has cordoned carries its label. The server uncordons only such nodes: a node that
//! a person cordoned stays cordoned.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use k8s_openapi::api::core::v1::Node;
use kube::ResourceExt;
use kube::api::{Api, ListParams, Patch, PatchParams};
use serde_json::json;
use tokio::sync::{Notify, watch};
use tokio::time::interval;

use crate::cluster::Cluster;
use crate::error::Refused;
use crate::queues::namespace_of;

/// Label on a node that a server has cordoned. Its value, the namespace of the server's jobs, distinguishes
/// servers.
const LABEL: &str = "cubeloom/aside";
/// Annotation with the reason, for `kubectl describe node`.
const WHY: &str = "cubeloom/aside-why";
/// Reconciliation interval.
const LOOK: Duration = Duration::from_secs(60);

/// The nodes of a cluster that Cubeloom has cordoned.
#[derive(Debug)]
pub struct Aside {
    /// Node name to reason; `None` until the first set arrives.
    nodes: watch::Sender<Option<BTreeMap<String, String>>>,
    changed: Notify,
    refused: Mutex<Option<String>>,
}

impl Default for Aside {
    fn default() -> Self {
        Self { nodes: watch::Sender::new(None), changed: Notify::new(), refused: Mutex::default() }
    }
}

impl Aside {
    /// Replaces the set of cordoned nodes.
    pub fn tell(&self, nodes: BTreeMap<String, String>) {
        let is_new = |known: &mut Option<BTreeMap<String, String>>| {
            known.replace(nodes.clone()).is_none_or(|before| before != nodes)
        };
        if self.nodes.send_if_modified(is_new) {
            self.changed.notify_one();
        }
    }

    /// Notifies of changes to the set.
    pub fn watch(&self) -> watch::Receiver<Option<BTreeMap<String, String>>> {
        self.nodes.subscribe()
    }

    pub fn names(&self) -> Vec<String> {
        self.nodes.borrow().iter().flat_map(BTreeMap::keys).cloned().collect()
    }

    /// Why the last attempt to cordon or uncordon nodes failed.
    pub fn refused(&self) -> Option<String> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Cordons and uncordons nodes for as long as the server runs.
pub async fn keep(cluster: Arc<Cluster>) {
    let mut look = interval(LOOK);
    loop {
        tokio::select! {
            _ = look.tick() => {}
            () = cluster.aside.changed.notified() => {}
        }
        let refused = cordon(&cluster).await.err().map(|refused| refused.message().to_owned());
        let mut known = cluster.aside.lock();
        if let Some(why) = refused.as_ref().filter(|why| known.as_ref() != Some(*why)) {
            tracing::warn!(
                cluster = cluster.config.name,
                why,
                "the server cannot cordon nodes in Kubernetes: only Cubeloom's own pods avoid them"
            );
        }
        *known = refused;
    }
}

/// Reconciles the cluster's nodes with the wanted set.
async fn cordon(cluster: &Cluster) -> Result<(), Refused> {
    let Some(wanted) = cluster.aside.nodes.borrow().clone() else { return Ok(()) };
    let own = namespace_of(&cluster.config.facts);
    let api: Api<Node> = Api::all(cluster.client().await);
    let ours = ListParams::default().labels(&format!("{LABEL}={own}"));
    let ours = cluster.ask("listing cordoned nodes", api.list(&ours)).await?.items;
    let is_ours = |name: &str| ours.iter().any(|node| node.name_any() == name);
    for node in ours.iter().map(ResourceExt::name_any).filter(|name| !wanted.contains_key(name)) {
        put(
            cluster,
            &api,
            &node,
            json!({
                "metadata": {"labels": {LABEL: null}, "annotations": {WHY: null}},
                "spec": {"unschedulable": null},
            }),
        )
        .await?;
    }
    for (name, why) in wanted.iter().filter(|(name, _)| !is_ours(name)) {
        let node = match cluster.ask("reading a cordoned node", api.get(name)).await {
            Err(Refused::NotFound) => continue,
            node => node?,
        };
        if node.spec.is_some_and(|spec| spec.unschedulable == Some(true)) {
            continue;
        }
        put(
            cluster,
            &api,
            name,
            json!({
                "metadata": {"labels": {LABEL: own}, "annotations": {WHY: why}},
                "spec": {"unschedulable": true},
            }),
        )
        .await?;
    }
    Ok(())
}

async fn put(
    cluster: &Cluster,
    api: &Api<Node>,
    name: &str,
    change: serde_json::Value,
) -> Result<(), Refused> {
    let (params, change) = (PatchParams::default(), Patch::Merge(&change));
    match cluster.ask("cordoning a node", api.patch(name, &params, &change)).await {
        Ok(_) | Err(Refused::NotFound) => Ok(()),
        Err(refused) => Err(refused),
    }
}
