//! What the workers of jobs use, as the cluster's own metrics API tells it (metrics-server): looked at while they run, put
//! together when their job has ended. Where there is no such API nothing is measured.
//!
//! <https://kubernetes.io/docs/tasks/debug/debug-cluster/resource-metrics-pipeline/>

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cubeloom_domain::Bytes;
use cubeloom_domain::kubernetes::labels;
use cubeloom_domain::usage::UsageSummary;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::core::GroupVersionKind;
use serde_json::Value;
use tokio::time::interval;

use crate::board::{JobName, Seen};
use crate::cluster::Cluster;
use crate::pods::PodState;
use crate::quantity::number;

/// What the cluster serves where it measures pods.
pub const KIND: &str = "pods.metrics.k8s.io/v1beta1";
/// metrics-server looks at every pod four times a minute.
const LOOK: Duration = Duration::from_secs(15);

/// What was measured of one pod.
#[derive(Clone, Debug, Default, PartialEq)]
struct Measured {
    /// When the last measurement was made, in the cluster's words: told again it is the same.
    last: String,
    /// The sum of the cores at work in all measurements, and how many there were.
    cores: f64,
    times: u32,
    /// The most memory, in bytes.
    peak: f64,
    /// The memory at the last measurement, in bytes.
    memory: f64,
}

/// What was measured of pods, by namespace and name.
#[derive(Default)]
pub struct Meter(Mutex<HashMap<JobName, Measured>>);

impl Meter {
    /// Takes in what the metrics API says of a pod.
    fn take(&self, namespace: &str, metrics: &Value) {
        let Some(name) = metrics["metadata"]["name"].as_str() else { return };
        let containers = || metrics["containers"].as_array().into_iter().flatten();
        let sum = |resource: &str| -> f64 {
            let amounts = containers().filter_map(|one| one["usage"][resource].as_str());
            amounts.map(|text| number(&Quantity(text.to_owned()))).sum()
        };
        let at = metrics["timestamp"].as_str().unwrap_or_default();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.entry((namespace.to_owned(), name.to_owned())).or_default();
        if containers().next().is_none() || known.last == at {
            return;
        }
        at.clone_into(&mut known.last);
        known.cores += sum("cpu");
        known.times += 1;
        known.memory = sum("memory");
        known.peak = known.peak.max(known.memory);
    }

    /// The memory of a pod, as it was measured last.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is not below 0")]
    pub fn memory(&self, namespace: &str, pod: &str) -> Option<Bytes> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&(namespace.to_owned(), pod.to_owned())).map(|measured| Bytes(measured.memory as u64))
    }

    /// What a job's pods used that has ended: of each the mean of what was measured for as long as it ran, so that what nobody
    /// looked at, as between two servers, counts, too. Nothing of a pod of which nothing was measured. Forgets them.
    pub fn summary(&self, namespace: &str, seen: &Seen) -> UsageSummary {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut cpu_us, mut peak) = (0.0, 0.0_f64);
        for pod in seen.pods.values().map(|pod| &pod.view) {
            let Some(measured) = all.remove(&(namespace.to_owned(), pod.name.clone())) else { continue };
            let ran = match &pod.state {
                PodState::Ended { started_at: Some(from), ended_at, .. } => ended_at.since(*from),
                // Deleted, and gone before its node told of its end.
                PodState::Running { since } => pod.deleted.map_or(Duration::ZERO, |by| by.since(*since)),
                _ => Duration::ZERO,
            };
            cpu_us += measured.cores / f64::from(measured.times.max(1)) * ran.as_secs_f64() * 1e6;
            peak = peak.max(measured.peak);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "neither is below 0")]
        UsageSummary { cpu_us: cpu_us as u64, peak_memory: Bytes(peak as u64), ..UsageSummary::default() }
    }
}

/// Looks at what pods use for as long as the server runs.
pub async fn keep(cluster: Arc<Cluster>) {
    let kind = GroupVersionKind::gvk("metrics.k8s.io", "v1beta1", "PodMetrics");
    let resource = ApiResource::from_gvk_with_plural(&kind, "pods");
    let ours = ListParams::default().labels(&format!("{}={}", labels::MANAGED_BY, labels::CUBELOOM));
    let mut look = interval(LOOK);
    loop {
        look.tick().await;
        if !cluster.facts().kubernetes.is_some_and(|facts| facts.kinds.contains_key(KIND)) {
            continue;
        }
        for namespace in cluster.board.namespaces() {
            let client = cluster.client().await;
            let api: Api<DynamicObject> = Api::namespaced_with(client, &namespace, &resource);
            // Without the right to it, or while it does not answer, nothing is measured.
            let Ok(found) = cluster.ask("asking what pods use", api.list(&ours)).await else { continue };
            // Other servers have jobs there, too.
            let is_ours = |metrics: &DynamicObject| {
                let job = metrics.metadata.labels.as_ref().and_then(|all| all.get(labels::JOB));
                job.is_some_and(|job| cluster.board.is_asked(&(namespace.clone(), job.clone())))
            };
            for metrics in found.items.into_iter().filter(is_ours) {
                let metrics = serde_json::to_value(metrics).unwrap_or_default();
                cluster.meter.take(&namespace, &metrics);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use cubeloom_domain::Timestamp;
    use cubeloom_domain::outcome::WorkerName;
    use cubeloom_workers::ends::End;

    use super::*;
    use crate::board::PodSeen;
    use crate::pods::PodView;

    fn metrics(name: &str, at: &str, cpu: &str, memory: &str) -> Value {
        json!({
            "metadata": {"name": name, "namespace": "team"}, "timestamp": at, "window": "15s",
            "containers": [
                {"name": "worker", "usage": {"cpu": cpu, "memory": memory}},
                {"name": "beside", "usage": {"cpu": "0", "memory": "1Mi"}},
            ],
        })
    }

    /// A pod that ran for a minute.
    fn ran(index: u32) -> (String, PodSeen) {
        let minute = Timestamp(0).plus(Duration::from_secs(60));
        let view = PodView {
            name: format!("worker-{index}"),
            uid: format!("uid-{index}"),
            job: "cl-a".into(),
            worker: WorkerName { role: "worker".into(), index },
            containers: Vec::new(),
            deleted: None,
            node: None,
            memory: Default::default(),
            takes: Default::default(),
            has_cards: false,
            disruption: None,
            last_words: None,
            state: PodState::Ended {
                end: End::Exit { code: 0 },
                started_at: Some(Timestamp(0)),
                ended_at: minute,
            },
        };
        (view.uid.clone(), PodSeen { view: view.into(), gone: false })
    }

    #[test]
    fn the_mean_of_what_was_measured_counts_for_as_long_as_a_pod_ran() {
        let meter = Meter::default();
        let seen = Seen { pods: [ran(0), ran(1), ran(2)].into(), ..Seen::default() };
        assert_eq!(meter.summary("team", &seen), UsageSummary::default(), "nothing was measured");
        meter.take("team", &metrics("worker-0", "10:00:00", "500m", "2Gi"));
        meter.take("team", &metrics("worker-0", "10:00:00", "500m", "2Gi"));
        meter.take("team", &metrics("worker-0", "10:00:15", "1500000000n", "1Gi"));
        assert_eq!(meter.memory("team", "worker-0"), Some(Bytes((1 << 30) + (1 << 20))), "the last");
        meter.take("team", &metrics("worker-1", "10:00:00", "250m", "64Mi"));
        meter.take("other", &metrics("worker-2", "10:00:00", "64", "64Gi"));
        // A pod of which there are no figures yet has no containers.
        meter.take(
            "team",
            &json!({"metadata": {"name": "worker-2"}, "timestamp": "10:00:00", "containers": []}),
        );
        let used = meter.summary("team", &seen);
        assert_eq!(used.cpu_us, 60_000_000 + 15_000_000);
        assert_eq!(used.peak_memory, Bytes((2 << 30) + (1 << 20)), "the largest worker's");
        assert_eq!(meter.summary("team", &seen), UsageSummary::default(), "it is forgotten");
    }
}
