//! Attempts with idle GPUs, for alerts.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::monitoring::CardHistory;
use cubeloom_monitoring::advice::{Held, Sharing, Thresholds};
use cubeloom_store::{Holding, IdleCards};

use super::holders::Holders;
use super::{Look, Source, look_unasked};
use crate::clusters;
use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Timeout for one cluster.
const PATIENCE: Duration = Duration::from_secs(60);

/// Idle GPUs on all clusters. A cluster whose metrics cannot be read is skipped until the next call.
pub(crate) async fn idle(web: &Web) -> Vec<IdleCards> {
    let mut found = Vec::new();
    for (name, _) in web.clusters().all() {
        match tokio::time::timeout(PATIENCE, of_cluster(web, &name)).await {
            Ok(Ok(idle)) => found.extend(idle),
            Ok(Err(error)) => {
                tracing::debug!(cluster = name, error = error.detail(), "cannot read GPU metrics");
            }
            Err(_) => tracing::debug!(cluster = name, "cannot read GPU metrics: timed out"),
        }
    }
    found
}

/// Counts of an attempt's GPUs, and of the idle ones.
#[derive(Default)]
struct Seen {
    held: usize,
    idle: usize,
    since: f64,
    busy_at: Option<f64>,
}

async fn of_cluster(web: &Web, name: &str) -> ApiResult<Vec<IdleCards>> {
    let executor = web.clusters().get(name).ok_or_else(|| ApiError::not_found("cluster", name))?;
    let (now, thresholds) = (web.now(), web.settings().advice);
    let mut holding = clusters::holding(web, &clusters::facts(&executor).await?).await?;
    // Usually no attempt remains: then do not query the metrics.
    holding.retain(|held| held.attempt.amount.gpus > 0 && seconds(held, now) >= thresholds.idle_for);
    if holding.is_empty() {
        return Ok(Vec::new());
    }
    let look = look_unasked(web, name).await?;
    let holders = Holders::new(&holding, BTreeSet::new());
    let held: BTreeMap<&str, (&str, Vec<&Holding>)> = look
        .reading
        .nodes
        .iter()
        .flat_map(|(node, reading)| reading.cards.iter().map(move |(uuid, card)| (node, uuid, card)))
        .filter(|(_, _, card)| card.present)
        .map(|(node, uuid, card)| (uuid.as_str(), (node.as_str(), holders.of_card(uuid, card).0)))
        .filter(|(_, (_, found))| !found.is_empty())
        .collect();
    let histories = histories(web, &look, &held).await?;
    let mut attempts: BTreeMap<String, (&Holding, Seen)> = BTreeMap::new();
    for (uuid, (_, found)) in &held {
        for one in found {
            let (_, seen) =
                attempts.entry(one.attempt.key.to_string()).or_insert_with(|| (one, Seen::default()));
            seen.held += 1;
            if let Some(history) = histories.get(*uuid) {
                let held = Held {
                    history,
                    seconds: seconds(one, now),
                    cores: None,
                    asked: None,
                    card_memory: None,
                    memory: None,
                    sharing: Sharing::default(),
                };
                seen.take(held, &thresholds);
            }
        }
    }
    let idle = attempts.into_values().filter(|(_, seen)| seen.idle > 0);
    Ok(idle.map(|(held, seen)| seen.told_of(held, &thresholds)).collect())
}

/// Seconds since the attempt started.
fn seconds(held: &Holding, now: Timestamp) -> f64 {
    held.attempt.state.started_at().map_or(0.0, |since| now.since(since).as_secs_f64())
}

/// The last hour of each allocated GPU.
async fn histories(
    web: &Web,
    look: &Look,
    held: &BTreeMap<&str, (&str, Vec<&Holding>)>,
) -> ApiResult<BTreeMap<String, CardHistory>> {
    match &look.source {
        Source::Machine => {
            let recent = web.monitor().recent.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            Ok(held
                .iter()
                .map(|(uuid, (node, _))| ((*uuid).to_owned(), recent.history(uuid, node)))
                .collect())
        }
        Source::Prometheus(source) => {
            let cards: Vec<&str> = held.keys().copied().collect();
            let found = cubeloom_monitoring::usage(source, &cards).await;
            found.map_err(|error| ApiError::unavailable(error.to_string()))
        }
        Source::Cluster | Source::Nobody => Ok(BTreeMap::new()),
    }
}

impl Seen {
    fn take(&mut self, held: Held<'_>, thresholds: &Thresholds) {
        if !held.is_idle(thresholds) {
            return;
        }
        let busy_at = held.busy_at(thresholds);
        self.idle += 1;
        // The attempt is idle from when its last GPU became idle.
        self.since = self.since.max(busy_at.unwrap_or(held.history.start));
        self.busy_at = [self.busy_at, busy_at].into_iter().flatten().reduce(f64::max);
    }

    fn told_of(self, held: &Holding, thresholds: &Thresholds) -> IdleCards {
        let moment = |seconds: f64| Timestamp((seconds * 1e6) as i64);
        let started = held.attempt.state.started_at().unwrap_or_default();
        let minutes = thresholds.idle_for / 60.0;
        IdleCards {
            key: held.attempt.key.clone(),
            project: held.project.clone(),
            pipeline: held.pipeline.clone(),
            user: held.user.clone(),
            since: moment(self.since).max(started),
            busy_at: self.busy_at.map(moment),
            sentence: format!(
                "of its {} GPUs, {} were hardly used for {minutes:.0} minutes",
                self.held, self.idle
            ),
        }
    }
}
