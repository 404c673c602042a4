//! Metrics and allocations of clusters' nodes and GPUs. They are collected on request, once for all requests
//! of a few seconds. Clusters with a Prometheus are refreshed about every minute (`seen`). The local
//! machine's last hour is kept here, as nothing else stores it. The GPUs of all clusters are sampled every
//! minute, into the database (`gpus`).

mod cards;
mod gpus;
mod holders;
mod idle;
mod people;
#[cfg(test)]
mod sample;
mod seen;
mod sum;

pub(crate) use cards::{card, may_have, nodes};
pub(crate) use gpus::{gpu_history, idle_gpus};
pub(crate) use idle::idle;
pub(crate) use people::holders;
pub(crate) use seen::look_at_changed;
pub(crate) use sum::overview;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cubeloom_domain::Timestamp;
use cubeloom_domain::clusters::{ClusterRecord, LOCAL};
use cubeloom_domain::executor::{Executor, Facts};
use cubeloom_domain::monitoring::{CardHistory, Reading};
use cubeloom_domain::usage::WorkerLines;
use cubeloom_monitoring::{PATIENCE, Prometheus, Recent};

use self::seen::{Seen, look, look_unasked};
use crate::clusters::{self, prometheus_of};
use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Older readings are reported as stale. Without requests, a reading is up to 75 seconds old if collecting
/// takes at most 3 seconds.
const OLD: Duration = Duration::from_secs(80);

/// Cached readings of clusters.
#[derive(Default)]
pub(crate) struct Monitor {
    seen: Seen,
    /// The last hour of the local machine.
    recent: Arc<Mutex<Recent>>,
}

/// Metrics collected from a cluster at one time.
pub(crate) struct Look {
    facts: Facts,
    reading: Reading,
    source: Source,
    grafana: Option<String>,
    /// The settings in effect when it was collected. `None` for the local machine.
    by: Option<By>,
    /// Duration of the collection.
    took: Duration,
    /// End of the collection. It may have taken longer than a reading stays fresh: all waiting requests share
    /// it anyway.
    ended: Instant,
}

impl Look {
    /// Missing metrics, and a note if the reading is stale.
    fn problems(&self) -> Vec<String> {
        let age = self.ended.elapsed();
        let old = format!("these values are {} s old and are being refreshed", age.as_secs());
        self.reading.problems.iter().cloned().chain((age > OLD).then_some(old)).collect()
    }

    /// Whether collecting is slow. Only Prometheus is: other sources answer at once.
    fn is_slow(&self) -> bool {
        matches!(self.source, Source::Prometheus(_))
    }
}

/// Source of a reading.
enum Source {
    /// The local machine.
    Machine,
    Prometheus(Box<Prometheus>),
    /// The cluster reports part of it.
    Cluster,
    /// No metrics are configured, or their source cannot be queried.
    Nobody,
}

impl Source {
    fn as_str(&self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Prometheus(_) => "prometheus",
            Self::Cluster => "cluster",
            Self::Nobody => "none",
        }
    }
}

/// Starts the refresh of clusters with a Prometheus, the sampling of GPUs, and the recording of the local
/// machine's last hour if it has GPUs.
pub(crate) fn start(web: &Web) {
    seen::keep_warm(web);
    gpus::start(web);
    let has_cards =
        |executor: Arc<dyn Executor>| executor.facts().nodes.iter().any(|node| !node.gpus.is_empty());
    if !web.clusters().get(LOCAL).is_some_and(has_cards) {
        return;
    }
    let web = web.downgrade();
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(Duration::from_micros(Recent::EVERY.unsigned_abs()));
        loop {
            ticks.tick().await;
            let Some(web) = web.upgrade() else { return };
            if let Err(error) = look_unasked(&web, LOCAL).await {
                tracing::warn!(error = error.detail(), "cannot measure this machine");
            }
        }
    });
}

/// Collects metrics now.
///
/// # Errors
/// The cluster's facts are unavailable. Missing metrics are no error: the reading says so.
async fn found(web: &Web, executor: Arc<dyn Executor>, record: Option<ClusterRecord>) -> ApiResult<Look> {
    let (began, by) = (Instant::now(), found_by(record.as_ref()));
    let facts = clusters::facts(&executor).await?;
    let grafana = record.as_ref().and_then(|record| record.settings.monitoring.grafana.clone());
    let unmeasured = |problems| match executor.told_use() {
        Some(reading) => (Source::Cluster, Reading { problems, ..reading }),
        None => (Source::Nobody, Reading { at: web.now(), problems, ..Reading::default() }),
    };
    let (source, mut reading) = match measure(web, Arc::clone(&executor)).await? {
        Some(reading) => (Source::Machine, reading),
        None => match record.map_or(Ok(None), |record| prometheus_of(&web.keys().sealing, &record)) {
            Ok(None) => unmeasured(Vec::new()),
            Ok(Some(source)) => match cubeloom_monitoring::look(&source, web.now(), PATIENCE).await {
                Ok(reading) => (Source::Prometheus(Box::new(source)), reading),
                Err(error) => unmeasured(vec![error.to_string()]),
            },
            Err(problem) => unmeasured(vec![problem]),
        },
    };
    complete(&mut reading, &facts);
    Ok(Look { facts, reading, source, grafana, by, took: began.elapsed(), ended: Instant::now() })
}

/// When a cluster was added, and the revision of its settings. Revisions restart at 1 if a cluster is removed
/// and another is added under its name.
type By = (Timestamp, u64);

/// The settings to collect with. `None` for the local machine.
fn found_by(record: Option<&ClusterRecord>) -> Option<By> {
    record.map(|record| (record.created_at, record.revision))
}

/// Metrics of an object's pods in a period, from the cluster's Prometheus. `None` without a Prometheus.
///
/// # Errors
/// Prometheus is unreachable.
pub(crate) async fn workers(
    web: &Web,
    cluster: &str,
    object: &str,
    from: Timestamp,
    to: Timestamp,
) -> ApiResult<Option<Vec<WorkerLines>>> {
    let Some(record) = web.store().cluster(cluster).await? else { return Ok(None) };
    let source = prometheus_of(&web.keys().sealing, &record).map_err(ApiError::unavailable)?;
    let Some(source) = source else { return Ok(None) };
    let found = cubeloom_monitoring::workers(&source, object, from, to).await;
    found.map(Some).map_err(|error| ApiError::unavailable(error.to_string()))
}

/// The executor's own measurements, with averages of the last minutes.
async fn measure(web: &Web, executor: Arc<dyn Executor>) -> ApiResult<Option<Reading>> {
    let recent = Arc::clone(&web.monitor().recent);
    let measured = tokio::task::spawn_blocking(move || {
        let reading = executor.measure()?;
        Some(recent.lock().unwrap_or_else(PoisonError::into_inner).take(reading))
    });
    measured.await.map_err(ApiError::internal)
}

/// Fills capacities without metrics from the cluster's facts.
fn complete(reading: &mut Reading, facts: &Facts) {
    for node in &facts.nodes {
        let amount = node.amount();
        let found = reading.nodes.entry(node.name.clone()).or_default();
        found.cpu.capacity.get_or_insert(amount.cpu.0 as f64 / 1000.0);
        found.memory.capacity.get_or_insert(amount.memory.0 as f64);
        found.gpus.capacity.get_or_insert(f64::from(amount.gpus));
    }
}

/// The last hour of a GPU on `node` that `pods` use. Missing metrics are added to `problems`.
async fn history(
    web: &Web,
    look: &Look,
    card: &str,
    node: &str,
    pods: &[String],
    problems: &mut Vec<String>,
) -> CardHistory {
    match &look.source {
        Source::Machine => {
            web.monitor().recent.lock().unwrap_or_else(PoisonError::into_inner).history(card, node)
        }
        Source::Prometheus(source) => {
            cubeloom_monitoring::history(source, card, node, pods).await.unwrap_or_else(|error| {
                problems.push(error.to_string());
                CardHistory::default()
            })
        }
        Source::Cluster | Source::Nobody => CardHistory::default(),
    }
}
