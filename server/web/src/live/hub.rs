//! Who listens to what, and where the engine's events go.

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

/// A room that may still be being furnished.
type Slot<R> = Arc<OnceCell<Arc<R>>>;

/// The rooms of runs, with what has to be looked at again.
type Rooms = HashMap<RunId, (Slot<RunRoom>, Arc<Dirty>)>;

/// All rooms.
pub(crate) struct Hub {
    /// Names this process in ids: another one's numbers mean nothing here.
    epoch: String,
    /// The numbers that rooms have used up.
    numbers: AtomicU64,
    runs: Mutex<Rooms>,
    all: Slot<RunsRoom>,
    all_dirty: Arc<Dirty>,
    /// The newest version that was told of each pipeline, by project and name.
    versions: Mutex<HashMap<(String, String), u32>>,
}

/// What has to be looked at again.
#[derive(Default)]
pub(super) struct Dirty {
    what: Mutex<What>,
    pub(super) woken: tokio::sync::Notify,
}

/// What has to be looked at again.
#[derive(Default, PartialEq, Eq)]
pub(super) struct What {
    /// Everything: something was missed.
    pub(super) all: bool,
    /// The run itself.
    pub(super) run: bool,
    /// Tasks by position.
    pub(super) tasks: BTreeSet<TaskIx>,
    /// Tasks by name.
    pub(super) names: BTreeSet<String>,
    /// Runs, in the room of all.
    pub(super) runs: BTreeSet<RunId>,
}

impl What {
    /// Whether there is nothing.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Dirty {
    /// Marks something.
    pub(super) fn mark(&self, mark: impl FnOnce(&mut What)) {
        mark(&mut self.what.lock().unwrap_or_else(PoisonError::into_inner));
        self.woken.notify_one();
    }

    /// Marks that something was missed, for whoever comes to listen: nobody does now.
    fn missed(&self) {
        self.what.lock().unwrap_or_else(PoisonError::into_inner).all = true;
    }

    /// Takes what is marked.
    pub(super) fn take(&self) -> What {
        std::mem::take(&mut self.what.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Hub {
    /// No rooms yet.
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

    /// Begins to listen to the engine.
    pub(crate) fn start(web: &Web) {
        tokio::spawn(dispatch(web.downgrade(), web.events()));
        if let Some(saved) = web.store().saved() {
            tokio::spawn(elsewhere::tell(web.downgrade(), saved));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Rooms> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new room's name in ids, and its first number. Rooms of one subject follow each other, and their numbers too.
    pub(super) fn place(&self) -> (String, u64) {
        (self.epoch.clone(), self.numbers.fetch_add(1 << 32, Ordering::Relaxed))
    }

    /// The room of a run, which is furnished when the first one comes, and a place in it.
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
                // Otherwise it was given up while it was waited for.
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

    /// Gives a run's room up, if nobody is in it.
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

    /// The room of all runs, and a place in it.
    pub(super) async fn all(&self, web: &Web) -> ApiResult<(Arc<RunsRoom>, watch::Receiver<u64>)> {
        let make = || keep_runs::furnish(web, Arc::clone(&self.all_dirty));
        let room = Arc::clone(self.all.get_or_try_init(make).await?);
        let place = room.listen();
        // What happened while nobody listened is looked at now.
        self.all_dirty.woken.notify_one();
        Ok((room, place))
    }

    /// A run is new, or something else than the engine has changed it.
    pub(crate) fn touched(&self, run: &RunId) {
        self.mark(run, |what| what.run = true);
    }

    /// A run is gone.
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

    /// A pipeline has a new version. It may be told twice, by whoever stored it and by the database.
    pub(crate) fn saved(&self, pipeline: SavedPipeline) {
        if !self.is_news(&pipeline) {
            return;
        }
        if let Some(room) = self.all.get() {
            let project: Arc<str> = pipeline.project.as_str().into();
            room.tell(Some(&project), |_| LiveEvent::Pipeline(pipeline));
        }
    }

    /// Whether this version was not told yet; from now on it was.
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

    /// Marks something that no list of runs shows.
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

/// Hands the engine's events on for as long as there is a web.
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
