//! Node usage from the cluster's metrics API (metrics-server), for clusters without other monitoring. It
//! covers CPU and memory, not GPUs.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::monitoring::{Levels, NodeReading, Reading};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::core::GroupVersionKind;
use serde_json::Value;
use tokio::time::timeout;

use crate::cluster::Cluster;
use crate::quantity::number;

/// The API resource that a cluster with node metrics serves.
pub const KIND: &str = "nodes.metrics.k8s.io/v1beta1";
/// Age at which a reading is stale.
const OLD: Duration = Duration::from_secs(60);
/// Timeout of a query.
const ANSWER: Duration = Duration::from_secs(10);

/// The last reading of all nodes, and its time.
#[derive(Default)]
pub struct NodeUse(Mutex<Option<(Timestamp, BTreeMap<String, NodeReading>)>>);

impl NodeUse {
    fn take(&self, at: Timestamp, told: impl Iterator<Item = Value>) {
        let nodes = told.filter_map(|metrics| of_node(&metrics)).collect();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((at, nodes));
    }

    /// Usage of the nodes; `None` without a recent reading.
    pub fn reading(&self, now: Timestamp) -> Option<Reading> {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, nodes) = told.as_ref().filter(|(at, _)| now.since(*at) <= OLD)?;
        Some(Reading { at: *at, nodes: nodes.clone(), ..Reading::default() })
    }
}

/// A node's name and usage.
fn of_node(metrics: &Value) -> Option<(String, NodeReading)> {
    let used = |resource: &str| Levels {
        used: metrics["usage"][resource].as_str().map(|text| number(&Quantity(text.to_owned()))),
        ..Levels::default()
    };
    let name = metrics["metadata"]["name"].as_str()?.to_owned();
    Some((name, NodeReading { cpu: used("cpu"), memory: used("memory"), ..NodeReading::default() }))
}

/// Reads node usage, if the cluster measures it and the server has the right.
pub async fn look(cluster: &Cluster) {
    if !cluster.facts().kubernetes.is_some_and(|facts| facts.kinds.contains_key(KIND)) {
        return;
    }
    let kind = GroupVersionKind::gvk("metrics.k8s.io", "v1beta1", "NodeMetrics");
    let resource = ApiResource::from_gvk_with_plural(&kind, "nodes");
    let api: Api<DynamicObject> = Api::all_with(cluster.client().await, &resource);
    // An unreachable metrics-server says nothing about the cluster.
    if let Ok(Ok(found)) = timeout(ANSWER, api.list(&ListParams::default())).await {
        let told = found.items.into_iter().map(|one| serde_json::to_value(one).unwrap_or_default());
        cluster.node_use.take(cluster.clock.now(), told);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_nodes_use_is_told_for_a_minute() {
        let told = NodeUse::default();
        let at = |seconds| Timestamp(0).plus(Duration::from_secs(seconds));
        assert_eq!(told.reading(at(0)), None);
        let node = json!({"metadata": {"name": "n1"}, "usage": {"cpu": "1250m", "memory": "2Gi"}});
        let fresh = json!({"metadata": {"name": "n2"}, "usage": {}});
        told.take(at(10), [node, fresh, json!({})].into_iter());
        let reading = told.reading(at(70)).unwrap();
        let n1 = &reading.nodes["n1"];
        assert_eq!((n1.cpu.used, n1.memory.used), (Some(1.25), Some(f64::from(1 << 30) * 2.0)));
        // A missing value is absent, not zero.
        assert_eq!((reading.nodes["n2"].cpu.used, reading.nodes.len(), reading.at), (None, 2, at(10)));
        assert_eq!(told.reading(at(71)), None);
    }
}
