//! Samples the GPUs of all clusters once a minute, from readings that exist anyway. One server at a time does
//! it, by lease.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::executor::{Facts, NodeFacts};
use cubeloom_domain::gpu_series::{minute_of, moment_of};
use cubeloom_domain::monitoring::Reading;
use cubeloom_store::Holding;
use tokio::time::{MissedTickBehavior, interval};

use super::sample::sample;
use crate::error::ApiResult;
use crate::monitoring::{Look, seen};
use crate::state::{WeakWeb, Web};
use crate::{clusters, forecast};

/// How often it is checked what is due. A reading that comes late in a minute still counts for it.
const TICK: Duration = Duration::from_secs(10);
/// A cluster without a recent reading is sampled so late in a minute, without utilization.
const LATE: Duration = Duration::from_secs(45);
/// Longer than a minute: the same server goes on.
const LEASE: Duration = Duration::from_secs(90);

/// What this server has done.
struct Sampler {
    /// Its name for the lease.
    owner: String,
    /// Whether it has had the lease.
    leads: bool,
    /// By cluster: the last minute in which it was sampled, or needed no sample.
    done: BTreeMap<String, i64>,
    /// The last minute in which expired rows were deleted.
    expired: Option<i64>,
}

/// A cluster with GPUs that has no sample of this minute.
struct Due {
    name: String,
    facts: Facts,
    look: Option<Arc<Look>>,
}

pub(super) fn start(web: &Web) {
    let sampler = Sampler { owner: web.new_id(), leads: false, done: BTreeMap::new(), expired: None };
    tokio::spawn(run(web.downgrade(), sampler));
}

async fn run(web: WeakWeb, mut sampler: Sampler) {
    let mut period = interval(TICK);
    period.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let Some(mut stopping) = web.upgrade().map(|web| web.stopping()) else { return };
        tokio::select! {
            _ = period.tick() => {}
            _ = stopping.wait_for(|stopping| *stopping) => break,
        }
        let Some(held) = web.upgrade() else { return };
        let sampled = tokio::select! {
            sampled = sampler.pass(&held) => sampled,
            _ = stopping.wait_for(|stopping| *stopping) => break,
        };
        if let Err(error) = sampled {
            tracing::debug!(error = error.detail(), "cannot sample the GPUs of any cluster; retrying");
            sampler.done.clear();
        }
    }
    // So that another server, or this one after its restart, goes on at once.
    if let Some(web) = web.upgrade().filter(|_| sampler.leads)
        && let Err(error) = web.store().release_gpu_sampling(&sampler.owner).await
    {
        tracing::debug!(%error, "cannot release the lease of the sampling of GPUs; it expires");
    }
}

impl Sampler {
    /// Samples what is due.
    async fn pass(&mut self, web: &Web) -> ApiResult<()> {
        let now = web.now();
        // Also without GPUs: there may have been some. Two servers may do it at once.
        if self.expired != Some(minute_of(now)) {
            web.store().expire_gpu_series(now).await?;
            self.expired = Some(minute_of(now));
        }
        let due = self.due(web, now).await?;
        if due.is_empty() || !web.store().claim_gpu_sampling(&self.owner, now, LEASE).await? {
            return Ok(());
        }
        self.leads = true;
        let holding = web.store().holding().await?;
        for cluster in due {
            if let Err(error) = take(web, &cluster, &holding, now).await {
                tracing::debug!(
                    cluster = cluster.name,
                    error = error.detail(),
                    "cannot sample GPUs; retrying"
                );
                self.done.remove(&cluster.name);
            }
        }
        Ok(())
    }

    /// Clusters to sample now.
    async fn due(&mut self, web: &Web, now: Timestamp) -> ApiResult<Vec<Due>> {
        let minute = minute_of(now);
        let is_late = now.since(moment_of(minute)) >= LATE;
        let all = web.clusters().all();
        self.done.retain(|name, _| all.iter().any(|(known, _)| known == name));
        let mut due = Vec::new();
        for (name, executor) in all {
            if self.done.get(&name) == Some(&minute) {
                continue;
            }
            let look = seen::last(web, &name);
            if look.is_none() && !is_late {
                continue;
            }
            let facts = clusters::facts(&executor).await?;
            self.done.insert(name.clone(), minute);
            if has_gpus(&facts, look.as_deref()) {
                due.push(Due { name, facts, look });
            }
        }
        Ok(due)
    }
}

fn has_gpus(facts: &Facts, look: Option<&Look>) -> bool {
    let has_cards = |look: &Look| look.reading.nodes.values().any(|node| !node.cards.is_empty());
    facts.nodes.iter().any(NodeFacts::has_cards) || look.is_some_and(has_cards)
}

async fn take(web: &Web, cluster: &Due, holding: &[Holding], now: Timestamp) -> ApiResult<()> {
    let here: Vec<Holding> =
        holding.iter().filter(|held| clusters::is_on(held, &cluster.facts)).cloned().collect();
    let queue = forecast::desk(web, &cluster.name).await.map(|desk| desk.pending_gpus());
    let nothing = Reading::default();
    let reading = cluster.look.as_ref().map_or(&nothing, |look| &look.reading);
    let found = sample(&cluster.facts, reading, &here, queue, now);
    web.store().add_gpu_sample(&cluster.name, &found).await?;
    web.store().thin_gpu_series(&cluster.name, now).await?;
    Ok(())
}
