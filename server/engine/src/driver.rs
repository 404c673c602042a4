//! The loop: observe, decide, commit, apply. Owns everything that blocks.
//!
//! Nothing between a worker's exit and the next worker's start waits for a timer: executors report into a
//! channel, and a report starts a cycle. The period is only for lost wake-ups and for renewing leases.

mod start;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_admission::Settings;
use cubeloom_domain::accounting::By;
use cubeloom_domain::clusters::{Clusters, RUNS};
use cubeloom_domain::event::RunEvent;
use cubeloom_domain::executor::{Event, Executor, Observation};
use cubeloom_domain::failpoint;
use cubeloom_domain::measure::PassPart;
use cubeloom_domain::nodes::{NodeAside, NodeRule};
use cubeloom_domain::record::{Changes, RunRecord};
use cubeloom_domain::state::RunState;
use cubeloom_domain::{Clock, RunId, Timestamp};
use cubeloom_store::{Lease, Store, StoreError, UsageFilter};
use thiserror::Error;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};
use tracing::Instrument;

use crate::apply::{withhold, without};
use crate::copies::Copies;
use crate::core::{Action, Core, Demand};
use crate::counted::Counted;
use crate::elsewhere::Elsewhere;
use crate::message::{Message, Reports};
use crate::told;

/// Maximum number of reports in one cycle; more would delay the effects of the first ones.
const REPORTS_A_PASS: usize = 4096;
/// Maximum number of runs loaded into memory in one look.
const RUNS_A_LOOK: usize = 1000;
/// How long a change that is not urgent waits for one that is.
const LATER: Duration = Duration::from_millis(50);
/// Delay before a failed commit is retried.
const COMMIT_AGAIN: Duration = Duration::from_millis(200);
/// For this many leases after the start, statements that an earlier server of the same name had sent may
/// still be executed by the database.
const LAST_WORDS: u32 = 2;
/// One in this many consecutive failed commits is logged: one in ten seconds.
const FAILURES_A_LINE: u32 = 50;

#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// The owner of the leases: the same after a restart, so that it need not wait for them to expire. At
    /// most one process may use a name at a time.
    pub owner: String,
    /// How long a lease lasts without renewal.
    pub lease: Duration,
    /// Interval of looking for runs and commands whose wake-up was lost.
    pub period: Duration,
    /// When nodes are cordoned.
    pub nodes: NodeRule,
    /// Admission settings. `grace` is the time between TERM and KILL of every stop.
    pub sharing: Settings,
    /// Copies of pipelines' folders, one per digest.
    pub code: std::path::PathBuf,
    /// The projects' shared storage, one folder per project.
    pub workspace: std::path::PathBuf,
}

/// Why the engine stopped.
#[derive(Debug, Error)]
pub enum EngineError {
    /// A store operation failed that is required at start.
    #[error("the engine could not start")]
    Start(#[source] StoreError),
}

pub struct Engine {
    pub(crate) config: EngineConfig,
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) clusters: Clusters,
    /// Starts the runs of other pipelines that tasks trigger.
    runs: Option<Arc<dyn Executor>>,
    core: Core,
    lease: Lease,
    renew_at: Timestamp,
    began: Instant,
    /// Whether runs may be leased in this server's name that it has not loaded, because a look was
    /// interrupted.
    has_strays: bool,
    /// The commands of this cycle. They are not marked as done for a run that turns out to be another
    /// server's.
    wished: Vec<(RunId, i64)>,
    /// Until when changes that are not urgent wait for others.
    store_by: Option<Instant>,
    elsewhere: Elsewhere,
    desks: Copies,
    counted: Counted,
    /// When the last cycle ended.
    passed: watch::Sender<Instant>,
    pub(crate) sender: mpsc::UnboundedSender<Message>,
    events: broadcast::Sender<RunEvent>,
}

impl Engine {
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
            self.elsewhere.tell(&self.store).await;
            look = false;
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => break,
                _ = receiver.recv_many(&mut messages, REPORTS_A_PASS) => {
                    // If reports never cease, none of the branches below runs.
                    look = messages.iter().any(|message| matches!(message, Message::Look))
                        || wakes.has_changed().unwrap_or(false)
                        || next_look <= Instant::now();
                }
                _ = wakes.changed() => look = true,
                () = self.next_timer() => {}
                () = at(self.store_by) => {}
                () = at(self.elsewhere.tell_by) => {}
                () = sleep_until(next_look) => look = true,
            }
        }
        if let Err(error) = self.store.release_all(&self.config.owner).await {
            tracing::warn!(%error, "leases could not be released; they will expire");
        }
    }

    async fn next_timer(&self) {
        match self.core.next_timer() {
            Some(at) => sleep(at.since(self.clock.now())).await,
            None => std::future::pending().await,
        }
    }

    /// Updates the clusters. The runs in memory of a new cluster are loaded again, which restores their jobs.
    async fn join_clusters(&mut self) {
        let sender = self.sender.clone();
        let attach = |executor: &Arc<dyn Executor>| executor.attach(Arc::new(Reports(sender.clone())));
        let mut clusters = self.clusters.all();
        clusters.extend(self.runs.clone().map(|runs| (RUNS.to_owned(), runs)));
        let now = self.clock.now();
        let runs = self.core.join(clusters, attach, now);
        for run in runs {
            self.core.forget(&run);
            self.take_run(&run, now).await;
        }
    }

    /// Updates the clusters' facts, and reads the store: leases, unowned runs, commands.
    async fn look(&mut self) {
        let began = Instant::now();
        self.join_clusters().await;
        if let Err(error) = self.try_look().await {
            tracing::warn!(%error, "the database did not respond; retrying soon");
        }
        told::part(PassPart::Look, began);
    }

    async fn try_look(&mut self) -> Result<(), StoreError> {
        let now = self.clock.now();
        let owner = self.config.owner.clone();
        if now >= self.renew_at {
            self.renew(now).await?;
        }
        if self.has_strays || self.began.elapsed() < self.config.lease * LAST_WORDS {
            self.release_strays(self.store.led_by(&owner).await?).await?;
        }
        // Until all are loaded: a read before that may fail.
        self.has_strays = true;
        let mut acquired = self.store.acquire(&owner, now, self.config.lease, RUNS_A_LOOK).await?;
        // Read after the runs are acquired, so that what was set before a run was requested applies to it.
        self.core.set_queues(self.store.queues().await?);
        self.core.set_limits(self.store.limits().await?);
        if let Some(period) = self.core.wants_past(now) {
            let usage = UsageFilter { period, projects: None };
            let by = [By::Day, By::Project, By::NodeGroup];
            self.core.set_past(&self.store.usage(&usage, &by, now).await?, now);
        }
        let aside = self.judge_nodes(now).await?;
        self.core.set_aside(aside);
        self.core.set_norms(self.store.preflight_norms().await?);
        // The oldest first, also in the queue.
        acquired.sort();
        self.has_strays = false;
        for run in &acquired {
            self.take_run(run, now).await;
        }
        if self.core.has_queued_runs() {
            self.core.set_runs_elsewhere(self.store.runs_elsewhere(&owner).await?, now);
        }
        // Read the pending jobs first: a job that starts meanwhile is counted twice for a moment, but never
        // missed.
        let waiting = self.elsewhere.read(&self.store, &owner, now).await?;
        self.core.set_held_elsewhere(&self.elsewhere.read_held(&self.store, &owner).await?, now);
        self.core.set_waiting_elsewhere(&waiting, now);
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

    /// Cordons nodes through which attempts have failed recently. Returns all cordoned nodes.
    async fn judge_nodes(&self, now: Timestamp) -> Result<Vec<NodeAside>, StoreError> {
        let rule = &self.config.nodes;
        let failures = self.store.node_failures(now.minus(rule.within)).await?;
        let mut aside = self.store.nodes_aside().await?;
        for one in rule.judge(&failures, &aside, &self.core.node_counts(), now) {
            tracing::warn!(
                cluster = one.of.cluster,
                node = one.of.node,
                why = one.why.sentence(),
                "a node is cordoned"
            );
            self.store.set_node_aside(&one, None).await?;
            aside.push(one);
        }
        Ok(aside)
    }

    /// Renews the leases, well before they expire.
    async fn renew(&mut self, now: Timestamp) -> Result<(), StoreError> {
        self.renew_at = now.plus(self.config.lease / 3);
        let mine = self.core.run_ids();
        if mine.is_empty() {
            return Ok(());
        }
        let held = self.store.renew(&self.config.owner, now, self.config.lease).await?;
        for lost in mine.into_iter().filter(|run| !held.contains(run)) {
            tracing::warn!(run = %lost, "another server leads this run now");
            self.core.forget(&lost);
            self.core.start_queued_runs(now);
        }
        self.release_strays(held).await
    }

    /// Releases runs that are leased in this server's name but that it does not lead. Such a run could not be
    /// loaded, or not be released at its end, or the previous server acquired it with its last statement. It
    /// would stay leased and unattended.
    async fn release_strays(&self, led: Vec<RunId>) -> Result<(), StoreError> {
        let strays: Vec<RunId> = led.into_iter().filter(|run| !self.core.has(run)).collect();
        if strays.is_empty() { Ok(()) } else { self.store.release(&self.config.owner, &strays).await }
    }

    async fn take_run(&mut self, run: &RunId, now: Timestamp) {
        match self.store.load(run).await {
            Ok(Some(loaded)) => self.core.load(loaded, now),
            Ok(None) => {}
            Err(error @ StoreError::Unreadable { .. }) => self.give_up(run, &error, now).await,
            Err(error) => {
                tracing::error!(%run, %error, "a run cannot be loaded");
                self.has_strays = true;
            }
        }
    }

    /// Fails a run whose stored plan or state this program cannot read. It would otherwise be pending
    /// forever.
    async fn give_up(&self, run: &RunId, error: &StoreError, now: Timestamp) {
        tracing::error!(%run, %error, "a run cannot be read, and is marked as failed");
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
            tracing::error!(%run, %error, "the run's end could not be stored");
        }
    }

    /// Runs one cycle, with its metrics.
    async fn pass(
        &mut self,
        messages: &mut Vec<Message>,
        stop: &mut watch::Receiver<bool>,
    ) -> ControlFlow<()> {
        let span = tracing::debug_span!("pass", reports = messages.len());
        let flow = self.take(messages, stop).instrument(span).await;
        self.passed.send_replace(Instant::now());
        flow
    }

    /// Runs one cycle over the reports. Breaks when the engine was asked to stop before it could store the
    /// changes: the next server observes them again.
    async fn take(
        &mut self,
        messages: &mut Vec<Message>,
        stop: &mut watch::Receiver<bool>,
    ) -> ControlFlow<()> {
        let (now, began) = (self.clock.now(), Instant::now());
        let (mut asked, mut counting) = (Vec::new(), Vec::new());
        for message in messages.drain(..) {
            match message {
                Message::Observed(observation) => {
                    self.tell_watchers(&observation);
                    self.core.observe(observation, now);
                }
                Message::Answered(answer) => self.core.answer(*answer, now),
                Message::LookedAt(key, stacks) => self.core.looked_at(&key, stacks, now),
                Message::CardsSeen(key, workers) => self.core.cards_seen(&key, workers.as_deref(), now),
                Message::Prepared(run, result) => self.core.prepared(&run, result, now),
                Message::Look | Message::Admit => {}
                Message::Desk(cluster, reply) => asked.push((cluster, reply)),
                Message::Tally(reply) => counting.push(reply),
            }
        }
        self.core.tick(now);
        if self.core.admit(now) {
            let _ = self.sender.send(Message::Admit);
        }
        told::part(PassPart::Decide, began);
        for (cluster, reply) in asked {
            let _ = reply.send(self.desks.of(&self.core, &cluster));
        }
        for reply in counting {
            let _ = reply.send(self.counted.of(Instant::now(), || self.core.tally()));
        }
        if !self.is_time_to_store() {
            return ControlFlow::Continue(());
        }
        let (changes, mut actions) = self.core.take_output();
        if !changes.is_empty() {
            let began = Instant::now();
            match self.commit(changes, &mut actions, stop).await {
                Some(stored) => {
                    told::part(PassPart::Commit, began);
                    told::ends(&stored);
                    self.elsewhere.note(&stored, self.core.waits_elsewhere());
                    self.publish(stored);
                }
                None => return ControlFlow::Break(()),
            }
        }
        self.wished.clear();
        let began = Instant::now();
        for action in actions {
            self.apply(action);
        }
        told::part(PassPart::Apply, began);
        ControlFlow::Continue(())
    }

    /// Whether the changes are to be stored in this cycle. If they can wait, this sets until when.
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

    /// Stores the changes, retrying without limit: memory is not authoritative before it is stored. A run
    /// that another replica has taken over is dropped. `None` when the engine is asked to stop before it
    /// succeeds.
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
                Err(StoreError::LeaseLost(run)) => self.lost(&run, &mut changes, actions),
                Err(StoreError::TooManyActive(run)) => {
                    self.held_back(&run, &mut changes, actions).await;
                }
                Err(error) => {
                    if failures.is_multiple_of(FAILURES_A_LINE) {
                        tracing::error!(%error, "changes could not be stored in the database; retrying");
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

    /// Drops a run that another server leads, with all decisions about it.
    fn lost(&mut self, run: &RunId, changes: &mut Changes, actions: &mut Vec<Action>) {
        tracing::warn!(%run, "another server leads this run now");
        self.take_back(run, changes, actions);
        self.core.start_queued_runs(self.clock.now());
    }

    /// A run cannot start yet, because others of its pipeline are active on other servers: it is queued
    /// again.
    async fn held_back(&mut self, run: &RunId, changes: &mut Changes, actions: &mut Vec<Action>) {
        tracing::debug!(%run, "another server started a run of this pipeline first");
        self.take_back(run, changes, actions);
        self.take_run(run, self.clock.now()).await;
    }

    fn take_back(&mut self, run: &RunId, changes: &mut Changes, actions: &mut Vec<Action>) {
        self.core.forget(run);
        without(changes, run);
        changes.wishes.retain(|id| !self.wished.iter().any(|(of, wish)| of == run && wish == id));
        withhold(actions, run);
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
            Event::Started { .. }
            | Event::Paced(_)
            | Event::Tested(_)
            | Event::Measured(_)
            | Event::NearlyFull(_)
            | Event::NotGiven(_)
            | Event::Resized { .. }
            | Event::Running { .. }
            | Event::Ended(_)
            | Event::NotFound => return,
        };
        let _ = self.events.send(event);
    }
}

/// Waits until a moment, or forever for `None`.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
