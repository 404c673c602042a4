//! The task that fires schedules. It wakes at the next date, after changes, and periodically.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::event::RunEvent;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::sleep;

use super::{fire, look, record};
use crate::error::ApiResult;
use crate::state::{WeakWeb, Web};

/// Poll interval: other servers and the command line store pipelines, too.
const LOOK: Duration = Duration::from_secs(2);
/// Minimum pause between two passes.
const REST: Duration = Duration::from_millis(20);
/// The pause while the limit of file checks is reached. Due checks stay due.
const FULL: Duration = Duration::from_millis(500);
/// Maximum number of pipelines per pass.
const AT_ONCE: usize = 200;

/// Starts the task.
pub(crate) fn start(web: &Web) {
    tokio::spawn(run(web.downgrade(), web.events()));
}

async fn run(web: WeakWeb, mut events: broadcast::Receiver<RunEvent>) {
    loop {
        let Some(held) = web.upgrade() else { return };
        let mut stopping = held.stopping();
        let next = match pass(&held).await {
            Ok(next) => next,
            // The database may be unreachable.
            Err(error) => {
                tracing::warn!(error = error.detail(), "cannot check schedules; retrying");
                None
            }
        };
        let rest = if held.schedules().is_full() { FULL } else { REST };
        let wait = next.map_or(LOOK, |next| next.since(held.now()).clamp(rest, LOOK));
        tokio::select! {
            () = sleep(wait) => continue,
            () = held.schedules().wake.notified() => {}
            there = one_ended(&mut events) => if !there { return },
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
        // Process simultaneous changes together.
        sleep(REST).await;
    }
}

/// Waits until a run has ended, which others may wait for. Returns `false` when the engine stops.
async fn one_ended(events: &mut broadcast::Receiver<RunEvent>) -> bool {
    loop {
        match events.recv().await {
            Ok(RunEvent::Run(run)) if run.state.is_final() => return true,
            Ok(_) => {}
            Err(RecvError::Lagged(_)) => return true,
            Err(RecvError::Closed) => return false,
        }
    }
}

/// Reads stored schedules, records due dates, and starts runs. Returns the next date.
async fn pass(web: &Web) -> ApiResult<Option<Timestamp>> {
    for of in web.store().unseen_schedules(AT_ONCE).await? {
        look(web, &of).await?;
    }
    let now = web.now();
    for state in web.store().schedules_due(now, AT_ONCE).await? {
        record::due(web, state, now).await?;
    }
    fire::all(web).await?;
    Ok(web.store().next_firing().await?)
}
