//! The task that fires schedules: it wakes at the next firing, when something changed, and now and then.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::event::RunEvent;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::sleep;

use super::{fire, look, record};
use crate::error::ApiResult;
use crate::state::{WeakWeb, Web};

/// How often it looks by itself: other servers and the command line store pipelines, too.
const LOOK: Duration = Duration::from_secs(2);
/// How long it rests at least between two looks.
const REST: Duration = Duration::from_millis(20);
/// The same while no more files can be looked for: what is due for that stays so.
const FULL: Duration = Duration::from_millis(500);
/// How many pipelines are looked at in one pass.
const AT_ONCE: usize = 200;

/// Begins to.
pub(crate) fn start(web: &Web) {
    tokio::spawn(run(web.downgrade(), web.events()));
}

async fn run(web: WeakWeb, mut events: broadcast::Receiver<RunEvent>) {
    loop {
        let Some(held) = web.upgrade() else { return };
        let mut stopping = held.stopping();
        let next = match pass(&held).await {
            Ok(next) => next,
            // The database may be away.
            Err(error) => {
                tracing::warn!(error = error.detail(), "schedules were not looked at; it is tried again");
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
        // What happens at the same time is looked at together.
        sleep(REST).await;
    }
}

/// Waits until a run has ended, for which others may wait. False when the engine has ended.
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

/// Looks at what was stored, notes what is due, starts what may start; says when the next firing is.
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
