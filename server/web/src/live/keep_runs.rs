//! Maintains the room of all runs: new and changed ones. Each listener gets those of its projects.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::RunId;
use cubeloom_domain::record::RunRecord;
use cubeloom_domain::state::RunState;
use cubeloom_store::{Backend, RunFilter};
use tokio::time::{Instant, sleep, timeout};

use super::hub::Dirty;
use super::room::Room;
use crate::api::events::view::{LiveEvent, Snapshot};
use crate::api::runs::view::RunView;
use crate::error::ApiResult;
use crate::runs::reader;
use crate::state::{WeakWeb, Web};
use crate::time::Time;

/// Runs in a snapshot: the newest ones, and as many active ones.
const RUNS: usize = 100;
/// Minimum interval between reads.
const PACE: Duration = Duration::from_millis(250);
/// Interval at which runs without events are read: with PostgreSQL, other servers may lead them.
const QUIET: Duration = Duration::from_secs(1);

/// Active runs as listeners know them.
pub(super) type Known = BTreeMap<RunId, RunView>;

/// The room of all runs.
pub(super) type RunsRoom = Room<Known>;

/// Creates the room, and maintains it while the server runs.
pub(super) async fn furnish(web: &Web, dirty: Arc<Dirty>) -> ApiResult<Arc<RunsRoom>> {
    let (epoch, first) = web.live().place();
    let mut known = Known::new();
    for record in live(web, None).await? {
        known.insert(record.id.clone(), reader::shown(web, &record).await?);
    }
    let room = Arc::new(Room::new(epoch, first, known));
    tokio::spawn(keep(web.downgrade(), Arc::clone(&room), dirty));
    Ok(room)
}

/// Snapshot of these projects' runs, as an event.
pub(super) async fn snapshot(web: &Web, projects: Option<Vec<String>>) -> ApiResult<LiveEvent> {
    let filter = RunFilter { projects: projects.clone(), limit: Some(RUNS + 1), ..RunFilter::default() };
    let mut records = web.store().runs(&filter).await?;
    let truncated = records.len() > RUNS;
    records.truncate(RUNS);
    let oldest = records.last().map(|run| run.id.clone());
    let more = live(web, projects).await?;
    records.extend(more.into_iter().filter(|run| oldest.as_ref().is_some_and(|oldest| run.id < *oldest)));
    let mut runs = Vec::with_capacity(records.len());
    for record in &records {
        runs.push(reader::shown(web, record).await?);
    }
    Ok(LiveEvent::Snapshot(Snapshot { at: Time(web.now()), runs, tasks: Vec::new(), truncated }))
}

/// The newest active runs.
async fn live(web: &Web, projects: Option<Vec<String>>) -> ApiResult<Vec<RunRecord>> {
    let states = vec![RunState::Queued, RunState::Running, RunState::Cancelling];
    let filter = RunFilter { projects, states, limit: Some(RUNS), ..RunFilter::default() };
    Ok(web.store().runs(&filter).await?)
}

async fn keep(web: WeakWeb, room: Arc<RunsRoom>, dirty: Arc<Dirty>) {
    loop {
        let told = timeout(QUIET, dirty.woken.notified()).await.is_ok();
        let Some(web) = web.upgrade() else { return };
        // Marks stay for later listeners.
        if room.listeners() == 0 {
            continue;
        }
        let what = dirty.take();
        // A mark may have been set just before the timeout.
        if !told && what.is_empty() && web.store().backend() != Backend::Postgres {
            continue;
        }
        let began = Instant::now();
        let runs = what.runs.into_iter().collect();
        if let Err(error) = look(&web, &room, runs, what.all || !told).await {
            tracing::debug!(detail = error.detail(), "cannot read runs for their event streams");
            sleep(QUIET).await;
            dirty.mark(|what| what.all = true);
        }
        drop(web);
        sleep(PACE.max(began.elapsed() * 2)).await;
    }
}

/// Reads these runs, or all that may have changed, and publishes changes.
async fn look(web: &Web, room: &RunsRoom, mut runs: Vec<RunId>, all: bool) -> ApiResult<()> {
    if all {
        runs.extend(room.with(|known| known.keys().cloned().collect::<Vec<_>>()));
        runs.extend(live(web, None).await?.into_iter().map(|run| run.id));
        let newest = RunFilter { limit: Some(RUNS), ..RunFilter::default() };
        runs.extend(web.store().runs(&newest).await?.into_iter().map(|run| run.id));
        runs.sort();
        runs.dedup();
    }
    for id in runs {
        let Some(record) = web.store().run(&id).await? else { continue };
        let view = reader::shown(web, &record).await?;
        let known = room.with(|known| known.get(&id).cloned());
        if known.as_ref() == Some(&view) {
            continue;
        }
        let project: Arc<str> = record.project.as_str().into();
        room.tell(Some(&project), |known| {
            known.insert(id, view.clone());
            forget_ended(known);
            LiveEvent::Run { run: Box::new(view) }
        });
    }
    Ok(())
}

/// Keeps ended runs only for a while, so that they are not published again.
fn forget_ended(known: &mut Known) {
    while known.len() > RUNS * 20 {
        let ended = known.iter().find(|(_, run)| run.ended_at.is_some()).map(|(id, _)| id.clone());
        let Some(oldest) = ended else { return };
        known.remove(&oldest);
    }
}
