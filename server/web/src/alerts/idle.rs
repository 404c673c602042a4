//! Finds tasks with idle GPUs, if a channel subscribes to these alerts.
//!
//! It runs in its own task, so that a slow Prometheus delays no message.

use std::time::Duration;

use cubeloom_domain::alert::AlertKind;
use cubeloom_store::StoreError;
use tokio::time::{MissedTickBehavior, interval};

use crate::monitoring;
use crate::state::{WeakWeb, Web};

/// Check interval. Checks never overlap.
const PERIOD: Duration = Duration::from_secs(30);

pub(super) async fn run(web: WeakWeb) {
    let mut period = interval(PERIOD);
    period.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let Some(mut stopping) = web.upgrade().map(|web| web.stopping()) else { return };
        tokio::select! {
            _ = period.tick() => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
        let Some(held) = web.upgrade() else { return };
        tokio::select! {
            raised = raise(&held) => if let Err(error) = raised {
                tracing::debug!(%error, "cannot check for idle GPUs; retrying");
            },
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
    }
}

async fn raise(web: &Web) -> Result<(), StoreError> {
    if web.store().is_wanted(AlertKind::GpuIdle).await? {
        web.store().raise_idle(&monitoring::idle(web).await, web.now()).await?;
    }
    Ok(())
}
