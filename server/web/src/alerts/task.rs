//! The task that sends messages. Servers that share a database share the due messages. When a server dies,
//! the others take over its messages once the lease ends.

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

/// Poll interval for messages.
const PERIOD: Duration = Duration::from_secs(2);
/// Interval of the checks for pending, late and nearly exhausted items, in periods.
const WAITING: u64 = 15;
/// Maximum concurrent batches: a receiver that does not respond blocks only one.
const AT_ONCE: usize = 8;
/// Duration of the lease on a message that is being sent.
const LEASE: Duration = Duration::from_secs(60);

/// Starts the task.
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
            tracing::debug!(error = error.detail(), "cannot check for late runs and long waits; retrying");
        }
        // After a database error, due messages stay due.
        if let Err(error) = pass(&held, &owner, &free).await {
            tracing::debug!(%error, "cannot send alerts; retrying");
        }
    }
}

/// Raises alerts that have no triggering event.
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
        // At most as many as there are free permits, and only this task takes them.
        let Ok(permit) = Arc::clone(free).acquire_owned().await else { return Ok(()) };
        let (web, owner) = (web.clone(), owner.to_owned());
        tokio::spawn(async move {
            if let Err(error) = deliver(&web, &owner, batch).await {
                tracing::warn!(%error, "cannot store the result of an alert: it will be sent again");
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
                return give_up(web, owner, deliveries, "the channel is disabled").await;
            }
            if let Some(end) = channel.rules.quiet.as_ref().and_then(|hours| quiet::end(hours, now)) {
                return store.hold_alerts(owner, deliveries, end, &of_quiet_hours(&channel.id, end)).await;
            }
            send(web, channel, &text::message(web, channel, deliveries).await?).await
        }
        Receiver::Person(person) => mail(web, person, &text::mail(web, &deliveries[0])).await,
        Receiver::Nobody => {
            return give_up(web, owner, deliveries, "the user no longer receives this mail").await;
        }
    };
    settle(web, owner, deliveries, sent).await
}

async fn give_up(web: &Web, owner: &str, deliveries: &[Delivery], why: &str) -> Result<(), StoreError> {
    web.store().settle_alerts(owner, deliveries, Settled::Failed, why, web.now()).await
}

/// Stores the result of a delivery.
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
        tracing::warn!(channel, project, answer, "an alert was not delivered");
    }
    web.store().settle_alerts(owner, deliveries, settled, &answer, now).await
}

/// Group key of messages in the same quiet hours, which are sent together.
fn of_quiet_hours(channel: &str, end: Timestamp) -> String {
    delivery_id(end, &[channel, "quiet"])
}
