//! One attempt from its submission to its end. Slurm determines when it is over; its workers' records
//! determine how it ended.

mod stop;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::executor::{Ended, Event, Progress};
use cubeloom_domain::lowered::LocalJob;
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_domain::slurm::files;
use cubeloom_domain::{AttemptKey, Timestamp};
use cubeloom_executor_local::StopWish;
use cubeloom_executor_local::afar::{self, Seen};
use cubeloom_workers::logs;
use cubeloom_workers::place::Place;
use cubeloom_workers::tails::{News, Tails};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, MissedTickBehavior};

use crate::cluster::{Cluster, Slot, UNSEEN};
use crate::commands::Trouble;
use crate::folders::Record;
use crate::judge;
use crate::logs::blocking;
use crate::orders::What;
use crate::seen::{Fate, SeenJob, State, Who};
use crate::submit::{Parcel, Submitted};

/// How long to search for a job that neither the job list nor accounting has, over answered polls: both may
/// lag.
const MISSING: Duration = Duration::from_secs(70);
/// The same if accounting still reports it as running, and a stop was requested.
const LATE: Duration = Duration::from_secs(60);
/// Maximum time between two answered polls that counts: a longer gap means that the cluster was unreachable.
const BETWEEN: Duration = Duration::from_secs(5);
/// How long workers' records may take to appear on this machine after Slurm reports the end: shared file
/// systems lag.
const SEEN: Duration = Duration::from_secs(60);
/// The same if no record can appear, or none is needed: a node is lost, or a stop was requested.
const NOT_SEEN: Duration = Duration::from_secs(3);
/// How many of the script's last log lines to report.
const LAST_LINES: usize = 20;

/// How an attempt begins on this server.
pub enum Begin {
    /// Submit it; `Parcel::in_doubt` marks one that may be submitted already.
    Submit(Box<Parcel>),
    /// An earlier server may have submitted it.
    Adopt,
}

/// A running attempt.
pub struct Attempt {
    pub cluster: Arc<Cluster>,
    pub key: AttemptKey,
    pub record: Record,
    /// The lowered job.
    pub job: Arc<LocalJob>,
    /// Stop requests from the engine.
    pub wishes: UnboundedReceiver<StopWish>,
    /// Its jobs, as last listed.
    pub jobs: Vec<SeenJob>,
    /// Number of polls begun at its submission: their results are outdated for it.
    pub since: u64,
    /// The stop request.
    stop: Option<Stop>,
    started: Option<Timestamp>,
    /// When it was recorded, before any part of it was submitted.
    noted: Timestamp,
    tails: Tails,
    watches: Option<String>,
    progress: Option<Progress>,
    /// Set while its jobs are missing from the list.
    missing: Option<Missing>,
    /// When Slurm first reported it as over.
    over: Option<Instant>,
    /// Whether a stop was sent to workers on a node that Slurm has lost.
    is_left: bool,
    /// Whether the server itself had Slurm cancel it, because it was missing.
    is_given_up: bool,
}

/// State of jobs that are missing from the list.
struct Missing {
    /// The last answered poll without them, and its time.
    look: u64,
    at: Instant,
    /// Total time of such polls.
    lasted: Duration,
    /// Accounting's last answer about them.
    accounted: Option<Vec<SeenJob>>,
    /// Whether a cancel of these jobs, whatever their state, was sent to Slurm.
    is_ended: bool,
}

/// A stop in progress.
struct Stop {
    wish: StopWish,
    /// When the stop was sent to the workers.
    told: Option<Instant>,
    /// When the last cancel was sent to Slurm.
    cancelled: Option<Instant>,
}

impl Attempt {
    pub fn new(
        cluster: Arc<Cluster>,
        key: AttemptKey,
        record: Record,
        job: Arc<LocalJob>,
        watches: Option<String>,
        wishes: UnboundedReceiver<StopWish>,
    ) -> Self {
        Self {
            cluster,
            key,
            record,
            job,
            wishes,
            jobs: Vec::new(),
            since: 0,
            stop: None,
            started: None,
            noted: Timestamp::default(),
            tails: Tails::new(watches.clone()),
            watches,
            progress: None,
            missing: None,
            over: None,
            is_left: false,
            is_given_up: false,
        }
    }

    /// Runs the attempt to its end.
    pub async fn run(mut self, begin: Begin) {
        let who = Who { name: self.key.object_name(), uid: self.record.uid, ids: self.record.ids.clone() };
        self.cluster.board.follow(&self.key, who);
        let (cluster, key) = (Arc::clone(&self.cluster), self.key.clone());
        let noted = blocking(move || Ok((cluster.folders.stop(&key), cluster.folders.noted(&key)))).await;
        let (wish, at) = noted.unwrap_or_default();
        self.noted = at.unwrap_or_default();
        if let Some(wish) = wish {
            self.wanted(wish);
        }
        let ended = match begin {
            Begin::Submit(parcel) => match self.submit(*parcel).await {
                Submitted::Done => self.watch().await,
                Submitted::Stopped => self.conclude(Fate::Unknown).await,
                // The job may appear although its response was lost: watch it until it is known not to exist.
                Submitted::InDoubt => self.watch().await,
                Submitted::Refused(failure) => self.refused(failure).await,
            },
            Begin::Adopt => {
                // Its files show whether it has begun, even while Slurm is unreachable.
                if self.has_begun().await.unwrap_or(true) || self.is_there().await {
                    self.watch().await
                } else {
                    self.take_in();
                    if self.stop.is_none() {
                        self.cluster.attempts().remove(&self.key);
                        self.cluster.board.forget(&self.key);
                        return self.cluster.report(&self.key, Event::NotFound);
                    }
                    self.watch().await
                }
            }
        };
        self.cluster.ended(&self.key, ended);
    }

    /// Reads its folder on a blocking thread.
    async fn at_its_folder<T: Send + 'static>(
        &self,
        look: impl FnOnce(Place) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let record = self.record.clone();
        self.cluster.on_disk(move || look(record.place()?)).await
    }

    /// Whether its script has begun.
    ///
    /// # Errors
    /// This is unknown at present.
    pub async fn has_begun(&self) -> io::Result<bool> {
        self.at_its_folder(|folder| folder.join(files::SUBMITTED).found()).await
    }

    /// Whether a stop was requested.
    pub fn is_stopped(&mut self) -> bool {
        self.take_in();
        self.stop.is_some()
    }

    fn take_in(&mut self) {
        while let Ok(wish) = self.wishes.try_recv() {
            self.wanted(wish);
        }
    }

    /// Records a stop request: the first reason counts, and the shortest grace period.
    pub fn wanted(&mut self, wish: StopWish) {
        match &mut self.stop {
            Some(stop) if stop.wish.grace_ms <= wish.grace_ms => {}
            Some(stop) => {
                stop.wish.grace_ms = wish.grace_ms;
                stop.told = None;
            }
            None => self.stop = Some(Stop { wish, told: None, cancelled: None }),
        }
    }

    /// Waits for this long, or until a stop request arrives.
    pub async fn pause(&mut self, pause: Duration) {
        tokio::select! {
            Some(wish) = self.wishes.recv() => self.wanted(wish),
            () = tokio::time::sleep(pause) => {}
        }
    }

    /// Watches until nothing of it runs any more.
    async fn watch(&mut self) -> Ended {
        let mut ticks = tokio::time::interval(self.cluster.config.every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                Some(wish) = self.wishes.recv() => self.wanted(wish),
                _ = ticks.tick() => {}
            }
            // Unreadable records are no end, unless a stop was requested.
            let workers = self.look().await;
            let seen = workers.as_deref().unwrap_or_default();
            let all_said = !seen.is_empty() && seen.iter().all(|worker| worker.ended);
            if let Some(fate) = self.fate(all_said) {
                if fate == Fate::NodeFailed && !all_said {
                    self.leave().await;
                }
                // The nodes' last writes may appear here later than Slurm's report.
                let over = *self.over.get_or_insert_with(Instant::now);
                if fate == Fate::Unknown && over.elapsed() < SEEN && self.is_to_be_told().await {
                    continue;
                }
                let stopped = self.stop.is_some();
                let patience = if fate == Fate::NodeFailed || stopped { NOT_SEEN } else { SEEN };
                let is_time = over.elapsed() >= if workers.is_some() { patience } else { SEEN };
                let silent = stopped && matches!(self.has_begun().await, Ok(false));
                let can_conclude = workers.is_some() || stopped;
                if all_said || (can_conclude && is_time) || (silent && fate != Fate::Completed) {
                    return self.conclude(fate).await;
                }
            } else {
                self.over = None;
                self.make_sure().await;
                self.press().await;
            }
        }
    }

    /// Reads what its workers have written, and reports news; `None` if it is unreadable at present.
    async fn look(&mut self) -> Option<Vec<Seen>> {
        let (job, mut tails) = (Arc::clone(&self.job), std::mem::take(&mut self.tails));
        let (started, now) = (self.started, self.cluster.clock.now());
        let span = afar::Span::new(self.noted, now);
        let together = (job.gang as usize).clamp(1, job.workers.len().max(1));
        let looking = self.at_its_folder(move |folder| {
            let workers = match afar::look(&job, &folder, span) {
                Ok(workers) => workers,
                // Keep the read positions.
                Err(error) => return Ok((Err(error), None, None, News::default(), tails)),
            };
            for (rank, _) in workers.iter().enumerate().filter(|(_, worker)| worker.ended) {
                tails.ended(rank);
            }
            let mut began: Vec<Timestamp> = workers.iter().filter_map(|worker| worker.began).collect();
            began.sort_unstable();
            let all = began.get(together - 1).copied();
            let outputs = job.workers.iter().map(|worker| folder.other(&worker.outputs_file));
            let news = started
                .or(began.first().copied().filter(|_| all.is_some()))
                .map(|began| tails.read(outputs, began, now));
            Ok((Ok(workers), all, began.first().copied(), news.unwrap_or_default(), tails))
        });
        let looked = match looking.await {
            Ok((workers, all, first, news, tails)) => {
                self.tails = tails;
                if let (None, Some(at)) = (self.started, all) {
                    self.started = first;
                    self.cluster.report(&self.key, Event::Started { at });
                }
                self.tell(news);
                workers
            }
            Err(error) => {
                // The parent folder could not be opened: start over with the files.
                self.tails = Tails::new(self.watches.clone());
                Err(error)
            }
        };
        let why = looked.as_ref().err().map(|error| format!("its workers' records cannot be read: {error}"));
        self.cluster.waits_for(&self.key, why.map(|why| (UNSEEN, why)));
        looked.ok()
    }

    fn tell(&mut self, news: News) {
        for metric in news.measured {
            self.cluster.report(&self.key, Event::Measured(metric));
        }
        if let Some(progress) = news.progress.filter(|found| self.progress != Some(*found)) {
            self.progress = Some(progress);
            self.cluster.report(&self.key, Event::Progress(progress));
        }
        if let Some(tested) = news.tested {
            self.cluster.report(&self.key, Event::Tested(tested));
        }
        if let Some(pace) = news.pace {
            self.cluster.report(&self.key, Event::Paced(Box::new(pace)));
        }
    }

    /// How its jobs ended, once they have.
    fn fate(&mut self, all_said: bool) -> Option<Fate> {
        let (answered, jobs) = self.cluster.board.jobs(&self.key);
        if answered <= self.since {
            return None;
        }
        if !jobs.is_empty() {
            self.missing = None;
            self.jobs = jobs;
            return judge::fate(&self.jobs, all_said);
        }
        if all_said {
            return Some(Fate::Unknown);
        }
        let now = Instant::now();
        let missing = self.missing.get_or_insert(Missing {
            look: answered,
            at: now,
            lasted: Duration::ZERO,
            accounted: None,
            is_ended: false,
        });
        if answered != missing.look {
            missing.lasted += (now - missing.at).min(BETWEEN);
            (missing.look, missing.at) = (answered, now);
        }
        match self.cluster.board.answer(&self.key) {
            Some(jobs) => missing.accounted = Some(jobs),
            None => self.cluster.board.ask(&self.key),
        }
        let accounted = missing.accounted.as_ref()?;
        if accounted.is_empty() {
            // If it exists after all, a cancel was already sent.
            return missing.is_ended.then_some(Fate::Unknown);
        }
        self.jobs.clone_from(accounted);
        let wanted_no_more = self.stop.is_some() && missing.lasted >= LATE;
        judge::fate(&self.jobs, all_said).or(wanted_no_more.then_some(Fate::Unknown))
    }

    /// Whether its workers' records leave the cause open, and Slurm is about to report it. While Slurm ends a
    /// job's processes, it does not report why.
    async fn is_to_be_told(&self) -> bool {
        if self.stop.is_some() || self.jobs.iter().all(|job| job.state != State::Completing) {
            return false;
        }
        let (job, span) = (Arc::clone(&self.job), afar::Span::new(self.noted, self.cluster.clock.now()));
        let concluded = self.at_its_folder(move |folder| Ok(afar::conclude(&job, &folder, None, span)));
        concluded.await.is_ok_and(|ended| judge::is_open(&ended.outcome))
    }

    /// Assembles the result.
    async fn conclude(&mut self, fate: Fate) -> Ended {
        let job = Arc::clone(&self.job);
        let (wish, now) = (self.stop.as_ref().map(|stop| stop.wish), self.cluster.clock.now());
        let span = afar::Span::new(self.noted, now);
        let jobs = std::mem::take(&mut self.jobs);
        // The server itself cancelled the job after it stayed missing, not another user.
        let fate = if fate == Fate::Cancelled && self.is_given_up { Fate::Unknown } else { fate };
        let concluded = self.at_its_folder(move |folder| {
            let mut ended = afar::conclude(&job, &folder, wish, span);
            judge::explain(&mut ended, fate, &jobs, log(&folder));
            Ok(ended)
        });
        let ended = concluded.await.unwrap_or_else(|error| {
            // Reached only if a stop was requested.
            let failure = Failure::new(FailureKind::Lost, error.to_string());
            without_run(wish.map_or(Outcome::Failed(failure), |_| Outcome::Cancelled), now)
        });
        self.clean().await;
        ended
    }

    async fn refused(&mut self, failure: Failure) -> Ended {
        self.clean().await;
        without_run(Outcome::Failed(failure), self.cluster.clock.now())
    }

    /// Removes the secrets of a script that never began.
    async fn clean(&self) {
        if !self.at_its_folder(|folder| folder.join(files::SECRETS).found()).await.unwrap_or(false) {
            return;
        }
        let cleaned = self.cluster.orders.give(&self.record, What::Clean).await;
        if let Err(Trouble::Away(why) | Trouble::Refused(why)) = cleaned {
            let folder = self.record.folder.display();
            tracing::warn!(key = %self.key, %folder, why, "the secrets of a job that has ended cannot be removed");
        }
    }
}

/// The end of an attempt that never ran.
pub fn without_run(outcome: Outcome, now: Timestamp) -> Ended {
    Ended {
        outcome,
        started_at: None,
        ended_at: now,
        report: Default::default(),
        usage: Default::default(),
        roles: Vec::new(),
    }
}

/// The script's last log lines.
fn log(folder: &Place) -> Vec<String> {
    logs::tail(folder.join(files::LOG), LAST_LINES).unwrap_or_default()
}

/// Sends a stop request to a running attempt; returns whether there is one.
pub fn tell(cluster: &Cluster, key: &AttemptKey, wish: StopWish) -> bool {
    match cluster.attempts().get(key) {
        Some(Slot::Live(sender)) => {
            // An attempt that is just ending does not need it.
            let _ = sender.send(wish);
            true
        }
        Some(Slot::Ended(_)) => true,
        None => false,
    }
}

#[cfg(test)]
mod tests;
