//! The loop: observe, decide, commit, apply. Owns everything that waits.
//!
//! Nothing on the way from a worker's exit to the next worker's start waits for a timer: executors report into a
//! channel, and a report starts a pass. The period only looks for lost wake-ups and renews leases.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_admission::{Desk, Settings};
use cubeloom_domain::clusters::{Clusters, RUNS};
use cubeloom_domain::event::RunEvent;
use cubeloom_domain::executor::{Event, Executor, Observation, Observer};
use cubeloom_domain::failpoint;
use cubeloom_domain::record::{Changes, RunRecord};
use cubeloom_domain::state::RunState;
use cubeloom_domain::{Clock, RunId, Timestamp};
use cubeloom_store::{Lease, Store, StoreError};
use thiserror::Error;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};

use crate::cache::{self, Roots};
use crate::copies::Copies;
use crate::core::{Action, Answer, Core, Demand};
use crate::prepare;

/// How many reports one pass takes at the most; more would delay what the first of them lead to.
const REPORTS_A_PASS: usize = 4096;
/// How many runs one look takes into memory.
const RUNS_A_LOOK: usize = 1000;
/// How long a change that is not urgent waits for one that is.
const LATER: Duration = Duration::from_millis(50);
/// How long to wait before a commit that failed is tried again.
const COMMIT_AGAIN: Duration = Duration::from_millis(200);
/// Of how many failed commits in a row one is logged: one in ten seconds.
const FAILURES_A_LINE: u32 = 50;

/// What the engine needs to be told.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Who holds the leases: the same after a restart, so that it need not wait for them to expire. At most one
    /// process may use a name at a time.
    pub owner: String,
    /// How long a lease holds without being renewed.
    pub lease: Duration,
    /// How often to look for runs and wishes whose wake-up was lost.
    pub period: Duration,
    /// The times by which jobs are let in. Its `grace` is the time between TERM and KILL of every stop.
    pub sharing: Settings,
    /// Copies of pipelines' folders, one a digest.
    pub code: std::path::PathBuf,
    /// The projects' shared storage, one folder a project.
    pub workspace: std::path::PathBuf,
}

/// Why the engine stopped.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The store refused what must work at the start.
    #[error("the engine could not start")]
    Start(#[source] StoreError),
}

/// A running engine.
pub struct Handle {
    stop: watch::Sender<bool>,
    wake: mpsc::UnboundedSender<Message>,
    events: broadcast::Sender<RunEvent>,
    task: JoinHandle<()>,
}

impl Handle {
    /// Asks the engine to look at the store now.
    pub fn wake(&self) {
        let _ = self.wake.send(Message::Look);
    }

    /// What happens from now on.
    pub fn events(&self) -> broadcast::Receiver<RunEvent> {
        self.events.subscribe()
    }

    /// The desk of a cluster as it is now, or was a moment ago where it is large: a copy, to be asked what would be. `None`
    /// where the engine knows no such cluster, or has ended.
    pub async fn desk(&self, cluster: &str) -> Option<Arc<Desk>> {
        let (reply, answer) = oneshot::channel();
        self.wake.send(Message::Desk(cluster.to_owned(), reply)).ok()?;
        answer.await.ok().flatten()
    }

    /// Ends the engine after its present pass and gives its leases back. Jobs go on.
    pub async fn stop(self) {
        let _ = self.stop.send(true);
        let _ = self.task.await;
    }

    /// Ends the engine at whatever it is doing, as a crash would. Its leases stay.
    pub async fn abort(self) {
        self.task.abort();
        let _ = self.task.await;
    }

    /// Whether the engine has ended by itself, which it does not unless it panicked.
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }
}

enum Message {
    Observed(Observation),
    Answered(Box<Answer>),
    Prepared(RunId, Result<(), String>),
    Look,
    /// More jobs could start than one pass starts.
    Admit,
    /// Somebody wants a copy of a cluster's desk.
    Desk(String, oneshot::Sender<Option<Arc<Desk>>>),
}

/// Passes reports on into the engine's channel.
struct Reports(mpsc::UnboundedSender<Message>);

impl Observer for Reports {
    fn observed(&self, observation: Observation) {
        let _ = self.0.send(Message::Observed(observation));
    }
}

/// The engine.
pub struct Engine {
    config: EngineConfig,
    store: Store,
    clock: Arc<dyn Clock>,
    clusters: Clusters,
    /// Starts the runs of other pipelines that tasks want.
    runs: Option<Arc<dyn Executor>>,
    core: Core,
    lease: Lease,
    renew_at: Timestamp,
    /// The wishes of this pass: not fulfilled for a run that turns out to be another server's.
    wished: Vec<(RunId, i64)>,
    /// Until when changes that are not urgent wait for others.
    store_by: Option<Instant>,
    desks: Copies,
    sender: mpsc::UnboundedSender<Message>,
    events: broadcast::Sender<RunEvent>,
}

impl Engine {
    /// Starts the engine over these clusters, by name. `runs` starts the runs of other pipelines that tasks want; without
    /// it, such tasks wait.
    ///
    /// # Errors
    /// When the store cannot be used.
    pub async fn start(
        config: EngineConfig,
        store: Store,
        clusters: Clusters,
        runs: Option<Arc<dyn Executor>>,
        clock: Arc<dyn Clock>,
    ) -> Result<Handle, EngineError> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let (events, _) = broadcast::channel(4096);
        let (stop, stopping) = watch::channel(false);
        store.release_all(&config.owner).await.map_err(EngineError::Start)?;
        let lease = Lease { owner: config.owner.clone() };
        let settings = config.sharing.clone();
        let mut engine = Self {
            config,
            store,
            clock,
            clusters,
            runs,
            core: Core::new(settings),
            lease,
            renew_at: Timestamp::default(),
            wished: Vec::new(),
            store_by: None,
            desks: Copies::default(),
            sender: sender.clone(),
            events: events.clone(),
        };
        engine.join_clusters().await;
        let task = tokio::spawn(engine.run(receiver, stopping));
        Ok(Handle { stop, wake: sender, events, task })
    }

    async fn run(mut self, mut receiver: mpsc::UnboundedReceiver<Message>, mut stop: watch::Receiver<bool>) {
        let mut wakes = self.store.wakes();
        let mut look = true;
        let mut next_look = Instant::now();
        let mut messages = Vec::with_capacity(REPORTS_A_PASS);
        loop {
            if look {
                wakes.mark_unchanged();
                self.look().await;
                next_look = Instant::now() + self.config.period;
            }
            if self.pass(&mut messages, &mut stop).await.is_break() {
                break;
            }
            look = false;
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => break,
                _ = receiver.recv_many(&mut messages, REPORTS_A_PASS) => {
                    // Where reports never cease, none of the branches below has its turn.
                    look = messages.iter().any(|message| matches!(message, Message::Look))
                        || wakes.has_changed().unwrap_or(false)
                        || next_look <= Instant::now();
                }
                _ = wakes.changed() => look = true,
                () = self.next_timer() => {}
                () = at(self.store_by) => {}
                () = sleep_until(next_look) => look = true,
            }
        }
        if let Err(error) = self.store.release_all(&self.config.owner).await {
            tracing::warn!(%error, "leases were not given back; they expire by themselves");
        }
    }

    async fn next_timer(&self) {
        match self.core.next_timer() {
            Some(at) => sleep(at.since(self.clock.now())).await,
            None => std::future::pending().await,
        }
    }

    /// Takes in what clusters there are now. The runs in memory of one that is new are loaded again: that is how jobs are
    /// taken up.
    async fn join_clusters(&mut self) {
        let sender = self.sender.clone();
        let attach = |executor: &Arc<dyn Executor>| executor.attach(Arc::new(Reports(sender.clone())));
        let mut clusters = self.clusters.all();
        clusters.extend(self.runs.clone().map(|runs| (RUNS.to_owned(), runs)));
        let runs = self.core.join(clusters, attach);
        let now = self.clock.now();
        for run in runs {
            self.core.forget(&run);
            self.take_run(&run, now).await;
        }
    }

    /// Looks at the clusters and at the store: leases, runs that nobody has, wishes.
    async fn look(&mut self) {
        self.join_clusters().await;
        if let Err(error) = self.try_look().await {
            tracing::warn!(%error, "the database did not answer; looking again soon");
        }
    }

    async fn try_look(&mut self) -> Result<(), StoreError> {
        let now = self.clock.now();
        let owner = self.config.owner.clone();
        self.core.set_queues(self.store.queues().await?);
        self.core.set_limits(self.store.limits().await?);
        if now >= self.renew_at {
            self.renew(now).await?;
        }
        let mut acquired = self.store.acquire(&owner, now, self.config.lease, RUNS_A_LOOK).await?;
        // The oldest first, also in the queue.
        acquired.sort();
        for run in &acquired {
            self.take_run(run, now).await;
        }
        if !acquired.is_empty() {
            self.core.start_queued_runs(now);
        }
        self.core.set_held_elsewhere(&self.store.held_elsewhere(&owner).await?, now);
        if self.core.counts_starts() {
            let minute_ago = Timestamp(now.0 - 60_000_000);
            self.core.set_limited_starts(self.store.limited_starts(minute_ago).await?, now);
        }
        let wishes = self.store.wishes(&self.core.run_ids()).await?;
        for wish in wishes {
            self.wished.push((wish.run.clone(), wish.id));
            self.core.wish(wish, now);
        }
        Ok(())
    }

    /// Prolongs the leases, well before they expire.
    async fn renew(&mut self, now: Timestamp) -> Result<(), StoreError> {
        self.renew_at = now.plus(self.config.lease / 3);
        let mine = self.core.run_ids();
        if mine.is_empty() {
            return Ok(());
        }
        let held = self.store.renew(&self.config.owner, now, self.config.lease).await?;
        for lost in mine.into_iter().filter(|run| !held.contains(run)) {
            tracing::warn!(run = %lost, "another server holds this run now");
            self.core.forget(&lost);
            self.core.start_queued_runs(now);
        }
        // A run that could not be loaded, or given back when it had ended, would stay leased and unattended.
        let strays: Vec<RunId> = held.into_iter().filter(|run| !self.core.has(run)).collect();
        self.store.release(&self.config.owner, &strays).await
    }

    async fn take_run(&mut self, run: &RunId, now: Timestamp) {
        match self.store.load(run).await {
            Ok(Some(loaded)) => self.core.load(loaded, now),
            Ok(None) => {}
            Err(error @ StoreError::Unreadable { .. }) => self.give_up(run, &error, now).await,
            Err(error) => tracing::error!(%run, %error, "a run cannot be loaded"),
        }
    }

    /// Ends a run whose stored plan or state this program cannot read: it would otherwise wait for ever.
    async fn give_up(&self, run: &RunId, error: &StoreError, now: Timestamp) {
        tracing::error!(%run, %error, "a run cannot be read, and is given up");
        let record = match self.store.run(run).await {
            Ok(Some(record)) if !record.state.is_final() => record,
            _ => return,
        };
        let failed = RunRecord {
            state: RunState::Failed,
            ended_at: Some(now),
            message: Some(error.to_string()),
            ..record
        };
        let changes = Changes { runs: vec![failed], ..Changes::default() };
        if let Err(error) = self.store.commit(&self.lease, &changes).await {
            tracing::error!(%run, %error, "its end could not be stored");
        }
    }

    /// One pass over what was reported. Breaks when the engine was told to stop before it could store what happened:
    /// the next server finds that out again.
    async fn pass(
        &mut self,
        messages: &mut Vec<Message>,
        stop: &mut watch::Receiver<bool>,
    ) -> ControlFlow<()> {
        let now = self.clock.now();
        let mut asked = Vec::new();
        for message in messages.drain(..) {
            match message {
                Message::Observed(observation) => {
                    self.tell_watchers(&observation);
                    self.core.observe(observation, now);
                }
                Message::Answered(answer) => self.core.answer(*answer, now),
                Message::Prepared(run, result) => self.core.prepared(&run, result, now),
                Message::Look | Message::Admit => {}
                Message::Desk(cluster, reply) => asked.push((cluster, reply)),
            }
        }
        self.core.tick(now);
        if self.core.admit(now) {
            let _ = self.sender.send(Message::Admit);
        }
        for (cluster, reply) in asked {
            let _ = reply.send(self.desks.of(&self.core, &cluster));
        }
        if !self.is_time_to_store() {
            return ControlFlow::Continue(());
        }
        let (changes, mut actions) = self.core.take_output();
        if !changes.is_empty() {
            match self.commit(changes, &mut actions, stop).await {
                Some(stored) => self.publish(stored),
                None => return ControlFlow::Break(()),
            }
        }
        self.wished.clear();
        for action in actions {
            self.apply(action);
        }
        ControlFlow::Continue(())
    }

    /// Whether what has changed is to be stored in this pass. What can wait sets the moment until which it does.
    fn is_time_to_store(&mut self) -> bool {
        let now = Instant::now();
        let due = match self.core.demand() {
            Demand::Nothing => return false,
            Demand::Now => true,
            Demand::Soon => *self.store_by.get_or_insert(now + LATER) <= now,
        };
        if due {
            self.store_by = None;
        }
        due
    }

    /// Stores the changes, however long it takes: what is in memory is not true before it is stored. A run that
    /// another replica has taken over is forgotten. `None` when the engine is told to stop before it succeeds.
    async fn commit(
        &mut self,
        mut changes: Changes,
        actions: &mut Vec<Action>,
        stop: &mut watch::Receiver<bool>,
    ) -> Option<Changes> {
        let mut failures = 0u32;
        loop {
            failpoint::hit("engine.commit.before");
            match self.store.commit(&self.lease, &changes).await {
                Ok(()) => {
                    failpoint::hit("engine.commit.after");
                    return Some(changes);
                }
                Err(StoreError::LeaseLost(run)) => {
                    tracing::warn!(%run, "another server holds this run now");
                    self.core.forget(&run);
                    self.core.start_queued_runs(self.clock.now());
                    without(&mut changes, &run);
                    changes
                        .wishes
                        .retain(|id| !self.wished.iter().any(|(of, wish)| *of == run && wish == id));
                    withhold(actions, &run);
                }
                Err(error) => {
                    if failures.is_multiple_of(FAILURES_A_LINE) {
                        tracing::error!(%error, "the database did not take what happened; it is kept and tried again");
                    }
                    failures += 1;
                    tokio::select! {
                        () = sleep(COMMIT_AGAIN) => {}
                        _ = stop.wait_for(|stop| *stop) => return None,
                    }
                }
            }
        }
    }

    fn publish(&self, changes: Changes) {
        if self.events.receiver_count() == 0 {
            return;
        }
        for attempt in changes.attempts {
            let _ = self.events.send(RunEvent::Attempt(Box::new(attempt)));
        }
        for instance in changes.instances {
            let _ = self.events.send(RunEvent::Instance(Box::new(instance)));
        }
        for run in changes.runs {
            let _ = self.events.send(RunEvent::Run(Box::new(run)));
        }
    }

    fn tell_watchers(&self, observation: &Observation) {
        let event = match &observation.event {
            Event::Preparing(what) => RunEvent::Preparing(observation.key.clone(), what.clone()),
            Event::Progress(progress) => RunEvent::Progress(observation.key.clone(), *progress),
            Event::Started { .. } | Event::Measured(_) | Event::Ended(_) | Event::NotFound => return,
        };
        let _ = self.events.send(event);
    }

    /// Performs one action. What it brings is reported, and taken by a later pass.
    fn apply(&self, action: Action) {
        let grace = self.config.sharing.grace;
        match action {
            Action::Submit(executor, submission) => {
                failpoint::hit("engine.submit.before");
                tokio::spawn(async move { executor.submit(submission).await });
            }
            Action::Adopt(executor, submission, stop) => {
                tokio::spawn(async move {
                    let key = submission.job.key.clone();
                    executor.adopt(submission).await;
                    if let Some(cause) = stop {
                        executor.cancel(&key, cause, grace).await;
                    }
                });
            }
            Action::Cancel(executor, key, cause) => {
                failpoint::hit("engine.cancel.before");
                tokio::spawn(async move { executor.cancel(&key, cause, grace).await });
            }
            Action::Release(executor, key) => executor.release(&key),
            Action::LookUp(look_up) => {
                let (store, sender, now) = (self.store.clone(), self.sender.clone(), self.clock.now());
                let roots =
                    Roots { code: self.config.code.clone(), workspace: self.config.workspace.clone() };
                tokio::spawn(async move {
                    let answer = cache::answer(&store, &roots, look_up, now).await;
                    let _ = sender.send(Message::Answered(Box::new(answer)));
                });
            }
            Action::Prepare(preparation) => {
                let (sender, workspace) = (self.sender.clone(), self.config.workspace.clone());
                tokio::spawn(async move {
                    let run = preparation.run.clone();
                    let result = prepare::fill(&workspace, preparation).await;
                    let _ = sender.send(Message::Prepared(run, result));
                });
            }
            Action::Finished(run) => {
                let (store, owner) = (self.store.clone(), self.config.owner.clone());
                tokio::spawn(async move { store.release(&owner, &[run]).await });
            }
        }
    }
}

/// Waits until a moment, for ever when there is none.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Drops what was to be done about a run after its changes were stored, which they were not.
fn withhold(actions: &mut Vec<Action>, run: &RunId) {
    actions.retain(|action| match action {
        Action::Submit(executor, submission) if submission.job.key.run == *run => {
            executor.release(&submission.job.key);
            false
        }
        Action::Adopt(_, submission, _) => submission.job.key.run != *run,
        Action::Cancel(_, key, _) => key.run != *run,
        Action::Submit(..)
        | Action::Release(..)
        | Action::LookUp(_)
        | Action::Prepare(_)
        | Action::Finished(_) => true,
    });
}

/// Drops what belongs to a run.
fn without(changes: &mut Changes, run: &RunId) {
    changes.runs.retain(|record| record.id != *run);
    changes.expansions.retain(|record| record.run != *run);
    changes.unexpanded.retain(|(id, _)| id != run);
    changes.instances.retain(|record| record.run != *run);
    changes.attempts.retain(|record| record.key.run != *run);
    changes.cache.retain(|entry| entry.run != *run);
}
