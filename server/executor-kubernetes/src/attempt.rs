//! One attempt on a Kubernetes cluster: submits or adopts it, reacts to every change, stops it on request and
//! concludes it.

mod ending;
mod growing;
mod reading;
mod scaling;
mod worked;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::executor::{Ended, Event};
use cubeloom_domain::job::{DEFAULT_GRACE, Job};
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_workers::mask;
use cubeloom_workers::tails::Tails;
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval};

use crate::board::{JobName, Seen};
use crate::cluster::{Cluster, Slot, Stop, Wish};
use crate::judge;
use crate::objects::{Named, Names};
use crate::present::Present;
use crate::roots::{self, Cause};
use crate::rules;
use crate::submit::{Parcel, Submitted, Submitting};
use crate::watch::watch_namespace;
use crate::{claim, elastic, lost, stop, suspend};
use ending::removed;

/// How often to read the progress of programs, and to check how long an obstacle has lasted.
const LOOK: Duration = Duration::from_secs(2);
/// How long an operator may take to notice that the deciding worker has failed. KubeRay never notices when
/// the head is gone before KubeRay could query it.
const LAG: Duration = Duration::from_secs(30);

/// A job, and the strings to mask in its workers' output.
#[derive(Clone)]
pub struct Known {
    /// The job, with the maximum number of workers.
    pub job: Arc<Job>,
    /// Every encoding of its secrets' values.
    pub masks: Arc<Vec<String>>,
}

/// How an attempt begins on this server.
pub enum Begin {
    /// Submit it, unless the cluster already has it.
    Submit(Parcel),
    /// An earlier server has submitted it.
    Adopt,
}

pub struct Attempt {
    pub cluster: Arc<Cluster>,
    pub known: Known,
    pub names: Arc<Names>,
    pub workers: u32,
    /// Whether its pod tests that this server sees the files of its claim.
    pub probes: bool,
    /// Commands from the engine.
    pub wishes: UnboundedReceiver<Wish>,
}

/// Mutable state of a running attempt.
struct Going {
    wake: Arc<Notify>,
    name: JobName,
    /// The first stop command; later ones are ignored.
    stop: Option<Stop>,
    started: Option<Timestamp>,
    note: Option<String>,
    suspended: bool,
    obstacle_since: Option<Instant>,
    failed_since: Option<Instant>,
    followed: HashSet<String>,
    scaling: scaling::Scaling,
    growing: growing::Growing,
    /// Pods that Volcano must not preempt.
    kept: elastic::Marked,
    followers: JoinSet<()>,
    /// Bytes of logs read so far.
    read: Arc<AtomicU64>,
    tails: Tails,
    present: Present,
}

impl Going {
    /// Applies a command. The first stop command wins, the last size, and the largest memory.
    fn take(&mut self, wish: Wish) {
        match wish {
            Wish::Stop(stop) => _ = self.stop.get_or_insert(stop),
            Wish::Scale(scale) => self.scaling.want(scale),
            Wish::Grow(job) => self.growing.want(&job),
        }
    }
}

enum Next {
    Wait,
    Verdict(Result<(), Cause>),
    /// The cluster cannot run it, or can no longer run it.
    GiveUp(Failure),
}

impl Attempt {
    /// Runs the attempt to its end, and reports the end.
    pub async fn run(mut self, begin: Begin) {
        let name = (self.names.namespace.clone(), self.known.job.key.object_name());
        let wake = Arc::new(Notify::new());
        self.cluster.board.listen(&name, Arc::clone(&wake));
        let facts = self.cluster.facts().kubernetes.unwrap_or_else(|| self.cluster.config.facts.clone());
        let mut going = Going {
            wake,
            name,
            stop: None,
            started: None,
            note: None,
            suspended: false,
            obstacle_since: None,
            failed_since: None,
            followed: HashSet::new(),
            scaling: scaling::Scaling::new(&self.known.job, &self.names, self.workers, &facts),
            growing: growing::Growing::default(),
            kept: elastic::Marked::default(),
            followers: JoinSet::new(),
            read: Arc::default(),
            tails: Tails::new(self.known.job.watches.clone()),
            present: Present::default(),
        };
        if let Some(ended) = self.see_through(&mut going, begin).await {
            self.mark_logs();
            let event = Event::Ended(Box::new(ended.clone()));
            let key = self.known.job.key.clone();
            self.cluster.attempts().insert(key.clone(), Slot::Ended(Box::new(ended)));
            self.cluster.report(&key, event);
        }
        self.cluster.board.forget(&going.name);
    }

    /// Returns `None` when the cluster does not know the attempt.
    async fn see_through(&mut self, going: &mut Going, begin: Begin) -> Option<Ended> {
        let kinds: Vec<_> = self.names.roots.iter().map(Named::resource).collect();
        let feeds = watch_namespace(&self.cluster, &going.name.0, &kinds);
        let new = matches!(begin, Begin::Submit(_));
        // Boxed: the future is large, and thousands of attempts past this point wait for their ends.
        if let Begin::Submit(parcel) = begin
            && let Some(ended) = Box::pin(self.submit(going, parcel)).await
        {
            return Some(ended);
        }
        for mut feed in feeds {
            // An object that no watch has listed yet may still exist.
            let _ = feed.wait_for(|synced| *synced).await;
        }
        let seen = self.cluster.look(&going.name);
        if !new && seen.live_roots().next().is_none() && seen.live_pods().next().is_none() {
            while let Ok(wish) = self.wishes.try_recv() {
                going.take(wish);
            }
            if let Some(stop) = going.stop {
                return Some(self.never_ran(stop::outcome(stop.cause)));
            }
            let key = &self.known.job.key;
            self.cluster.attempts().remove(key);
            self.cluster.report(key, Event::NotFound);
            return None;
        }
        // An earlier server was stopping it: the cause is on the object.
        going.stop = going.stop.or_else(|| seen.live_roots().find_map(stop::written));
        if !new {
            going.scaling.adopt();
            // An earlier server may have decided on more memory than it gave.
            if self.known.job.grows {
                going.growing.want(&self.known.job);
            }
        }
        Some(self.watch(going).await)
    }

    /// Submits the attempt. Returns its end when submission fails.
    async fn submit(&mut self, going: &mut Going, parcel: Parcel) -> Option<Ended> {
        if let Err(message) = self.prepare().await {
            return Some(self.never_ran(Outcome::Failed(Failure::new(FailureKind::CouldNotStart, message))));
        }
        let stopped = AtomicBool::new(false);
        let submitting = Submitting {
            cluster: &self.cluster,
            namespace: &self.names.namespace,
            job: &self.known.job,
            name: &self.known.job.key.object_name(),
            parcel: &parcel,
            say: &|note| self.cluster.report(&self.known.job.key, Event::Preparing(note)),
            is_stopped: &|| stopped.load(Ordering::Relaxed),
        };
        let submitted = {
            let run = submitting.run();
            tokio::pin!(run);
            loop {
                tokio::select! {
                    submitted = &mut run => break submitted,
                    Some(wish) = self.wishes.recv() => {
                        going.take(wish);
                        stopped.store(going.stop.is_some(), Ordering::Relaxed);
                    }
                }
            }
        };
        match submitted {
            Submitted::Done | Submitted::Stopped => None,
            Submitted::Refused(message) => {
                stop::remove(&self.cluster, &self.names, DEFAULT_GRACE).await;
                Some(self.never_ran(Outcome::Failed(Failure::new(FailureKind::CouldNotStart, message))))
            }
        }
    }

    /// Creates the files and folders that pods expect in the workspace.
    async fn prepare(&self) -> Result<(), String> {
        let (cluster, job) = (Arc::clone(&self.cluster), Arc::clone(&self.known.job));
        let (names, probes) = (Arc::clone(&self.names), self.probes);
        let made = self.cluster.on_disk(move || {
            let folders = &cluster.folders;
            folders
                .write_record(&job, &names)
                .map_err(|error| format!("the server's data folder cannot be written to: {error}"))?;
            folders
                .prepare(&job, cluster.config.uid(&job.project))
                .and_then(|()| {
                    if probes {
                        folders.probes(claim::own(&cluster, &job).as_deref()).map(drop)
                    } else {
                        Ok(())
                    }
                })
                .map_err(|error| format!("the project's workspace cannot be written to: {error}"))
        });
        made.await.unwrap_or_else(|error| Err(error.to_string()))
    }

    /// Evaluates the state after every change, until the attempt has ended.
    async fn watch(&mut self, going: &mut Going) -> Ended {
        let mut look = interval(LOOK);
        loop {
            match self.take_in(going) {
                Next::Verdict(verdict) => return Box::pin(self.conclude(going, verdict)).await,
                Next::GiveUp(failure) => return Box::pin(self.give_up(going, failure)).await,
                Next::Wait if let Some(stop) = going.stop => return Box::pin(self.stop(going, stop)).await,
                Next::Wait => {
                    Box::pin(self.scale(going)).await;
                    Box::pin(self.give_memory(going)).await;
                }
            }
            tokio::select! {
                () = going.wake.notified() => {}
                Some(wish) = self.wishes.recv() => going.take(wish),
                _ = look.tick() => {
                    self.tell_progress(going);
                    self.tell_full(going);
                }
            }
        }
    }

    /// Drops the snapshot before the next wait: thousands of attempts may wait.
    fn take_in(&self, going: &mut Going) -> Next {
        let seen = self.cluster.look(&going.name);
        self.follow_logs(going, &seen);
        elastic::keep_first(&self.cluster, &going.name.0, &self.known.job, &seen, &going.kept);
        let seen = going.scaling.kept(seen);
        let next = self.look(going, &seen);
        self.tell_running(going, &seen);
        next
    }

    fn look(&self, going: &mut Going, seen: &Seen) -> Next {
        let job = &self.known.job;
        if going.started.is_none()
            && let Some(at) = judge::started(seen, job.gang)
        {
            going.started = Some(at);
            self.cluster.report(&job.key, Event::Started { at });
        }
        // Check this first: an indexed Job with a failed worker becomes failed once all workers have ended,
        // even if the job can spare that worker.
        let is_lent = elastic::is_lent(&self.cluster, job);
        if judge::first_is_done(seen, &job.success, going.scaling.spare(job, is_lent.then_some(seen))) {
            return Next::Verdict(Ok(()));
        }
        let count = self.names.roots.len();
        let without_first = judge::first_has_failed(seen, &job.success);
        if let Some(verdict) = roots::verdict(seen.known_roots(), count, &job.success) {
            if verdict.is_ok() && without_first {
                return Next::GiveUp(self.failure(seen));
            }
            if verdict.as_ref().is_err_and(|cause| judge::enough_are_done(seen, &job.success, cause)) {
                return Next::Verdict(Ok(()));
            }
            return Next::Verdict(verdict);
        }
        if job.elastic.is_none() && judge::all_are_done(seen, job.workers()) {
            return Next::Verdict(Ok(()));
        }
        if self.is_suspended(going, seen) {
            // A server that was to recreate its pod may have ended between two steps.
            let is_gone = seen.live_roots().next().is_none();
            let since = is_gone.then(|| going.failed_since.get_or_insert_with(Instant::now).elapsed());
            return if since.is_some_and(|since| since >= LAG) {
                Next::GiveUp(removed())
            } else {
                Next::Wait
            };
        }
        if (judge::decider_has_failed(seen, &job.success) || (without_first && job.elastic.is_some()))
            && going.failed_since.get_or_insert_with(Instant::now).elapsed() >= LAG
        {
            return Next::GiveUp(self.failure(seen));
        }
        let workers = (!is_lent).then(|| going.scaling.workers());
        if lost::is_torn(seen, workers, job.gang) {
            return Next::GiveUp(self.failure(seen));
        }
        if seen.roots.values().any(|root| root.gone || (root.view.deleted && going.stop.is_none())) {
            return Next::GiveUp(removed());
        }
        if let Some(failure) = self.cannot_start(going, seen) {
            return Next::GiveUp(failure);
        }
        let note = if going.started.is_none() { judge::note(seen) } else { None };
        if note.is_some() && going.note != note {
            self.cluster.report(&job.key, Event::Preparing(note.clone().unwrap_or_default()));
        }
        going.note = note;
        Next::Wait
    }

    /// Why it will never start, when that is certain or an obstacle has outlasted the pending timeout.
    fn cannot_start(&self, going: &mut Going, seen: &Seen) -> Option<Failure> {
        let failure = |message| Failure::new(FailureKind::CouldNotStart, message);
        if going.started.is_none()
            && let Some(why) = rules::forbidden(seen)
        {
            return Some(failure(format!("the rules of its namespace forbid its pods: {why}")));
        }
        let Some((worker, obstacle)) = judge::obstacle(seen) else {
            going.obstacle_since = None;
            return None;
        };
        let since = *going.obstacle_since.get_or_insert_with(Instant::now);
        let is_over = !obstacle.may_pass || since.elapsed() >= self.cluster.config.patience;
        is_over.then(|| {
            let message = format!("{worker} could not start: {}", obstacle.message);
            Failure { worker: Some(worker), ..failure(message) }
        })
    }

    /// Whether a user has suspended the job. Its pods are then gone, which says nothing about its program.
    fn is_suspended(&self, going: &mut Going, seen: &Seen) -> bool {
        let suspended = suspend::of_job(seen) == Some(true);
        if suspended != going.suspended {
            going.suspended = suspended;
            let note = if suspended { "suspended: its workers are removed until it is resumed" } else { "" };
            self.cluster.report(&self.known.job.key, Event::Preparing(note.into()));
            going.tails.suspend(suspended, self.cluster.clock.now());
            // Report at once: otherwise the engine would restart a suspended job as hung.
            self.tell_progress(going);
        }
        if suspended {
            self.cluster.board.forget_gone(&going.name);
            going.obstacle_since = None;
            if seen.live_roots().next().is_some() {
                going.failed_since = None;
            }
        }
        suspended
    }
}

/// The strings to mask in the output of a job's workers.
#[must_use]
pub fn masks(secrets: &BTreeMap<String, String>) -> Arc<Vec<String>> {
    Arc::new(mask::forms(secrets.values()))
}
