//! What was seen of clusters. A look takes seconds where a cluster is large: whoever asks gets what was found a moment ago, and it is
//! looked anew beside that, once for all.

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

/// So often it is looked anew at clusters that somebody has looked at within a while.
const AGAIN: Duration = Duration::from_secs(30);
const A_WHILE: Duration = Duration::from_secs(15 * 60);
/// And so often at the others, for no more than a twentieth of the time.
const AGAIN_UNASKED: Duration = Duration::from_secs(60);
const TIMES_AS_LONG: u32 = 20;

/// How long after a look that took so long it is looked anew where nobody asks.
fn rest(took: Duration) -> Duration {
    AGAIN_UNASKED.max(took * TIMES_AS_LONG)
}

/// How long what it found is shown while it is looked anew: until then it should have been, by a tick that came late.
fn shown_for(took: Duration) -> Duration {
    rest(took) + AGAIN + took
}

/// So many clusters are looked at at a time while nobody asks: one Prometheus may tell of many.
const AT_ONCE: usize = 2;

/// By cluster.
#[derive(Default)]
pub(super) struct Seen(Mutex<HashMap<String, Arc<Slot>>>);

/// What was seen of a cluster.
#[derive(Default)]
struct Slot {
    /// Who looks holds this; those who have nothing to be shown wait for what is found.
    turn: Arc<Turn<()>>,
    last: Mutex<Option<Arc<Look>>>,
    /// When somebody last asked: a person or a program of theirs, not this server for itself.
    asked: Mutex<Option<Instant>>,
}

impl Slot {
    /// What was found last by these settings.
    fn last(&self, by: Option<By>) -> Option<Arc<Look>> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|look| look.by == by).map(Arc::clone)
    }

    /// The same, where it need not be looked anew.
    fn good(&self, by: Option<By>) -> Option<Arc<Look>> {
        self.last(by).filter(|look| look.ended.elapsed() < GOOD_FOR)
    }

    /// Looks now. One looks at a time, which the caller sees to.
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

    /// Looks anew beside what is shown meanwhile, unless somebody does already.
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
                tracing::debug!(error = error.detail(), "a cluster was not looked at anew");
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

    /// Whether it is time to look anew, so that nobody need wait for it. Ticks come a little early and late.
    fn is_due(&self, by: Option<By>) -> bool {
        let Some(last) = self.last(by) else { return true };
        let age = last.ended.elapsed() + AGAIN / 2;
        age > if self.is_wanted() && last.is_slow() { AGAIN } else { rest(last.took) }
    }
}

/// What a cluster does, for somebody who asks: as it was found within the last seconds, or by a Prometheus a minute ago, and
/// then it is looked anew beside that, for a while more often.
///
/// # Errors
/// There is none of this name, or the database does not answer. That nobody measures it is told in the reading.
pub(super) async fn look(web: &Web, name: &str) -> ApiResult<Arc<Look>> {
    // A name that nobody has is given no slot.
    let known = cluster(web, name).await?;
    let slot = slot(web, name);
    slot.note_asked();
    seen_or_found(web, &slot, known).await
}

/// The same for what the server does of itself: no cluster is looked at more often for that.
///
/// # Errors
/// As of `look`.
pub(super) async fn look_unasked(web: &Web, name: &str) -> ApiResult<Arc<Look>> {
    let known = cluster(web, name).await?;
    seen_or_found(web, &slot(web, name), known).await
}

fn slots(web: &Web) -> MutexGuard<'_, HashMap<String, Arc<Slot>>> {
    web.monitor().seen.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was seen of a cluster, or a place for it; what was seen of clusters that are gone goes.
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
    // Others are as quick as they are asked, and what could not be asked is asked again.
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

/// A cluster, and its settings; this machine has none.
async fn cluster(web: &Web, name: &str) -> ApiResult<(Arc<dyn Executor>, Option<ClusterRecord>)> {
    let executor = web.clusters().get(name).ok_or_else(|| ApiError::not_found("cluster", name))?;
    let record = if name == LOCAL { None } else { web.store().cluster(name).await? };
    Ok((executor, record))
}

/// Looks anew, again and again, at the clusters of which a Prometheus tells, so that who comes need not wait.
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
                Err(error) => tracing::debug!(%error, "clusters were not looked at anew"),
            }
        }
    });
}

/// Looks at a cluster that was added, or has other settings now, if a Prometheus tells of it.
pub(crate) fn look_at_changed(web: &Web, record: ClusterRecord) {
    // Who looks by other settings still is not waited for.
    slots(web).remove(&record.name);
    let web = web.clone();
    tokio::spawn(async move { look_if_due(&web, record).await });
}

/// Looks at a cluster of which a Prometheus tells, if it is time to. Whoever asks meanwhile is shown what was found last.
async fn look_if_due(web: &Web, record: ClusterRecord) {
    let is_told = record.settings.monitoring.prometheus.is_some();
    let Some(executor) = web.clusters().get(&record.name).filter(|_| is_told) else { return };
    let slot = slot(web, &record.name);
    if slot.is_due(found_by(Some(&record)))
        && let Some(looks) = slot.look_beside(web, executor, Some(record))
        && let Err(error) = looks.await
    {
        tracing::warn!(%error, "a look at a cluster has broken off");
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

    /// A cluster at which a look that took so long has ended so long ago, in seconds.
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
