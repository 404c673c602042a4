//! Usage of jobs' workers from the cluster's metrics API (metrics-server), polled while they run and
//! summarized when their job has ended. Without that API, an external meter provides it. Injected sidecars (a
//! mesh's proxy, a log agent) have limits of their own and do not count.
//!
//! <https://kubernetes.io/docs/tasks/debug/debug-cluster/resource-metrics-pipeline/>

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cubeloom_domain::kubernetes::labels;
use cubeloom_domain::monitoring::PodReading;
use cubeloom_domain::usage::{MemorySpread, PodUse, RoleUsage, UsageSummary};
use cubeloom_domain::{Bytes, Cpu, Timestamp};
use cubeloom_workers::ends::End;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::core::GroupVersionKind;
use serde_json::Value;
use tokio::time::interval;

use crate::board::{JobName, Seen};
use crate::cluster::Cluster;
use crate::node_use;
use crate::pods::{PodState, PodView};
use crate::quantity::number;
use crate::samples::Samples;

/// The API resource that a cluster with pod metrics serves.
pub const KIND: &str = "pods.metrics.k8s.io/v1beta1";
/// metrics-server scrapes every pod four times a minute.
const LOOK: Duration = Duration::from_secs(15);
/// Minimum number of samples for right-sizing: one minute. With fewer, the peak may lie between two samples.
const ENOUGH: u32 = 4;

/// Samples of one pod.
#[derive(Clone, Debug, Default, PartialEq)]
struct Measured {
    /// Timestamp of the last sample, verbatim; a repeated one is the same sample.
    last: String,
    /// CPU cores in use.
    cores: Samples,
    /// Memory, in bytes.
    memory: Samples,
    /// Fraction of CFS periods in which it was throttled, from the external meter.
    throttled: Option<f64>,
}

/// Samples by namespace and pod name.
#[derive(Default)]
pub struct Meter(Mutex<HashMap<JobName, Measured>>);

impl Meter {
    /// Adds a sample of these containers of a pod: the program's, and that of its setup, which runs before it
    /// under the same limit.
    pub fn take(&self, namespace: &str, metrics: &Value, of: &[String]) {
        let Some(name) = metrics["metadata"]["name"].as_str() else { return };
        let counts = |one: &&Value| one["name"].as_str().is_some_and(|name| of.iter().any(|of| of == name));
        let containers = || metrics["containers"].as_array().into_iter().flatten().filter(counts);
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
        known.cores.add(sum("cpu"));
        known.memory.add(sum("memory"));
    }

    /// Adds the external meter's figures of a container, for a pod without samples of the metrics API.
    pub fn take_over(&self, namespace: &str, used: PodUse) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.entry((namespace.to_owned(), used.pod)).or_default();
        known.throttled = known.throttled.or(used.throttled);
        if known.last.is_empty() {
            known.cores.extend(used.cores);
            known.memory.extend(used.memory);
        }
    }

    /// Adds throttling, which the metrics API does not report.
    pub fn take_held_back(&self, namespace: &str, used: PodUse) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get_mut(&(namespace.to_owned(), used.pod)) {
            known.throttled = known.throttled.or(used.throttled);
        }
    }

    /// Last sample of our pods' programs, by pod name.
    pub fn pods(&self) -> BTreeMap<String, PodReading> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let reading =
            |one: &Measured| PodReading { cpu: Some(one.cores.last()), memory: Some(one.memory.last()) };
        let measured = all.iter().filter(|(_, one)| one.cores.times() > 0);
        measured.map(|((_, pod), one)| (pod.clone(), reading(one))).collect()
    }

    /// Memory in the last sample of a pod whose program started at this time. Earlier samples belong to
    /// another pod: after a suspension or a resize, a new pod reuses the name.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is not below 0")]
    pub fn memory(&self, namespace: &str, pod: &str, since: Timestamp) -> Option<Bytes> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let measured = all.get(&(namespace.to_owned(), pod.to_owned()))?;
        measured.is_of(since).then_some(Bytes(measured.memory.last() as u64))
    }

    /// Summarizes the usage of an ended job, and forgets its pods. Each pod counts with its mean over its
    /// whole run time, which covers gaps between two servers. Each role has the usage of its largest worker,
    /// if its workers had enough samples. Pods without samples are left out. `had` is a worker's memory
    /// limit: an OOM killed worker used all of it, whenever it was sampled.
    pub fn summary(
        &self,
        namespace: &str,
        seen: &Seen,
        had: impl Fn(&PodView) -> Option<Bytes>,
    ) -> (UsageSummary, Vec<RoleUsage>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut pods, mut workers) = (Vec::new(), Vec::new());
        for pod in seen.pods.values().map(|pod| &pod.view) {
            let Some(measured) = all.remove(&(namespace.to_owned(), pod.name.clone())) else { continue };
            let ran = match &pod.state {
                PodState::Ended { started_at: Some(from), ended_at, .. } => ended_at.since(*from),
                // Deleted, and gone before its node reported the end.
                PodState::Running { since } => pod.deleted.map_or(Duration::ZERO, |by| by.since(*since)),
                _ => Duration::ZERO,
            };
            let ran_out = matches!(pod.state, PodState::Ended { end: End::OutOfMemory, .. });
            let used = measured.of_worker(ran, had(pod).filter(|_| ran_out));
            if measured.is_enough() || ran_out {
                let micros = u64::try_from(ran.as_micros()).unwrap_or(u64::MAX);
                workers.push(RoleUsage::of_worker(&pod.worker.role, &used, micros));
            }
            let cpu_high = used.cpu_high.filter(|_| measured.is_enough());
            pods.push(UsageSummary { cpu_high, ..used });
        }
        let sum = pods.into_iter().reduce(UsageSummary::join).unwrap_or_default();
        (sum, RoleUsage::by_role(workers.into_iter()))
    }

    /// Forgets all pods whose name starts with the job's, including those deleted earlier.
    pub fn forget(&self, (namespace, job): &JobName) {
        let is_its = |pod: &str| pod.strip_prefix(job.as_str()).is_some_and(|rest| rest.starts_with('-'));
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(of, pod), _| of != namespace || !is_its(pod));
    }
}

impl Measured {
    /// Whether the last sample belongs to a program that started at this time, as far as its timestamp shows.
    fn is_of(&self, since: Timestamp) -> bool {
        let at = self.last.parse::<jiff::Timestamp>().ok();
        at.is_none_or(|at| Timestamp(at.as_microsecond()) >= since)
    }

    /// Whether there are enough samples for right-sizing, including their spread.
    fn is_enough(&self) -> bool {
        self.cores.times() >= ENOUGH
    }

    /// Usage of a worker that ran this long, and used at least `at_least` memory.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "none is below 0")]
    fn of_worker(&self, ran: Duration, at_least: Option<Bytes>) -> UsageSummary {
        let memory = |part| self.memory.not_beyond(part).map(|bytes| Bytes(bytes as u64));
        let spread = memory(2).zip(memory(20)).map(|(middle, high)| MemorySpread { middle, high });
        UsageSummary {
            cpu_us: (self.cores.mean() * ran.as_secs_f64() * 1e6) as u64,
            peak_memory: Bytes(self.memory.most() as u64).max(at_least.unwrap_or_default()),
            memory: spread.filter(|_| self.is_enough()),
            cpu_high: self.cores.not_beyond(20).map(|cores| Cpu((cores * 1000.0).ceil() as u64)),
            throttled: self.throttled.map(|share| ((share * 1000.0).round() as u32).min(1000)),
            ..UsageSummary::default()
        }
    }
}

/// Whether the cluster measures its pods itself.
pub fn is_measured(cluster: &Cluster) -> bool {
    cluster.facts().kubernetes.is_some_and(|facts| facts.kinds.contains_key(KIND))
}

/// Polls pod usage for as long as the server runs.
pub async fn keep(cluster: Arc<Cluster>) {
    let kind = GroupVersionKind::gvk("metrics.k8s.io", "v1beta1", "PodMetrics");
    let resource = ApiResource::from_gvk_with_plural(&kind, "pods");
    let ours = ListParams::default().labels(&format!("{}={}", labels::MANAGED_BY, labels::CUBELOOM));
    let mut look = interval(LOOK);
    loop {
        look.tick().await;
        node_use::look(&cluster).await;
        if !is_measured(&cluster) {
            continue;
        }
        for namespace in cluster.board.namespaces() {
            let client = cluster.client().await;
            let api: Api<DynamicObject> = Api::namespaced_with(client, &namespace, &resource);
            // Without the right, or while the API is unreachable, there are no samples.
            let Ok(found) = cluster.ask("reading the usage of pods", api.list(&ours)).await else { continue };
            for metrics in found.items {
                let job = metrics.metadata.labels.as_ref().and_then(|all| all.get(labels::JOB));
                let Some((job, name)) = job.zip(metrics.metadata.name.as_ref()) else { continue };
                // Other servers may have jobs there, too.
                let Some(pod) = cluster.board.asked_pod(&(namespace.clone(), job.clone()), name) else {
                    continue;
                };
                let metrics = serde_json::to_value(&metrics).unwrap_or_default();
                cluster.meter.take(&namespace, &metrics, &pod.containers);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{pod, seen_with};

    fn metrics(name: &str, at: &str, cpu: &str, memory: &str) -> Value {
        json!({
            "metadata": {"name": name, "namespace": "team"}, "timestamp": at, "window": "15s",
            "containers": [
                {"name": "worker", "usage": {"cpu": cpu, "memory": memory}},
                {"name": "beside", "usage": {"cpu": "2", "memory": "4Gi"}},
            ],
        })
    }

    fn take(meter: &Meter, namespace: &str, metrics: &Value) {
        meter.take(namespace, metrics, &["setup".into(), "worker".into()]);
    }

    /// A pod that ran for a minute.
    fn ran(index: u32, end: End) -> PodView {
        let ended_at = Timestamp(0).plus(Duration::from_secs(60));
        pod("worker", index, PodState::Ended { end, started_at: Some(Timestamp(0)), ended_at })
    }

    #[test]
    fn the_mean_of_what_was_measured_counts_for_as_long_as_a_pod_ran() {
        let meter = Meter::default();
        let seen = seen_with((0..3).map(|index| ran(index, End::Exit { code: 0 })));
        let summary = |meter: &Meter| meter.summary("team", &seen, |_| None);
        assert_eq!(summary(&meter), Default::default(), "nothing was measured");
        take(&meter, "team", &metrics("worker-0", "10:00:00", "500m", "2Gi"));
        take(&meter, "team", &metrics("worker-0", "10:00:00", "500m", "2Gi"));
        take(&meter, "team", &metrics("worker-0", "10:00:15", "1500000000n", "1Gi"));
        let last = meter.memory("team", "worker-0", Timestamp(0));
        assert_eq!(last, Some(Bytes(1 << 30)), "the last");
        take(&meter, "team", &metrics("worker-1", "10:00:00", "250m", "64Mi"));
        take(&meter, "other", &metrics("worker-2", "10:00:00", "64", "64Gi"));
        // A pod without figures yet has no containers.
        take(
            &meter,
            "team",
            &json!({"metadata": {"name": "worker-2"}, "timestamp": "10:00:00", "containers": []}),
        );
        let (used, roles) = summary(&meter);
        assert_eq!(used.cpu_us, 60_000_000 + 15_000_000);
        assert_eq!(used.peak_memory, Bytes(2 << 30), "the largest worker's");
        assert!(roles.is_empty(), "a peak may lie between so few looks");
        assert_eq!(summary(&meter), Default::default(), "it is forgotten");
    }

    #[test]
    fn a_burst_is_told_from_what_a_worker_used_all_along() {
        let meter = Meter::default();
        for at in 0..40 {
            let (cpu, memory) = if (10..12).contains(&at) { ("4", "2Gi") } else { ("500m", "512Mi") };
            take(&meter, "team", &metrics("worker-0", &at.to_string(), cpu, memory));
        }
        let seen = seen_with([ran(0, End::Exit { code: 0 })]);
        let (sum, roles) = meter.summary("team", &seen, |_| None);
        let (half, peak) = (Bytes(512 << 20), Bytes(2048 << 20));
        assert_eq!((roles[0].peak_memory, roles[0].cpu_high), (peak, Cpu(675)), "no less than the mean");
        assert_eq!(roles[0].memory, Some(MemorySpread { middle: half, high: half }));
        assert_eq!((sum.memory, sum.cpu_high), (roles[0].memory, Some(Cpu(500))));
    }

    #[test]
    fn what_is_beside_a_program_in_its_pod_does_not_count_and_its_setup_does() {
        let meter = Meter::default();
        let told = |at: &str, containers: Value| {
            take(
                &meter,
                "team",
                &json!({"metadata": {"name": "worker-0"}, "timestamp": at, "containers": containers}),
            );
        };
        let of = |name: &str, cpu: &str, memory: &str| {
            let usage = json!({"cpu": cpu, "memory": memory});
            json!({"name": name, "usage": usage})
        };
        told("1", json!([of("istio-proxy", "1", "9Gi")]));
        assert_eq!(meter.pods(), BTreeMap::new(), "its program has not begun");
        told("2", json!([of("setup", "1", "3Gi"), of("istio-proxy", "1", "9Gi")]));
        told("3", json!([of("istio-proxy", "1", "9Gi"), of("worker", "500m", "1Gi")]));
        let seen = seen_with([ran(0, End::OutOfMemory)]);
        assert_eq!(meter.memory("team", "worker-0", Timestamp(0)), Some(Bytes(1 << 30)));
        let (sum, roles) = meter.summary("team", &seen, |_| None);
        assert_eq!((sum.cpu_us, roles[0].peak_memory), (45_000_000, Bytes(3 << 30)));
    }

    #[test]
    fn what_a_pod_used_that_is_gone_is_not_what_the_next_one_of_its_name_uses() {
        let meter = Meter::default();
        take(&meter, "team", &metrics("worker-0", "2026-03-01T09:30:00Z", "500m", "2Gi"));
        let since = |text: &str| {
            let since = Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_microsecond());
            meter.memory("team", "worker-0", since)
        };
        assert_eq!(since("2026-03-01T09:30:00Z"), Some(Bytes(2 << 30)));
        assert_eq!(since("2026-03-01T09:30:01Z"), None);
    }

    #[test]
    fn of_a_job_that_has_ended_nothing_is_kept() {
        let meter = Meter::default();
        for pod in ["cl-a-1-worker-0", "cl-a-1-worker-1", "cl-a-12-worker-0"] {
            take(&meter, "team", &metrics(pod, "10:00:00", "500m", "2Gi"));
        }
        take(&meter, "other", &metrics("cl-a-1-worker-0", "10:00:00", "500m", "2Gi"));
        meter.forget(&("team".into(), "cl-a-1".into()));
        let mut left: Vec<_> = meter.0.lock().unwrap().keys().cloned().collect();
        left.sort();
        let pod = |namespace: &str, pod: &str| (namespace.to_owned(), pod.to_owned());
        assert_eq!(left, [pod("other", "cl-a-1-worker-0"), pod("team", "cl-a-12-worker-0")]);
    }

    #[test]
    fn the_largest_worker_of_a_role_counts_and_one_that_ran_out_of_memory_used_all_that_it_had() {
        let meter = Meter::default();
        for (worker, memory) in [("worker-0", "512Mi"), ("worker-1", "700Mi"), ("ps-0", "64Mi")] {
            for (at, cpu) in ["250m", "1", "500m", "250m"].into_iter().enumerate() {
                take(&meter, "team", &metrics(worker, &at.to_string(), cpu, memory));
            }
        }
        let ps = pod("ps", 0, ran(0, End::Exit { code: 0 }).state);
        let seen = seen_with([ran(0, End::Exit { code: 0 }), ran(1, End::OutOfMemory), ps]);
        let (_, roles) = meter.summary("team", &seen, |_| Some(Bytes(768 << 20)));
        let of = |role: &str| roles.iter().find(|one| one.role == role).unwrap();
        let worker = of("worker");
        assert_eq!(
            (worker.peak_memory, worker.cpu, worker.cpu_high),
            (Bytes(768 << 20), Cpu(500), Cpu(1000))
        );
        let all = |mib: u64| MemorySpread { middle: Bytes(mib << 20), high: Bytes(mib << 20) };
        assert_eq!(worker.memory, Some(all(700)), "what it held until then");
        assert_eq!(of("ps").peak_memory, Bytes(64 << 20), "it did not run out of it");
    }
}
