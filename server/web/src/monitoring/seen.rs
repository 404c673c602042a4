//! Cache of cluster readings. Collecting takes seconds on a large cluster: requests get the last reading, and
//! one background refresh serves all of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cubeloom_domain::clusters::{ClusterRecord, LOCAL};
use cubeloom_domain::executor::Executor;
use cubeloom_monitoring::GOOD_FOR;
use futures::{StreamExt, stream};
use tokio::sync::Mutex as Turn;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use super::{By, Look, found, found_by};
use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Refresh interval of clusters that were requested recently.
const AGAIN: Duration = Duration::from_secs(30);
const A_WHILE: Duration = Duration::from_secs(15 * 60);
/// Refresh interval of the others, limited to a twentieth of the time.
const AGAIN_UNASKED: Duration = Duration::from_secs(60);
const TIMES_AS_LONG: u32 = 20;

/// Pause after a collection of this duration, without requests.
fn rest(took: Duration) -> Duration {
    AGAIN_UNASKED.max(took * TIMES_AS_LONG)
}

/// How long a reading is served while a refresh is in progress. A late tick should have replaced it before
/// that.
fn shown_for(took: Duration) -> Duration {
    rest(took) + AGAIN + took
}

/// Concurrent background refreshes: one Prometheus may serve many clusters.
const AT_ONCE: usize = 2;

/// By cluster.
#[derive(Default)]
pub(super) struct Seen(Mutex<HashMap<String, Arc<Slot>>>);

/// Cached reading of a cluster.
#[derive(Default)]
struct Slot {
    /// Lock of the collecting task. Requests without a reading to serve wait for it.
    turn: Arc<Turn<()>>,
    last: Mutex<Option<Arc<Look>>>,
    /// Time of the last request by a user or a client. The server's own reads do not count.
    asked: Mutex<Option<Instant>>,
}

impl Slot {
    /// The last reading with these settings.
    fn last(&self, by: Option<By>) -> Option<Arc<Look>> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|look| look.by == by).map(Arc::clone)
    }

    /// The same, if it is still fresh.
    fn good(&self, by: Option<By>) -> Option<Arc<Look>> {
        self.last(by).filter(|look| look.ended.elapsed() < GOOD_FOR)
    }

    /// Collects now. The caller holds `turn`.
    async fn look(
        &self,
        web: &Web,
        executor: Arc<dyn Executor>,
        record: Option<ClusterRecord>,
    ) -> ApiResult<Arc<Look>> {
        let look = Arc::new(found(web, executor, record).await?);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&look));
        Ok(look)
    }

    /// Refreshes in the background, unless a refresh is already in progress.
    fn look_beside(
        self: &Arc<Self>,
        web: &Web,
        executor: Arc<dyn Executor>,
        record: Option<ClusterRecord>,
    ) -> Option<JoinHandle<()>> {
        let turn = Arc::clone(&self.turn).try_lock_owned().ok()?;
        let (slot, web) = (Arc::clone(self), web.clone());
        Some(tokio::spawn(async move {
            if let Err(error) = slot.look(&web, executor, record).await {
                tracing::debug!(error = error.detail(), "cannot refresh the metrics of a cluster");
            }
            drop(turn);
        }))
    }

    fn note_asked(&self) {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn is_wanted(&self) -> bool {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.is_some_and(|asked| asked.elapsed() < A_WHILE)
    }

    /// Whether a refresh is due, so that requests need not wait. Ticks can be slightly early or late.
    fn is_due(&self, by: Option<By>) -> bool {
        let Some(last) = self.last(by) else { return true };
        let age = last.ended.elapsed() + AGAIN / 2;
        age > if self.is_wanted() && last.is_slow() { AGAIN } else { rest(last.took) }
    }
}

/// The reading of a cluster, for a request. It is a few seconds old, or about a minute with a Prometheus:
/// then this starts a background refresh and shortens the refresh interval for a while.
///
/// # Errors
/// No cluster has this name. Missing metrics are no error: the reading says so.
pub(super) async fn look(web: &Web, name: &str) -> ApiResult<Arc<Look>> {
    // Do not create a slot for an unknown name.
    let known = cluster(web, name).await?;
    let slot = slot(web, name);
    slot.note_asked();
    seen_or_found(web, &slot, known).await
}

/// The same for the server's own reads, which do not shorten the refresh interval.
///
/// # Errors
/// See [`look`].
pub(super) async fn look_unasked(web: &Web, name: &str) -> ApiResult<Arc<Look>> {
    let known = cluster(web, name).await?;
    seen_or_found(web, &slot(web, name), known).await
}

/// The last reading that pages would show, without collecting one.
pub(super) fn last(web: &Web, name: &str) -> Option<Arc<Look>> {
    let slot = slots(web).get(name).map(Arc::clone)?;
    let last = slot.last.lock().unwrap_or_else(PoisonError::into_inner);
    last.as_ref().filter(|look| look.ended.elapsed() < shown_for(look.took)).map(Arc::clone)
}

fn slots(web: &Web) -> MutexGuard<'_, HashMap<String, Arc<Slot>>> {
    web.monitor().seen.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The cluster's slot, created if missing. Removes slots of clusters that no longer exist.
fn slot(web: &Web, name: &str) -> Arc<Slot> {
    let mut slots = slots(web);
    slots.retain(|name, _| web.clusters().get(name).is_some());
    Arc::clone(slots.entry(name.to_owned()).or_default())
}

async fn seen_or_found(
    web: &Web,
    slot: &Arc<Slot>,
    (executor, record): (Arc<dyn Executor>, Option<ClusterRecord>),
) -> ApiResult<Arc<Look>> {
    let by = found_by(record.as_ref());
    if let Some(look) = slot.good(by) {
        return Ok(look);
    }
    // Only Prometheus is slow enough to serve a stale reading. A failed reading of another source is retried
    // at once.
    let is_shown = |look: &Arc<Look>| look.is_slow() && look.ended.elapsed() < shown_for(look.took);
    if let Some(look) = slot.last(by).filter(is_shown) {
        slot.look_beside(web, executor, record);
        return Ok(look);
    }
    let _turn = slot.turn.lock().await;
    match slot.good(by) {
        Some(look) => Ok(look),
        None => slot.look(web, executor, record).await,
    }
}

/// A cluster and its settings. The local machine has none.
async fn cluster(web: &Web, name: &str) -> ApiResult<(Arc<dyn Executor>, Option<ClusterRecord>)> {
    let executor = web.clusters().get(name).ok_or_else(|| ApiError::not_found("cluster", name))?;
    let record = if name == LOCAL { None } else { web.store().cluster(name).await? };
    Ok((executor, record))
}

/// Periodically refreshes clusters with a Prometheus, so that requests need not wait.
pub(super) fn keep_warm(web: &Web) {
    let web = web.downgrade();
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(AGAIN);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let Some(web) = web.upgrade() else { return };
            match web.store().clusters().await {
                Ok(all) => stream::iter(all).for_each_concurrent(AT_ONCE, |one| look_if_due(&web, one)).await,
                Err(error) => tracing::debug!(%error, "cannot refresh the metrics of the clusters"),
            }
        }
    });
}

/// Refreshes a cluster that was added or whose settings changed, if it has a Prometheus.
pub(crate) fn look_at_changed(web: &Web, record: ClusterRecord) {
    // Do not wait for a collection that still uses the old settings.
    slots(web).remove(&record.name);
    let web = web.clone();
    tokio::spawn(async move { look_if_due(&web, record).await });
}

/// Refreshes a cluster with a Prometheus if it is due. Meanwhile, requests get the last reading.
async fn look_if_due(web: &Web, record: ClusterRecord) {
    let is_told = record.settings.monitoring.prometheus.is_some();
    let Some(executor) = web.clusters().get(&record.name).filter(|_| is_told) else { return };
    let slot = slot(web, &record.name);
    if slot.is_due(found_by(Some(&record)))
        && let Some(looks) = slot.look_beside(web, executor, Some(record))
        && let Err(error) = looks.await
    {
        tracing::warn!(%error, "collecting the metrics of a cluster failed");
    }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::Timestamp;
    use cubeloom_domain::monitoring::{MonitoringSettings, Reading};
    use cubeloom_monitoring::Prometheus;
    use cubeloom_testkit::builders;

    use super::super::Source;
    use super::*;

    const BY: Option<By> = Some((Timestamp(0), 1));

    /// A cluster whose collection took `took` seconds and ended `ago` seconds ago.
    fn seen(took: u64, ago: u64) -> Slot {
        let told = MonitoringSettings {
            prometheus: Some("http://127.0.0.1:9".into()),
            ..MonitoringSettings::default()
        };
        let look = Look {
            facts: builders::facts("1", "1Gi"),
            reading: Reading::default(),
            source: Source::Prometheus(Box::new(Prometheus::of(&told, None).unwrap().unwrap())),
            grafana: None,
            by: BY,
            took: Duration::from_secs(took),
            ended: Instant::now().checked_sub(Duration::from_secs(ago)).unwrap(),
        };
        Slot { last: Mutex::new(Some(Arc::new(look))), ..Slot::default() }
    }

    #[test]
    fn it_is_looked_anew_about_once_a_minute_and_twice_where_somebody_asks() {
        assert!(!seen(1, 20).is_due(BY) && seen(1, 50).is_due(BY));
        let wanted = |ago| {
            let slot = seen(1, ago);
            slot.note_asked();
            slot.is_due(BY)
        };
        assert!(!wanted(10) && wanted(20));
        assert!(Slot::default().is_due(BY), "nobody has looked yet");
        assert!(seen(1, 0).is_due(Some((Timestamp(0), 2))), "it has other settings");
    }

    #[test]
    fn a_look_that_takes_long_is_repeated_seldom_and_shown_until_it_is() {
        assert!(!seen(10, 150).is_due(BY) && seen(10, 190).is_due(BY));
        for took in [0, 3, 10, 20].map(Duration::from_secs) {
            assert!(shown_for(took) > rest(took) + took, "{took:?}");
        }
    }
}
