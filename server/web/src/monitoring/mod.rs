//! What the nodes and cards of clusters do, and who holds them. It is looked at when somebody asks, once for all who ask within some
//! seconds, and where a Prometheus tells of it every minute or so (`seen`); of this machine's cards, which nobody else keeps, the last
//! hour is kept here.

mod cards;
mod holders;
mod idle;
mod people;
#[cfg(test)]
mod sample;
mod seen;
mod sum;

pub(crate) use cards::{card, may_have, nodes};
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

/// What is older than this says so: what nobody has asked for is up to 75 seconds old where a look takes no longer than 3.
const OLD: Duration = Duration::from_secs(80);

/// What was seen of clusters.
#[derive(Default)]
pub(crate) struct Monitor {
    seen: Seen,
    /// The last hour of this machine.
    recent: Arc<Mutex<Recent>>,
}

/// A look at a cluster.
pub(crate) struct Look {
    /// What it has.
    facts: Facts,
    /// What was read.
    reading: Reading,
    source: Source,
    grafana: Option<String>,
    /// By which settings it was found; none for this machine.
    by: Option<By>,
    /// How long it took.
    took: Duration,
    /// When it ended: it may have taken longer than a reading is good for, and those who waited share it all the same.
    ended: Instant,
}

impl Look {
    /// What is missing, and that it is from a while ago.
    fn problems(&self) -> Vec<String> {
        let age = self.ended.elapsed();
        let old = format!("this was found {} s ago, and is asked for anew", age.as_secs());
        self.reading.problems.iter().cloned().chain((age > OLD).then_some(old)).collect()
    }

    /// Whether it takes long to look: whoever measures itself answers at once.
    fn is_slow(&self) -> bool {
        matches!(self.source, Source::Prometheus(_))
    }
}

/// Where a reading is from.
enum Source {
    /// This machine itself.
    Machine,
    /// A Prometheus.
    Prometheus(Box<Prometheus>),
    /// The cluster itself tells some of it.
    Cluster,
    /// Nobody measures the cluster, or who does cannot be asked.
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

/// Begins to look anew at clusters of which a Prometheus tells, and to keep the last hour of this machine's cards, where it has some.
pub(crate) fn start(web: &Web) {
    seen::keep_warm(web);
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
                tracing::warn!(error = error.detail(), "this machine was not measured");
            }
        }
    });
}

/// Looks at a cluster now.
///
/// # Errors
/// The cluster's own facts cannot be had. That nobody measures it is told in the reading.
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

/// Since when a cluster is known, and the revision of its settings: that begins at 1 again where another is added under the
/// name of one that was removed.
type By = (Timestamp, u64);

/// By which settings a cluster is looked at; none for this machine.
fn found_by(record: Option<&ClusterRecord>) -> Option<By> {
    record.map(|record| (record.created_at, record.revision))
}

/// What the pods of an object did between two moments, as the cluster's Prometheus tells; `None` where it has none.
///
/// # Errors
/// Prometheus does not answer, or the database does not.
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

/// What the executor itself measures, with the means of the last minutes.
async fn measure(web: &Web, executor: Arc<dyn Executor>) -> ApiResult<Option<Reading>> {
    let recent = Arc::clone(&web.monitor().recent);
    let measured = tokio::task::spawn_blocking(move || {
        let reading = executor.measure()?;
        Some(recent.lock().unwrap_or_else(PoisonError::into_inner).take(reading))
    });
    measured.await.map_err(ApiError::internal)
}

/// What the cluster itself tells of its nodes stands where nobody has measured it.
fn complete(reading: &mut Reading, facts: &Facts) {
    for node in &facts.nodes {
        let amount = node.amount();
        let found = reading.nodes.entry(node.name.clone()).or_default();
        found.cpu.capacity.get_or_insert(amount.cpu.0 as f64 / 1000.0);
        found.memory.capacity.get_or_insert(amount.memory.0 as f64);
        found.gpus.capacity.get_or_insert(f64::from(amount.gpus));
    }
}

/// The last hour of a card on `node`, held by `pods`; what is missing is said in `problems`.
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
