//! Maintains the room of one run: reads changes and publishes them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::{RunId, TaskIx};
use cubeloom_store::Backend;
use tokio::time::{Instant, sleep, timeout};

use super::hub::{Dirty, What};
use super::room::Room;
use crate::api::events::view::{LiveEvent, Snapshot};
use crate::api::runs::view::RunView;
use crate::api::tasks::view::TaskView;
use crate::error::{ApiResult, Kind};
use crate::runs::Reader;
use crate::state::{WeakWeb, Web};
use crate::time::Time;

/// Maximum number of tasks in a snapshot. For larger runs, clients page through the task list.
const TASKS: u32 = 2_000;
/// More changed tasks than this are read together.
const TOGETHER: usize = 20;
/// Minimum interval between reads of a run.
const PACE: Duration = Duration::from_millis(100);
/// How long a room stays without listeners, so that they can reconnect.
const LINGER: Duration = Duration::from_secs(60);
/// Interval at which a run without events is read: with PostgreSQL, another server may lead it.
const QUIET: Duration = Duration::from_secs(1);

/// A run as its listeners know it.
pub(super) struct Present {
    pub(super) run: RunView,
    pub(super) tasks: BTreeMap<u32, TaskView>,
    pub(super) truncated: bool,
}

/// The room of a run.
pub(super) type RunRoom = Room<Present>;

impl Present {
    /// Snapshot of the run, as an event.
    pub(super) fn snapshot(&self, at: Time) -> LiveEvent {
        LiveEvent::Snapshot(Snapshot {
            at,
            runs: vec![self.run.clone()],
            tasks: self.tasks.values().cloned().collect(),
            truncated: self.truncated,
        })
    }
}

/// Creates the room of a run and starts its task.
pub(super) async fn furnish(web: &Web, run: &RunId, dirty: Arc<Dirty>) -> ApiResult<Arc<RunRoom>> {
    let (epoch, first) = web.live().place();
    let reader = Reader::open(web, run).await?;
    let all = u32::try_from(reader.plan.tasks.len()).unwrap_or(u32::MAX);
    let tasks = reader.tasks(0..all.min(TASKS)).await?;
    let present = Present {
        run: reader.run(),
        tasks: tasks.into_iter().map(|task| (task.index, task)).collect(),
        truncated: all > TASKS,
    };
    let room = Arc::new(Room::new(epoch, first, present));
    let keeper = Keeper { web: web.downgrade(), run: run.clone(), room: Arc::clone(&room), dirty };
    tokio::spawn(keeper.keep());
    Ok(room)
}

struct Keeper {
    web: WeakWeb,
    run: RunId,
    room: Arc<RunRoom>,
    dirty: Arc<Dirty>,
}

impl Keeper {
    /// Runs until the room had no listeners for a while, or the run is deleted.
    async fn keep(self) {
        let mut alone_since: Option<Instant> = None;
        loop {
            let told = timeout(QUIET, self.dirty.woken.notified()).await.is_ok();
            let Some(web) = self.web.upgrade() else { return };
            if self.room.listeners() > 0 {
                alone_since = None;
            } else if alone_since.get_or_insert_with(Instant::now).elapsed() > LINGER
                && web.live().leave(&self.run, &self.room)
            {
                return;
            }
            let mut what = self.dirty.take();
            // A mark may have been set just before the timeout.
            if !told && what.is_empty() && web.store().backend() != Backend::Postgres {
                continue;
            }
            what.all |= !told;
            let began = Instant::now();
            match self.look(&web, what).await {
                Ok(true) => {}
                Ok(false) => return self.room.close(),
                Err(error) => {
                    // The database is unavailable: read everything once it is back.
                    tracing::debug!(run = %self.run, detail = error.detail(), "cannot read a run for its event streams");
                    sleep(QUIET).await;
                    self.dirty.mark(|what| what.all = true);
                }
            }
            drop(web);
            sleep(PACE.max(began.elapsed() * 2)).await;
        }
    }

    /// Reads and publishes changes. Returns `false` if the run no longer exists.
    async fn look(&self, web: &Web, what: What) -> ApiResult<bool> {
        let reader = match Reader::open(web, &self.run).await {
            Err(error) if error.kind() == Kind::NotFound => return Ok(false),
            other => other?,
        };
        let run = reader.run();
        let known = self.room.with(|present| present.run.clone());
        // The state of tasks that have not started depends on the run's state.
        let all = what.all || run.state != known.state;
        for task in self.changed(&reader, what, all).await? {
            let same = self.room.with(|present| present.tasks.get(&task.index) == Some(&task));
            if !same {
                self.room.tell(None, |present| {
                    if task.index < TASKS {
                        present.tasks.insert(task.index, task.clone());
                    }
                    LiveEvent::Task { run_id: self.run.to_string(), task: Box::new(task) }
                });
            }
        }
        if run != known {
            self.room.tell(None, |present| {
                present.run = run.clone();
                LiveEvent::Run { run: Box::new(run) }
            });
        }
        Ok(true)
    }

    /// Current views of the tasks that may have changed.
    async fn changed(&self, reader: &Reader<'_>, what: What, all: bool) -> ApiResult<Vec<TaskView>> {
        let mut tasks = what.tasks;
        tasks.extend(what.names.iter().filter_map(|name| reader.plan.find(name)));
        let count = u32::try_from(reader.plan.tasks.len()).unwrap_or(u32::MAX);
        if all || tasks.len() > TOGETHER {
            return reader.tasks(0..count.min(TASKS)).await;
        }
        let mut found = Vec::with_capacity(tasks.len());
        for TaskIx(index) in tasks {
            found.push(reader.task(index).await?);
        }
        Ok(found)
    }
}
