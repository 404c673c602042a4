//! The task that sends messages. Several servers of one database share what is due; one that dies leaves what it held to the
//! others when its lease has ended.

use std::sync::Arc;
use std::time::Duration;

use cubeloom_alerts::{quiet, retry};
use cubeloom_domain::Timestamp;
use cubeloom_domain::alert::{Delivery, delivery_id};
use cubeloom_domain::measure::{self, Measure};
use cubeloom_store::{Batch, Receiver, Settled, StoreError};
use tokio::sync::Semaphore;
use tokio::time::{MissedTickBehavior, interval};

use super::idle;
use super::quota;
use super::send::{mail, send};
use super::text;
use crate::error::ApiResult;
use crate::state::{WeakWeb, Web};

/// How often it is looked for messages.
const PERIOD: Duration = Duration::from_secs(2);
/// How often it is looked for what nobody reports: what waits, is late or is nearly used up; in periods.
const WAITING: u64 = 15;
/// How many batches are sent at once: a receiver that does not answer holds up one of them.
const AT_ONCE: usize = 8;
/// How long a message is held by the server that sends it.
const LEASE: Duration = Duration::from_secs(60);

/// Begins to.
pub(crate) fn start(web: &Web) {
    tokio::spawn(run(web.downgrade(), web.new_id()));
    tokio::spawn(idle::run(web.downgrade()));
}

async fn run(web: WeakWeb, owner: String) {
    let free = Arc::new(Semaphore::new(AT_ONCE));
    let mut period = interval(PERIOD);
    period.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for looked in 0u64.. {
        let Some(held) = web.upgrade() else { return };
        let mut stopping = held.stopping();
        tokio::select! {
            _ = period.tick() => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
        if looked % WAITING == 0
            && let Err(error) = look(&held).await
        {
            tracing::debug!(
                error = error.detail(),
                "what lasts too long was not looked for; it is tried again"
            );
        }
        // The database may be away: what is due stays so.
        if let Err(error) = pass(&held, &owner, &free).await {
            tracing::debug!(%error, "alerts were not sent; it is tried again");
        }
    }
}

/// Looks for what nobody reports.
async fn look(web: &Web) -> ApiResult<()> {
    let (store, now) = (web.store(), web.now());
    store.raise_waiting(now).await?;
    store.raise_late(now).await?;
    store.raise_budgets(now).await?;
    quota::raise(web).await
}

async fn pass(web: &Web, owner: &str, free: &Arc<Semaphore>) -> Result<(), StoreError> {
    let room = free.available_permits();
    if room == 0 {
        return Ok(());
    }
    for batch in web.store().claim_alerts(owner, web.now(), LEASE, room).await? {
        // There are as many as were free, and nobody else takes any.
        let Ok(permit) = Arc::clone(free).acquire_owned().await else { return Ok(()) };
        let (web, owner) = (web.clone(), owner.to_owned());
        tokio::spawn(async move {
            if let Err(error) = deliver(&web, &owner, batch).await {
                tracing::warn!(%error, "what came of an alert was not stored: it will be sent once more");
            }
            drop(permit);
        });
    }
    Ok(())
}

async fn deliver(web: &Web, owner: &str, batch: Batch) -> Result<(), StoreError> {
    let (store, now) = (web.store(), web.now());
    let Batch { to, deliveries } = &batch;
    let sent = match to {
        Receiver::Channel(channel) => {
            if !channel.enabled {
                return give_up(web, owner, deliveries, "the channel was switched off").await;
            }
            if let Some(end) = channel.rules.quiet.as_ref().and_then(|hours| quiet::end(hours, now)) {
                return store.hold_alerts(owner, deliveries, end, &of_quiet_hours(&channel.id, end)).await;
            }
            send(web, channel, &text::message(web, channel, deliveries).await?).await
        }
        Receiver::Person(person) => mail(web, person, &text::mail(web, &deliveries[0])).await,
        Receiver::Nobody => {
            return give_up(web, owner, deliveries, "the person is sent no such mail any more").await;
        }
    };
    settle(web, owner, deliveries, sent).await
}

async fn give_up(web: &Web, owner: &str, deliveries: &[Delivery], why: &str) -> Result<(), StoreError> {
    web.store().settle_alerts(owner, deliveries, Settled::Failed, why, web.now()).await
}

/// Writes what came of sending.
async fn settle(
    web: &Web,
    owner: &str,
    deliveries: &[Delivery],
    sent: Result<String, String>,
) -> Result<(), StoreError> {
    measure::tell(&Measure::Alert { sent: sent.is_ok() });
    let now = web.now();
    let tries = deliveries.iter().map(|delivery| delivery.tries).max().unwrap_or_default() + 1;
    let (settled, answer) = match sent {
        Ok(said) => (Settled::Sent, said),
        Err(why) => (retry::wait(tries).map_or(Settled::Failed, |wait| Settled::Again(now.plus(wait))), why),
    };
    if settled == Settled::Failed {
        let of = deliveries.first().map(|one| (one.channel.as_str(), one.alert.project.as_str()));
        let (channel, project) = of.unwrap_or_default();
        tracing::warn!(channel, project, answer, "an alert reached nobody");
    }
    web.store().settle_alerts(owner, deliveries, settled, &answer, now).await
}

/// What comes in the same quiet hours goes together.
fn of_quiet_hours(channel: &str, end: Timestamp) -> String {
    delivery_id(end, &[channel, "quiet"])
}
