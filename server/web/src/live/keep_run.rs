//! Keeps one run's room: reads what has changed, and tells it.

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

/// Tasks that a snapshot holds; of larger runs the list of tasks tells the others.
const TASKS: u32 = 2_000;
/// More changed tasks than this are read together.
const TOGETHER: usize = 20;
/// How often a run may be looked at.
const PACE: Duration = Duration::from_millis(100);
/// How long a room without listeners stays: they come back after a lost connection.
const LINGER: Duration = Duration::from_secs(60);
/// How often a run is looked at that nobody tells of: with PostgreSQL, another server may lead it.
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
    /// As an event.
    pub(super) fn snapshot(&self, at: Time) -> LiveEvent {
        LiveEvent::Snapshot(Snapshot {
            at,
            runs: vec![self.run.clone()],
            tasks: self.tasks.values().cloned().collect(),
            truncated: self.truncated,
        })
    }
}

/// Makes the room of a run, and keeps it from then on.
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
    /// Until nobody has listened for a while, or the run is gone.
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
            // Something may have been marked just when the time was up.
            if !told && what.is_empty() && web.store().backend() != Backend::Postgres {
                continue;
            }
            what.all |= !told;
            let began = Instant::now();
            match self.look(&web, what).await {
                Ok(true) => {}
                Ok(false) => return self.room.close(),
                Err(error) => {
                    // The database is away: looked at again, whole, when it is back.
                    tracing::debug!(run = %self.run, detail = error.detail(), "a run cannot be read for its listeners");
                    sleep(QUIET).await;
                    self.dirty.mark(|what| what.all = true);
                }
            }
            drop(web);
            sleep(PACE.max(began.elapsed() * 2)).await;
        }
    }

    /// Reads what has changed, and tells it. `false` when the run is gone.
    async fn look(&self, web: &Web, what: What) -> ApiResult<bool> {
        let reader = match Reader::open(web, &self.run).await {
            Err(error) if error.kind() == Kind::NotFound => return Ok(false),
            other => other?,
        };
        let run = reader.run();
        let known = self.room.with(|present| present.run.clone());
        // What has not begun is shown by what the run is.
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

    /// The tasks that may have changed, as they are now.
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
