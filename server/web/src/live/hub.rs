//! Rooms and their listeners, and the distribution of the engine's events.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cubeloom_domain::event::RunEvent;
use cubeloom_domain::record::RunRecord;
use cubeloom_domain::{RunId, TaskIx};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OnceCell, watch};

use super::elsewhere;
use super::keep_run::{self, RunRoom};
use super::keep_runs::{self, RunsRoom};
use crate::api::events::view::{LiveEvent, SavedPipeline};
use crate::error::ApiResult;
use crate::state::{WeakWeb, Web};

/// A room that may still be initializing.
type Slot<R> = Arc<OnceCell<Arc<R>>>;

/// Rooms of runs, each with its pending reads.
type Rooms = HashMap<RunId, (Slot<RunRoom>, Arc<Dirty>)>;

/// All rooms.
pub(crate) struct Hub {
    /// Identifies this process in event ids: numbers of another process are invalid here.
    epoch: String,
    /// The next number for rooms.
    numbers: AtomicU64,
    runs: Mutex<Rooms>,
    all: Slot<RunsRoom>,
    all_dirty: Arc<Dirty>,
    /// The newest published version of each pipeline, by project and name.
    versions: Mutex<HashMap<(String, String), u32>>,
}

/// Pending reads, and their notification.
#[derive(Default)]
pub(super) struct Dirty {
    what: Mutex<What>,
    pub(super) woken: tokio::sync::Notify,
}

/// What must be read again.
#[derive(Default, PartialEq, Eq)]
pub(super) struct What {
    /// Everything: an event was missed.
    pub(super) all: bool,
    pub(super) run: bool,
    /// Tasks, by position.
    pub(super) tasks: BTreeSet<TaskIx>,
    /// Tasks, by name.
    pub(super) names: BTreeSet<String>,
    /// Runs, in the room of all runs.
    pub(super) runs: BTreeSet<RunId>,
}

impl What {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Dirty {
    /// Marks something to be read.
    pub(super) fn mark(&self, mark: impl FnOnce(&mut What)) {
        mark(&mut self.what.lock().unwrap_or_else(PoisonError::into_inner));
        self.woken.notify_one();
    }

    /// Records missed events for future listeners, as there are none now.
    fn missed(&self) {
        self.what.lock().unwrap_or_else(PoisonError::into_inner).all = true;
    }

    /// Takes the marks.
    pub(super) fn take(&self) -> What {
        std::mem::take(&mut self.what.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Hub {
    pub(crate) fn new(epoch: u64) -> Self {
        Self {
            epoch: format!("{epoch:x}"),
            numbers: AtomicU64::new(0),
            runs: Mutex::default(),
            all: Slot::default(),
            all_dirty: Arc::default(),
            versions: Mutex::default(),
        }
    }

    /// Subscribes to the engine's events.
    pub(crate) fn start(web: &Web) {
        tokio::spawn(dispatch(web.downgrade(), web.events()));
        if let Some(saved) = web.store().saved() {
            tokio::spawn(elsewhere::tell(web.downgrade(), saved));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Rooms> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Epoch and first number of a new room. Rooms of one subject follow each other, and so do their numbers.
    pub(super) fn place(&self) -> (String, u64) {
        (self.epoch.clone(), self.numbers.fetch_add(1 << 32, Ordering::Relaxed))
    }

    /// The room of a run, created for the first listener, and a subscription to it.
    pub(super) async fn run(
        &self,
        web: &Web,
        run: &RunId,
    ) -> ApiResult<(Arc<RunRoom>, watch::Receiver<u64>)> {
        loop {
            let (slot, dirty) = self.lock().entry(run.clone()).or_default().clone();
            let furnished = slot.get_or_try_init(|| keep_run::furnish(web, run, Arc::clone(&dirty))).await;
            let mut runs = self.lock();
            let same = runs.get(run).is_some_and(|(present, _)| Arc::ptr_eq(present, &slot));
            match furnished {
                // Otherwise, the room was removed in the meantime.
                Ok(room) if same => return Ok((Arc::clone(room), room.listen())),
                Ok(_) => {}
                Err(error) => {
                    if same && !slot.initialized() {
                        runs.remove(run);
                    }
                    return Err(error);
                }
            }
        }
    }

    /// Removes a run's room unless it has listeners.
    pub(super) fn leave(&self, run: &RunId, room: &Arc<RunRoom>) -> bool {
        let mut runs = self.lock();
        if room.listeners() > 0 {
            return false;
        }
        if runs.get(run).is_some_and(|(slot, _)| slot.get().is_some_and(|present| Arc::ptr_eq(present, room)))
        {
            runs.remove(run);
        }
        true
    }

    /// The room of all runs, and a subscription to it.
    pub(super) async fn all(&self, web: &Web) -> ApiResult<(Arc<RunsRoom>, watch::Receiver<u64>)> {
        let make = || keep_runs::furnish(web, Arc::clone(&self.all_dirty));
        let room = Arc::clone(self.all.get_or_try_init(make).await?);
        let place = room.listen();
        // Read what happened while there were no listeners.
        self.all_dirty.woken.notify_one();
        Ok((room, place))
    }

    /// Marks a run that is new, or that something other than the engine has changed.
    pub(crate) fn touched(&self, run: &RunId) {
        self.mark(run, |what| what.run = true);
    }

    /// Publishes that a run was deleted.
    pub(crate) fn deleted(&self, run: &RunRecord) {
        let event = || LiveEvent::Deleted { run_id: run.id.to_string() };
        if let Some(room) = self.lock().get(&run.id).and_then(|(slot, _)| slot.get().cloned()) {
            room.tell(None, |_| event());
            room.close();
        }
        if let Some(room) = self.all.get() {
            let project: Arc<str> = run.project.as_str().into();
            room.tell(Some(&project), |known| {
                known.remove(&run.id);
                event()
            });
        }
    }

    /// Publishes a new pipeline version. Both the server that stores it and the database may report it.
    pub(crate) fn saved(&self, pipeline: SavedPipeline) {
        if !self.is_news(&pipeline) {
            return;
        }
        if let Some(room) = self.all.get() {
            let project: Arc<str> = pipeline.project.as_str().into();
            room.tell(Some(&project), |_| LiveEvent::Pipeline(pipeline));
        }
    }

    /// Records the version. Returns whether it was unpublished.
    fn is_news(&self, pipeline: &SavedPipeline) -> bool {
        let mut versions = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
        let told = versions.entry((pipeline.project.clone(), pipeline.name.clone())).or_default();
        let news = pipeline.version > *told;
        *told = pipeline.version.max(*told);
        news
    }

    fn mark(&self, run: &RunId, mark: impl FnOnce(&mut What)) {
        if let Some((_, dirty)) = self.lock().get(run) {
            dirty.mark(mark);
        }
        match self.all.get() {
            Some(room) if room.listeners() > 0 => self.all_dirty.mark(|what| {
                what.runs.insert(run.clone());
            }),
            Some(_) => self.all_dirty.missed(),
            None => {}
        }
    }

    fn take(&self, event: &RunEvent) {
        match event {
            RunEvent::Run(run) => self.mark(&run.id, |what| what.run = true),
            RunEvent::Instance(instance) => self.mark(&instance.run, |what| {
                what.tasks.insert(instance.task);
            }),
            RunEvent::Attempt(attempt) => self.of_run(&attempt.key.run, |what| {
                what.tasks.insert(attempt.task);
            }),
            RunEvent::Preparing(key, _) | RunEvent::Progress(key, _) => self.of_run(&key.run, |what| {
                what.names.insert(key.task.clone());
            }),
        }
    }

    /// Marks something that lists of runs do not show.
    fn of_run(&self, run: &RunId, mark: impl FnOnce(&mut What)) {
        if let Some((_, dirty)) = self.lock().get(run) {
            dirty.mark(mark);
        }
    }

    fn missed(&self) {
        for (_, dirty) in self.lock().values() {
            dirty.mark(|what| what.all = true);
        }
        self.all_dirty.mark(|what| what.all = true);
    }
}

/// Dispatches the engine's events while the server runs.
async fn dispatch(web: WeakWeb, mut events: Receiver<RunEvent>) {
    loop {
        let event = events.recv().await;
        let Some(web) = web.upgrade() else { return };
        match event {
            Ok(event) => {
                web.runs().notes().take(&event);
                web.live().take(&event);
            }
            Err(RecvError::Lagged(_)) => web.live().missed(),
            Err(RecvError::Closed) => return,
        }
    }
}
